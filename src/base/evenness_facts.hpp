// What the host and a device look at when they judge how even two matrices are (run/dense/evenness.hpp): the same
// places, counted in the same steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heptad {

/// Exponents of a line of zeros: what is written there comes out as zero.
inline constexpr std::int32_t kZeroLine = 1 << 14;

/// Lines that differ by less than this many powers of two from the others are alike: means of 64 logarithms of random
/// numbers differ by up to 0.8 by themselves.
inline constexpr double kAlike = 1.5;
inline constexpr double kNoise = 0.7;  // and a line by itself is left alone within this
inline constexpr int kSampledForMeans = 64;
inline constexpr int kSampledForTails = 128;
/// Rows of A and columns of B that are smaller than the largest of all by more than this, both together, have no
/// levels: by their norms where sums of lines are known, otherwise by their largest values.
inline constexpr double kMostBelow = 64;
inline constexpr int kLineElements = 16;  // side by side in a cache line

/// A device counts values of a row in half powers of two around the usual ones, from 2^(kStepsAbove / 2) times those
/// down.
inline constexpr int kSteps = 24;
inline constexpr int kStepsAbove = 6;

/// Sums are kept with powers along k beside them, and f16 has room for few.
inline constexpr int kMostInner = 60, kMostInnerOfF16 = 4;

/// A device's notes of its sample.
inline constexpr std::int64_t kEvennessBytes = 5 << 10;

/// How many values to look at in lines of so many: the more there are, the more lines there are for noise to show in.
inline std::int64_t sample_size(std::int64_t length) {
    return std::clamp<std::int64_t>(length / 32, 64, 128);
}
/// Sampled side by side, where they lie so: short runs, so that there are eight at least and each half, quarter and
/// eighth of a line is seen for itself.
inline constexpr std::int64_t kRun = 8;

/// Positions that are spread over `count`: all, or runs of neighbours somewhere in equal parts.
inline std::vector<std::int64_t> sampled_places(std::int64_t count, std::int64_t wanted, std::int64_t run) {
    std::vector<std::int64_t> places;
    if (count <= wanted) {
        for (std::int64_t i = 0; i < count; ++i) {
            places.push_back(i);
        }
        return places;
    }
    const std::int64_t parts = wanted / run;
    std::uint64_t state = 0x9e3779b97f4a7c15U;
    for (std::int64_t part = 0; part < parts; ++part) {
        const std::int64_t begin = count * part / parts, room = count * (part + 1) / parts - begin - run;
        state = state * 6364136223846793005U + 1442695040888963407U;
        const std::int64_t at =
            begin + (room > 0 ? static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(room + 1)) : 0);
        for (std::int64_t i = at; i < std::min(at + run, count); ++i) {
            places.push_back(i);
        }
    }
    return places;
}

/// Of a line of so many, where neighbours are looked at in little time or not.
inline std::vector<std::int64_t> sample_of_line(std::int64_t length, bool by_runs) {
    return sampled_places(length, sample_size(length), by_runs ? kRun : 1);
}

}  // namespace heptad
