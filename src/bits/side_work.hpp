// Sums of words that are made bit by bit while a tile of a product is computed: the tile is limited by its one unit for
// block products, and loads, stores and sums find room beside it. Memory is asked for what comes later in the same way.
//
// `Vector` as in block_kernel.hpp. Compiled once per instruction set: no function of the library.
#pragma once

#include <cstddef>
#include <span>

#include "bits/leaf.hpp"

namespace heptad::bits {

template <class Vector>
class SideWork {
public:
    /// Steps in which a tile carries out the whole.
    static constexpr std::int64_t kSteps = 16;
    using Sources = std::span<const std::uint64_t* const>;

    /// to[0 .. words) (+)= the sum of the sources' words from `offset` on. Of each source, what lies `ahead` words
    /// further on is called into the L2 cache.
    void sum(std::uint64_t* to, Sources from, std::int64_t offset, std::int64_t words, bool adds, std::int64_t ahead) {
        sums_[sum_count_++] = {to, from, offset, words / 8, ahead, adds};
    }
    /// Calls these words of each source into the L2 cache.
    void call(Sources from, std::int64_t offset, std::int64_t words) {
        for (const std::uint64_t* source : from) {
            calls_[call_count_++] = {source + offset, words / 8, false};
        }
    }
    /// Calls these words into the L1 cache, to be changed.
    void call_near(const std::uint64_t* words_at, std::int64_t words) {
        calls_[call_count_++] = {words_at, words / 8, true};
    }
    __attribute__((always_inline)) void step(std::int64_t number) const {
        for (std::size_t i = 0; i < call_count_; ++i) {
            const Call& call = calls_[i];
            for (std::int64_t line = first(call.lines, number); line < first(call.lines, number + 1); ++line) {
                if (call.near) {
                    __builtin_prefetch(call.from + line * 8, 1, 3);
                } else {
                    __builtin_prefetch(call.from + line * 8, 0, 2);
                }
            }
        }
        for (std::size_t i = 0; i < sum_count_; ++i) {
            const Sum& sum = sums_[i];
            for (std::int64_t line = first(sum.lines, number); line < first(sum.lines, number + 1); ++line) {
                sum_line(sum, line * 8);
            }
        }
    }
    void all_steps() const {
        for (std::int64_t number = 0; number < kSteps; ++number) {
            step(number);
        }
    }

private:
    struct Sum {
        std::uint64_t* to;
        Sources from;
        std::int64_t offset, lines, ahead;
        bool adds;
    };
    struct Call {
        const std::uint64_t* from;
        std::int64_t lines;
        bool near;
    };

    static std::int64_t first(std::int64_t lines, std::int64_t step) { return lines * step / kSteps; }

    __attribute__((always_inline)) static void sum_line(const Sum& sum, std::int64_t word) {
        const std::int64_t at = sum.offset + word;
        std::uint64_t* to = sum.to + word;
        auto total = sum.adds ? Vector::xor3(Vector::load(sum.from[0] + at), Vector::load(to), Vector::zero())
                              : Vector::load(sum.from[0] + at);
        std::size_t s = 1;
        for (; s + 1 < sum.from.size(); s += 2) {
            total = Vector::xor3(total, Vector::load(sum.from[s] + at), Vector::load(sum.from[s + 1] + at));
        }
        if (s < sum.from.size()) {
            total = Vector::xor3(total, Vector::load(sum.from[s] + at), Vector::zero());
        }
        Vector::store(to, total);
        if (sum.ahead != 0) {
            for (const std::uint64_t* source : sum.from) {
                __builtin_prefetch(source + at + sum.ahead, 0, 2);
            }
        }
    }

    // A tile of results; rows of A and of B.
    Sum sums_[kMostFused + 2];
    // Results; rows of A and of B.
    Call calls_[3 * kMostFused];
    std::size_t sum_count_ = 0, call_count_ = 0;
};

}  // namespace heptad::bits
