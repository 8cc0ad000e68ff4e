// A stopwatch and a median, for whoever measures.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace heptad {

using Clock = std::chrono::steady_clock;

inline double seconds_between(Clock::time_point start, Clock::time_point end) {
    return std::chrono::duration<double>(end - start).count();
}
inline double seconds_since(Clock::time_point start) {
    return seconds_between(start, Clock::now());
}

/// Of at least one value.
inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace heptad
