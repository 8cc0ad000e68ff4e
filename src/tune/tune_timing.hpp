// What the measurements of a machine share: operands of any shape, and the time of calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "base/huge_pages.hpp"
#include "base/stored_type.hpp"
#include "base/timing.hpp"
#include "base/types.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "plan/model/machine.hpp"

namespace heptad {

struct TunedShape {
    std::int64_t m, k, n;
    double volume() const { return static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n); }
};

/// Memory for the operands of a shape of at most size x size, filled with values in (-1, 1) or, for integers, any bits.
class Operands {
public:
    Operands(Type type, std::int64_t size) : type_(type), size_(size) {
        const std::size_t bytes = static_cast<std::size_t>(size * size) * element_bytes(type);
        std::mt19937_64 random(1);
        for (auto& memory : memory_) {
            memory = huge_pages(bytes);
        }
        for (std::size_t i = 0; i < static_cast<std::size_t>(size * size); ++i) {
            for (std::size_t operand = 0; operand < 2; ++operand) {
                const double x = static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-63;
                put(memory_[operand].get(), i, x);
            }
        }
    }

    /// A, B and C at their full size, by number.
    View whole(std::size_t operand) const { return {memory_[operand].get(), type_, size_, size_, size_, 1}; }

    Product product(const TunedShape& s) const { return product_at(0, s); }
    /// `count` products of squares that lie apart, each in one piece. They must fit: count * size^2 elements.
    std::vector<Product> batch(std::int64_t size, std::int64_t count) const {
        std::vector<Product> products;
        const std::int64_t bytes = size * size * static_cast<std::int64_t>(element_bytes(type_));
        for (std::int64_t i = 0; i < count; ++i) {
            products.push_back(product_at(i * bytes, {size, size, size}));
        }
        return products;
    }

    using Memory = std::unique_ptr<std::byte, FreeMemory>;

    /// Matrices and workspace lie in huge pages, so these do too.
    static Memory huge_pages(std::size_t bytes) {
        Memory memory = allocate_huge_pages(static_cast<std::int64_t>(bytes));
        if (!memory) {
            fail(ErrorCode::resource,
                 "the measurement needs {} bytes for each of three matrices, and they cannot be allocated", bytes);
        }
        std::memset(memory.get(), 0, bytes);
        return memory;
    }

private:
    Product product_at(std::int64_t offset, const TunedShape& s) const {
        Product p{.a = ConstView(memory_[0].get() + offset, type_, s.m, s.k, s.k, 1),
                  .b = ConstView(memory_[1].get() + offset, type_, s.k, s.n, s.n, 1),
                  .c = View(memory_[2].get() + offset, type_, s.m, s.n, s.n, 1)};
        return p;
    }
    void put(std::byte* memory, std::size_t i, double x) const {
        with_stored_type(type_, [&]<class T>() {
            reinterpret_cast<T*>(memory)[i] = from_double<T>(is_integer(type_) ? x * 0x1p31 : x);
        });
    }

    Type type_;
    std::int64_t size_;
    Memory memory_[3];
};

/// Seconds of one call, from a run of calls that lasts about `sample_s`.
template <class Action>
double time_calls(double guess_s, double sample_s, const Action& action) {
    const auto calls = static_cast<std::int64_t>(std::clamp(sample_s / std::max(guess_s, 1e-9), 1.0, 1e5));
    const auto start = Clock::now();
    for (std::int64_t i = 0; i < calls; ++i) {
        action();
    }
    return seconds_since(start) / static_cast<double>(calls);
}

// What a leaf costs among many, as below levels, measured in rounds with the leaf alone: the clock of a virtual machine
// drifts by a third within seconds (tune_batches.cpp).

/// The squares of the measurement end here; thin shapes reach further, to kLongest.
constexpr std::int64_t kLargest = 2048;
/// The largest square that whole plans are measured on: libraries still get faster beyond kLargest.
constexpr std::int64_t kLongest = 4096;

/// The size that others are compared with.
constexpr std::int64_t kTypical = 1024;

/// Seconds of the square of that size; infinity if it was not measured.
double sample_at(const std::vector<LeafSample>& samples, std::int64_t size);

/// The leaf on our own threads that is the fastest of a type on that square; nullptr if none was measured there.
const LeafProfile* fastest_on_our_threads(const std::vector<LeafProfile>& profiles, Type type, std::int64_t size);

/// Fills in_batches of the leaves of `type` on our own threads, except those far behind, in about `most_s` seconds.
void measure_batches(cpu::CpuBackend& backend, const Operands& operands, Type type, int threads, double most_s,
                     std::vector<LeafProfile>& profiles);

}  // namespace heptad
