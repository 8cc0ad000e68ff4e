#include "tune/possible_figures.hpp"

#include <algorithm>
#include <ctime>
#include <vector>

#include "tune/tune_timing.hpp"

namespace heptad {
namespace {

/// Leaves lose some of their rate from one square to the next where they begin to use threads, but they do not lose
/// three quarters and have them back at the next one.
constexpr double kDent = 4;
constexpr std::int64_t kSmallestNeighbour = 32;

double flops(const LeafSample& s) {
    return 2 * static_cast<double>(s.m) * static_cast<double>(s.k) * static_cast<double>(s.n) / s.seconds;
}

/// 0: that square was not measured.
double flops_of_square(const std::vector<LeafSample>& samples, std::int64_t size) {
    return flops({size, size, size, sample_at(samples, size)});
}

double thread_cpu_s() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

bool is_dent(const std::vector<LeafSample>& samples, const LeafSample& sample) {
    if (sample.m != sample.k || sample.k != sample.n || sample.m / 2 < kSmallestNeighbour) {
        return false;
    }
    return flops(sample) * kDent <
           std::min(flops_of_square(samples, sample.m / 2), flops_of_square(samples, sample.m * 2));
}

}  // namespace

double plain_loop_flops() {
    constexpr std::int64_t kSize = 96;
    const std::vector<float> a(kSize * kSize, 0.5F), b(kSize * kSize, 0.25F);
    std::vector<float> c(kSize * kSize);
    double least_s = 1;
    for (int round = 0; round < 3; ++round) {
        const double start_s = thread_cpu_s();
        for (std::int64_t i = 0; i < kSize; ++i) {
            for (std::int64_t j = 0; j < kSize; ++j) {
                float sum = 0;
                for (std::int64_t p = 0; p < kSize; ++p) {
                    sum += a[static_cast<std::size_t>(i * kSize + p)] * b[static_cast<std::size_t>(p * kSize + j)];
                }
                c[static_cast<std::size_t>(i * kSize + j)] += sum;
            }
        }
        least_s = std::min(least_s, std::max(1e-9, thread_cpu_s() - start_s));
    }
    const volatile float used = c[0];  // so that the loops are not left out
    return static_cast<void>(used), 2 * static_cast<double>(kSize * kSize * kSize) / least_s;
}

int replace_impossible(LeafProfile& profile, const PossibleRates& rates, const Machine& before, bool beside_others) {
    constexpr double kDoubtful = 2;
    const bool is_known = beside_others && (before.measured || profile.leaf == "heptad");
    const auto seconds_before = [&](const LeafSample& s) {
        return leaf_seconds(before, profile.leaf, profile.type, s.m, s.k, s.n);
    };
    std::vector<LeafSample*> impossible;
    for (LeafSample& sample : profile.samples) {
        const bool is_thick = std::min({sample.m, sample.k, sample.n}) >= kThick;
        const bool too_slow = is_thick && (flops(sample) < rates.least_flops ||
                                           (is_known && sample.seconds > kDoubtful * seconds_before(sample)));
        if (too_slow || flops(sample) > rates.most_flops || is_dent(profile.samples, sample)) {
            impossible.push_back(&sample);
        }
    }
    for (LeafSample* sample : impossible) {
        sample->seconds = seconds_before(*sample);
    }
    return static_cast<int>(impossible.size());
}

}  // namespace heptad
