#include "run/tune_batches.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

namespace heptad {
namespace {

constexpr std::int64_t kTypical = 1024;  // the size that others are compared with
constexpr int kTurns = 3;
constexpr double kFarBehind = 1.25;  // such a leaf is not taken below levels
constexpr double kSampleSeconds = 1e-3;

bool has_own_threads(const LeafProfile& profile) {
    return profile.leaf.ends_with("-mt");
}

double sample_at(const std::vector<LeafSample>& samples, std::int64_t size) {
    for (const LeafSample& sample : samples) {
        if (sample.m == size && sample.k == size && sample.n == size) {
            return sample.seconds;
        }
    }
    return std::numeric_limits<double>::infinity();
}

/// The fastest of a type at `size`, on our threads or with its own; nullptr if none was measured there.
LeafProfile* fastest(std::vector<LeafProfile>& profiles, Type type, bool own_threads, std::int64_t size) {
    LeafProfile* best = nullptr;
    for (LeafProfile& profile : profiles) {
        const double seconds = sample_at(profile.samples, size);
        if (profile.type == type && has_own_threads(profile) == own_threads && std::isfinite(seconds) &&
            (best == nullptr || seconds < sample_at(best->samples, size))) {
            best = &profile;
        }
    }
    return best;
}

/// As many as a level of seven products gives each round of the threads, as far as the operands have room for them.
std::vector<Product> batch_of(const Operands& operands, std::int64_t size, int threads) {
    const std::int64_t room = (kLongest / size) * (kLongest / size);
    return operands.batch(size, std::min(room, std::max<std::int64_t>(8, 2 * std::int64_t{threads})));
}

double seconds_in_batch(cpu::CpuBackend& backend, const std::vector<Product>& batch, int leaf, double guess_s) {
    const auto count = static_cast<double>(batch.size());
    return time_calls(guess_s * count, kSampleSeconds, [&] { backend.multiply(batch, leaf); }) / count;
}

}  // namespace

void measure_batches(cpu::CpuBackend& backend, const Operands& operands, Type type, int threads, double most_s,
                     std::vector<LeafProfile>& profiles) {
    const LeafProfile* best = fastest(profiles, type, false, kTypical);
    if (best == nullptr) {
        return;
    }
    const double limit = kFarBehind * sample_at(best->samples, kTypical);
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
            const double turn_s = std::max(kSampleSeconds, alone_s * (1 + static_cast<double>(batch.size())));
            const double left_s = most_s - seconds_since(start);
            const int turns = static_cast<int>(std::min<double>(kTurns, left_s / turn_s / 2));
            const int id = cpu::CpuBackend::leaf_id(leaf->leaf);
            std::vector<double> factors;
            for (int turn = 0; turn < turns; ++turn) {
                const double alone = time_calls(alone_s, kSampleSeconds, [&] { backend.multiply_one(batch[0], id); });
                factors.push_back(seconds_in_batch(backend, batch, id, alone) / alone);
            }
            if (!factors.empty()) {
                leaf->in_batches.push_back({size, size, size, alone_s * median(factors)});
            }
        }
    }
}

void confirm_large_squares(cpu::CpuBackend& backend, const Operands& operands, Type type, int threads, double most_s,
                           std::vector<LeafProfile>& profiles) {
    LeafProfile* reference = fastest(profiles, type, false, kTypical);
    if (reference == nullptr || !std::isfinite(sample_at(reference->in_batches, kTypical))) {
        return;
    }
    const double reference_s = sample_at(reference->in_batches, kTypical);
    const int reference_leaf = cpu::CpuBackend::leaf_id(reference->leaf);
    const std::vector<Product> batch = batch_of(operands, kTypical, threads);
    const Shape shape{kLongest, kLongest, kLongest};
    const Product product = operands.product(shape);
    for (const bool own_threads : {false, true}) {
        LeafProfile* best = fastest(profiles, type, own_threads, kLargest);
        if (best == nullptr) {
            continue;
        }
        const double growth = shape.volume() / std::pow(static_cast<double>(kLargest), 3);
        const double turn_s = growth * sample_at(best->samples, kLargest) +
                              reference_s * static_cast<double>(batch.size()) +
                              2 * std::chrono::duration<double>(kSettle).count();
        const int turns = static_cast<int>(std::min<double>(kTurns, most_s / 2 / turn_s));
        const int leaf = cpu::CpuBackend::leaf_id(best->leaf);
        std::vector<double> factors;
        for (int turn = 0; turn < turns; ++turn) {
            std::this_thread::sleep_for(kSettle);
            const double small_s = seconds_in_batch(backend, batch, reference_leaf, reference_s);
            backend.multiply_one(operands.product({512, 512, 512}), leaf);  // wakes the threads
            factors.push_back(time_calls(1, 0, [&] { backend.multiply_one(product, leaf); }) / small_s);
        }
        if (!factors.empty()) {
            best->samples.push_back({shape.m, shape.k, shape.n, reference_s * median(factors)});
        }
    }
}

}  // namespace heptad
