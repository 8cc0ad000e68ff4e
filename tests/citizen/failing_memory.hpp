// Memory that runs out at a chosen allocation. A test that links failing_memory.cpp has operator new, and what the
// library asks of aligned_alloc() and mmap(), pass through it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "citizen/counts.hpp"

namespace heptad::citizen {

enum class Shortage : std::uint8_t {
    once,      ///< one allocation fails, the next are served
    for_good,  ///< it fails, and so do all that follow
};

/// From now on allocations of all threads are counted, and the one with this number (the first is 1) fails.
void let_allocation_fail(std::int64_t number, Shortage shortage);
/// Ends that; returns how many allocations there were.
std::int64_t serve_allocations();

/// Which of `count` allocations to let fail: all of them in a soak; else the first ones, which a call always makes, and
/// a seeded choice of the others, `most` together.
inline std::vector<std::int64_t> chosen_allocations(std::int64_t count, std::int64_t most) {
    const std::int64_t wanted = repetitions(most, count);
    std::vector<std::int64_t> numbers;
    std::mt19937_64 random(seed());
    for (std::int64_t i = 0; i < std::min(wanted, count); ++i) {
        const bool is_early = wanted >= count || i < wanted / 4;
        numbers.push_back(is_early ? i + 1 : std::uniform_int_distribution<std::int64_t>(i + 1, count)(random));
    }
    return numbers;
}

}  // namespace heptad::citizen
