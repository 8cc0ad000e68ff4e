// Seconds of a leaf product from samples:  rate(m,k,n) = square_rate(s) * thinness(m,k,n),  s = (mkn)^(1/3)
//
//   square_rate   straight lines through the square samples in log size and log rate; constant beyond the ends, where
//                 rates have settled (large) or the call itself is all there is (small: seconds are constant there)
//   thinness      measured rate over square_rate at the thin samples, 1 at the squares; in between the logarithm is the
//                 mean over all samples, weighted by distance^-4 in (log m, log k, log n)
#include "plan/model/machine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace heptad {
namespace {

double log2_of(std::int64_t x) {
    const auto bits = static_cast<std::uint64_t>(x);
    return std::has_single_bit(bits) ? std::countr_zero(bits) : std::log2(static_cast<double>(x));
}

/// A shape by the logarithms of its sizes.
struct Place {
    double m, k, n;
    Place(std::int64_t rows, std::int64_t inner, std::int64_t cols)
        : m(log2_of(rows)), k(log2_of(inner)), n(log2_of(cols)) {}
    double volume() const { return m + k + n; }
    double squared_distance(const Place& o) const {
        return (m - o.m) * (m - o.m) + (k - o.k) * (k - o.k) + (n - o.n) * (n - o.n);
    }
};

bool is_square(const LeafSample& s) {
    return s.m == s.k && s.k == s.n;
}

/// log2 of the seconds a product of 2^volume multiplications takes if it were square. Infinity: no square samples.
double square_log_seconds(const std::vector<LeafSample>& samples, double volume) {
    const LeafSample* below = nullptr;
    const LeafSample* above = nullptr;
    for (const LeafSample& sample : samples) {
        if (!is_square(sample)) {
            continue;
        }
        const double at = 3 * log2_of(sample.m);
        if (at <= volume && (below == nullptr || sample.m > below->m)) {
            below = &sample;
        }
        if (at >= volume && (above == nullptr || sample.m < above->m)) {
            above = &sample;
        }
    }
    if (below == nullptr && above == nullptr) {
        return std::numeric_limits<double>::infinity();
    }
    if (below == nullptr) {
        return std::log2(above->seconds);
    }
    const double low = std::log2(below->seconds), low_volume = 3 * log2_of(below->m);
    if (above == nullptr) {
        return low + volume - low_volume;  // the same rate as the largest one
    }
    const double high = std::log2(above->seconds), high_volume = 3 * log2_of(above->m);
    return high_volume == low_volume ? low : low + (high - low) * (volume - low_volume) / (high_volume - low_volume);
}

/// log2 of the factor by which a thin product takes longer than a square one of the same volume.
double thinness_log(const std::vector<LeafSample>& samples, const Place& here) {
    constexpr double exact = 1e-9, far = 32;  // samples whose weight is below 1/1000 of the largest are left out
    double nearest = std::numeric_limits<double>::infinity();
    for (const LeafSample& sample : samples) {
        nearest = std::min(nearest, here.squared_distance({sample.m, sample.k, sample.n}));
    }
    nearest = std::max(nearest, exact);
    double weighted = 0, weights = 0;
    for (const LeafSample& sample : samples) {
        const Place there(sample.m, sample.k, sample.n);
        const double squared = std::max(here.squared_distance(there), exact);
        if (squared > far * nearest) {
            continue;
        }
        const double weight = (nearest / squared) * (nearest / squared);
        weights += weight;
        if (!is_square(sample)) {
            weighted += weight * (std::log2(sample.seconds) - square_log_seconds(samples, there.volume()));
        }
    }
    return weights > 0 ? weighted / weights : 0;
}

/// Without any sample: a modest core of today, and a call that costs something.
double default_seconds(Type type, int threads, double volume) {
    double peak = 30e9;  // f32, and what goes through its kernel
    if (type == Type::f64 || type == Type::i32) {
        peak = 15e9;
    } else if (type == Type::i64) {
        peak = 4e9;  // vectors of 64-bit products are made of several instructions
    } else if (type == Type::gf2 || type == Type::boolean) {
        peak = 1e9;  // plain loops
    }
    const double size = std::exp2(volume / 3);
    return 1e-7 + 2 * std::exp2(volume) / (peak * threads * size / (size + 64));
}

double profile_seconds(const LeafProfile& profile, std::int64_t m, std::int64_t k, std::int64_t n, LeafUse use) {
    const Place here(m, k, n);
    const bool in_batches = use == LeafUse::below_levels && !profile.in_batches.empty();
    const double square = square_log_seconds(in_batches ? profile.in_batches : profile.samples, here.volume());
    if (!std::isfinite(square)) {
        return default_seconds(profile.type, profile.threads, here.volume());
    }
    // Nearly square: no need to look at the thin samples, and small products are planned in no time.
    const bool nearly_square = std::max({m, k, n}) <= std::min({m, k, n}) * 5 / 4;
    return std::exp2(square + (nearly_square ? 0 : thinness_log(profile.samples, here)));
}

const LeafProfile* find_profile(const Machine& machine, std::string_view leaf, Type type) {
    for (const LeafProfile& profile : machine.leaves) {
        if (profile.type == type && (leaf.empty() || profile.leaf == leaf)) {
            return &profile;
        }
    }
    const std::string_view usual_kernels = leaf_traits(leaf).chosen_kernel_of;
    return usual_kernels.empty() ? nullptr : find_profile(machine, usual_kernels, type);
}

}  // namespace

