// Ways to do one job on a device, timed in turns.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/timing.hpp"
#include "kernels/cuda/device/device.hpp"

namespace heptad {

/// Medians in seconds, each way's until the device is done; the first two rounds do not count.
inline std::vector<double> timed_in_turns(const cuda::Stream& stream, std::span<const std::function<void()>> ways,
                                          int rounds) {
    std::vector<std::vector<double>> times(ways.size());
    for (int round = 0; round < rounds + 2; ++round) {
        for (std::size_t way = 0; way < ways.size(); ++way) {
            stream.synchronize();
            const auto start = Clock::now();
            ways[way]();
            stream.synchronize();
            if (round >= 2) {
                times[way].push_back(seconds_since(start));
            }
        }
    }
    std::vector<double> medians;
    for (const std::vector<double>& of_way : times) {
        medians.push_back(median(of_way));
    }
    return medians;
}

}  // namespace heptad
