// The product that a device is asked for again and again during a run: sizes, element type, and how its three matrices
// lie in memory, which is the same on the host and on the device.
#pragma once

#include <cstdint>

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

struct SubProduct {
    BlockLayout left, right, result;
    ProductPlan plan{};                   // of the product on the device
    const CancelToken* cancel = nullptr;  // may be null

    /// T, S and Q.
    std::int64_t block_bytes() const { return checked_add(checked_add(left.bytes(), right.bytes()), result.bytes()); }
};

}  // namespace heptad