double leaf_seconds(const Machine& machine, const std::string& leaf, Type type, std::int64_t m, std::int64_t k,
                    std::int64_t n, LeafUse use) {
    m = std::max<std::int64_t>(m, 1);
    k = std::max<std::int64_t>(k, 1);
    n = std::max<std::int64_t>(n, 1);
    if (const LeafProfile* profile = find_profile(machine, leaf, type)) {
        return profile_seconds(*profile, m, k, n, use);
    }
    return default_seconds(type, machine.threads, Place(m, k, n).volume());
}

double misaligned_factor(const Machine& machine, const std::string& leaf, Type type) {
    // The library's kernels, whoever chooses them: only the library's own choice is timed with such rows.
    const std::string_view usual_kernels = leaf_traits(leaf).chosen_kernel_of;
    const LeafProfile* profile = find_profile(machine, usual_kernels.empty() ? leaf : usual_kernels, type);
    return profile != nullptr ? profile->misaligned : 1;
}

std::string best_leaf(const Machine& machine, Type type, std::int64_t m, std::int64_t k, std::int64_t n, LeafUse use) {
    m = std::max<std::int64_t>(m, 1);
    k = std::max<std::int64_t>(k, 1);
    n = std::max<std::int64_t>(n, 1);
    // Profiles are listed best first by default knowledge; noise does not overrule it. Against a whole call of a
    // library, which cannot lose against itself, more is asked: clocks of virtual machines drift by a tenth and more.
    // On thick shapes libraries are at their best, and only one that took the wrong kernels is far behind.
    constexpr std::int64_t thick = 512;
    constexpr double clearly = 0.97;
    const double beyond_doubt = std::min({m, k, n}) >= thick ? 0.82 : 0.88;
    const LeafProfile* best = nullptr;
    double best_s = 0;
    const auto compare = [&](bool vendor_threads) {
        for (const LeafProfile& profile : machine.leaves) {
            if (profile.type != type) {
                continue;
            }
            const LeafTraits& traits = leaf_traits(profile.leaf);
            if (traits.chosen_kernel_of.empty() && !traits.by_residues && traits.is_whole_call == vendor_threads &&
                !(use == LeafUse::whole_product && traits.is_batched)) {
                const double seconds = profile_seconds(profile, m, k, n, use);
                const bool against_library = best != nullptr && is_whole_call(best->leaf) && !vendor_threads;
                if (best == nullptr || seconds < best_s * (against_library ? beyond_doubt : clearly)) {
                    best = &profile;
                    best_s = seconds;
                }
            }
        }
    };
    // Small products stay on one thread, whatever the leaf is called.
    const double volume = static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
    const bool large = volume > 64.0 * 64 * 64;
    if (use == LeafUse::whole_product && large) {
        compare(true);
    }
    compare(false);
    const bool one_by_one_too = best == nullptr || leaf_traits(best->leaf).is_batched;
    if (one_by_one_too) {
        compare(true);
    }
    return best != nullptr ? best->leaf : std::string();
}

}  // namespace heptad
