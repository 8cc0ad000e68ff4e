#include "tune/tune_timing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heptad {
namespace {

constexpr int kBatchRounds = 3;
constexpr double kBatchFarBehind = 1.25;  // such a leaf is not taken below levels
constexpr double kBatchSampleSeconds = 1e-3;

bool has_own_threads(const LeafProfile& profile) {
    return profile.leaf.ends_with("-mt");
}

double seconds_in_batch(cpu::CpuBackend& backend, const std::vector<Product>& batch, int leaf, double guess_s) {
    const auto count = static_cast<double>(batch.size());
    return time_calls(guess_s * count, kBatchSampleSeconds, [&] { backend.multiply(batch, leaf); }) / count;
}

/// As many as a level of seven products gives each round of the threads, as far as the operands have room for them.
std::vector<Product> batch_of(const Operands& operands, std::int64_t size, int threads) {
    const std::int64_t room = (kLongest / size) * (kLongest / size);
    return operands.batch(size, std::min(room, std::max<std::int64_t>(8, 2 * std::int64_t{threads})));
}

}  // namespace

double sample_at(const std::vector<LeafSample>& samples, std::int64_t size) {
    for (const LeafSample& sample : samples) {
        if (sample.m == size && sample.k == size && sample.n == size) {
            return sample.seconds;
        }
    }
    return std::numeric_limits<double>::infinity();
}

const LeafProfile* fastest_on_our_threads(const std::vector<LeafProfile>& profiles, Type type, std::int64_t size) {
    const LeafProfile* best = nullptr;
    for (const LeafProfile& profile : profiles) {
        const double seconds = sample_at(profile.samples, size);
        if (profile.type == type && !has_own_threads(profile) && std::isfinite(seconds) &&
            (best == nullptr || seconds < sample_at(best->samples, size))) {
            best = &profile;
        }
    }
    return best;
}

void measure_batches(cpu::CpuBackend& backend, const Operands& operands, Type type, int threads, double most_s,
                     std::vector<LeafProfile>& profiles) {
    const LeafProfile* best = fastest_on_our_threads(profiles, type, kTypical);
    if (best == nullptr) {
        return;
    }
    for (LeafProfile& profile : profiles) {
        if (profile.type == type) {
            profile.in_batches.clear();
        }
    }
    const double limit = kBatchFarBehind * sample_at(best->samples, kTypical);
    std::vector<LeafProfile*> leaves;
    for (LeafProfile& profile : profiles) {
        if (profile.type == type && !has_own_threads(profile) && sample_at(profile.samples, kTypical) <= limit) {
            leaves.push_back(&profile);
        }
    }
    const auto start = Clock::now();
    for (std::int64_t size = 128; size <= kLargest; size *= 2) {
        const std::vector<Product> batch = batch_of(operands, size, threads);
        for (LeafProfile* leaf : leaves) {
            const double alone_s = sample_at(leaf->samples, size);
            const double round_s = std::max(kBatchSampleSeconds, alone_s * (1 + static_cast<double>(batch.size())));
            const double left_s = most_s - seconds_since(start);
            const int rounds = static_cast<int>(std::min<double>(kBatchRounds, left_s / round_s / 2));
            const int id = cpu::CpuBackend::leaf_id(leaf->leaf);
            std::vector<double> factors;
            for (int round = 0; round < rounds; ++round) {
                const double alone =
                    time_calls(alone_s, kBatchSampleSeconds, [&] { backend.multiply_one(batch[0], id); });
                factors.push_back(seconds_in_batch(backend, batch, id, alone) / alone);
            }
            if (!factors.empty()) {
                leaf->in_batches.push_back({size, size, size, alone_s * median(factors)});
            }
        }
    }
}

}  // namespace heptad
