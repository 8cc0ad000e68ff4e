// What the pipelines need of a device: a place for the operands and the result of one product, ways there and back, and
// the product. GPUs and CPU cores implement it; tests put delays and failures in between.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <heptad/bits.hpp>

#include "base/complex_as_real.hpp"
#include "base/size.hpp"
#include "base/view.hpp"
#include "plan/model/plan.hpp"

namespace heptad {

/// Dense elements, or packed bits in rows of whole 64-byte lines. Every row (or column) begins on a 64-byte boundary.
struct BlockLayout {
    Type type = Type::f32;
    bool packed = false;  // bits in words
    bool by_rows = true;  // otherwise columns lie side by side; never so for packed bits
    std::int64_t rows = 0, cols = 0;
    bool conjugate = false;  // of complex operands

    std::int64_t lines() const { return by_rows ? rows : cols; }
    std::int64_t line_bytes() const {
        const std::int64_t length = by_rows ? cols : rows;
        const std::int64_t bytes =
            packed ? ceil_div(length, 8) : checked_mul(length, static_cast<std::int64_t>(element_bytes(type)));
        return round_up(bytes > 0 ? bytes : 1, 64);
    }
    std::int64_t bytes() const { return checked_mul(lines() > 0 ? lines() : 1, line_bytes()); }

    View view(void* data) const {
        const std::int64_t stride = line_bytes() / static_cast<std::int64_t>(element_bytes(type));
        return by_rows ? View(data, type, rows, cols, stride, 1) : View(data, type, rows, cols, 1, stride);
    }
    ConstView operand(void* data) const { return conjugated(view(data), conjugate); }
    BitView bits(void* data) const { return {static_cast<std::uint64_t*>(data), rows, cols, line_bytes() / 8, 0}; }
};

/// The product that a device is asked for again and again during a run, and how its three matrices lie in memory, which
/// is the same on the host and on the device.
struct SubProduct {
    BlockLayout left, right, result;
    ProductPlan plan{};                   // of the product on the device
    const CancelToken* cancel = nullptr;  // may be null
};

enum class Operand : std::uint8_t { left, right };

/// Rows of a block as they lie in a matrix of the host.
struct HostRows {
    std::byte* data = nullptr;
    std::int64_t count = 0;
    std::int64_t row_bytes = 0;    // that count
    std::int64_t pitch_bytes = 0;  // from row to row
};

/// Memory on a device for one T or one S, in the layout of the sub-product. All lanes of the device can fill it and
/// multiply from it.
class OperandPlace {
public:
    virtual ~OperandPlace() = default;
};

/// What one pipeline has on a device: the ways there and back, and memory for Q. Used by one thread at a time. Places
/// outlive the lanes that use them.
class Lane {
public:
    virtual ~Lane() = default;
    /// Brings T or S to the device. Returns when it is there, and `from` may be overwritten.
    virtual void upload(OperandPlace& to, const void* from) = 0;
    /// The same of what Q holds before the product.
    virtual void upload_result(const void* from) = 0;
    /// Q = alpha * T * S + beta * Q (packed bits: alpha is 1, and beta 0 or 1, which adds). Returns when it is done.
    /// Calls of the lanes of one device never overlap.
    virtual void solve(const OperandPlace& left, const OperandPlace& right, std::complex<double> alpha,
                       double beta) = 0;
    /// Returns when Q has arrived.
    virtual void download(void* to) = 0;
    /// The same from where T or S lies among other blocks, and to where Q belongs; layouts by rows only.
    virtual void upload_rows(OperandPlace& to, const HostRows& from) = 0;
    virtual void download_rows(const HostRows& to) = 0;
};

/// Memory of the host, given back by the function it came with.
using HostBuffer = std::unique_ptr<void, std::function<void(void*)>>;

class ComputeDevice {
public:
    virtual ~ComputeDevice() = default;
    /// Takes the memory of a lane. Throws Error(resource), naming the bytes, where it cannot be had.
    virtual std::unique_ptr<Lane> open_lane(const SubProduct& product) = 0;
    /// The same for T or S of that product.
    virtual std::unique_ptr<OperandPlace> open_place(const SubProduct& product, Operand operand) = 0;
    /// Memory that uploads and downloads are fast with, aligned to 64 bytes.
    virtual HostBuffer host_buffer(std::int64_t bytes) = 0;
};

using DeviceSet = std::vector<std::unique_ptr<ComputeDevice>>;

}  // namespace heptad
