// Seconds of a leaf product from samples:  rate(m,k,n) = square_rate(s) * thinness(m,k,n),  s = (mkn)^(1/3)
//
//   square_rate   straight lines through the square samples in log size and log rate; constant beyond the ends, where
//                 rates have settled (large) or the call itself is all there is (small: seconds are constant there)
//   thinness      measured rate over square_rate at the thin samples, 1 at the squares; in between the logarithm is the
//                 mean over all samples, weighted by distance^-4 in (log m, log k, log n)
#include "plan/machine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.hpp"

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
    double peak = 1e9;  // plain loops
    if (type == Type::f32 || type == Type::f64 || type == Type::i32) {
        peak = type == Type::f32 ? 30e9 : 15e9;
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

const LeafProfile* find_profile(const Machine& machine, const std::string& leaf, Type type) {
    for (const LeafProfile& profile : machine.leaves) {
        if (profile.type == type && (leaf.empty() || profile.leaf == leaf)) {
            return &profile;
        }
    }
    return nullptr;
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

double level_factor(const Machine& machine, Type type, LevelCuts cuts, std::int64_t m, std::int64_t k, std::int64_t n) {
    const auto factor = [&](const LevelFactor& of) {
        return cuts == LevelCuts::halved_once   ? of.halved_once
               : cuts == LevelCuts::halved_more ? of.halved_more
                                                : of.others;
    };
    const double size = (std::log2(static_cast<double>(std::max<std::int64_t>(m, 1))) +
                         std::log2(static_cast<double>(std::max<std::int64_t>(k, 1))) +
                         std::log2(static_cast<double>(std::max<std::int64_t>(n, 1)))) /
                        3;
    const LevelFactor* below = nullptr;
    for (const LevelFactor& here : machine.level_factors) {
        if (here.type != type) {
            continue;
        }
        const double here_size = std::log2(static_cast<double>(here.n));
        if (size <= here_size) {
            if (below == nullptr) {
                return factor(here);
            }
            const double below_size = std::log2(static_cast<double>(below->n));
            const double share = (size - below_size) / (here_size - below_size);
            return factor(*below) + share * (factor(here) - factor(*below));
        }
        below = &here;
    }
    return below == nullptr ? 1 : factor(*below);
}

double misaligned_factor(const Machine& machine, const std::string& leaf, Type type) {
    const LeafProfile* profile = find_profile(machine, leaf, type);
    return profile != nullptr ? profile->misaligned : 1;
}

namespace {

/// A call of a library that takes the whole machine by itself: a BLAS with its own threads, or cuBLAS.
bool is_whole_call(const std::string& leaf) {
    return leaf.ends_with("-mt") || leaf == "cublas";
}
/// Many products in one call.
bool is_batched_call(const std::string& leaf) {
    return leaf.ends_with("-batched");
}

}  // namespace

std::string best_leaf(const Machine& machine, Type type, std::int64_t m, std::int64_t k, std::int64_t n, LeafUse use) {
    m = std::max<std::int64_t>(m, 1);
    k = std::max<std::int64_t>(k, 1);
    n = std::max<std::int64_t>(n, 1);
    // Profiles are listed best first by default knowledge; noise does not overrule it. Against a whole call of a
    // library, which cannot lose against itself, more is asked: clocks of virtual machines drift by a tenth and more.
    // On thick shapes libraries are at their best, and only one that took the wrong kernels is far behind.
    constexpr std::int64_t thick = 512;
    constexpr double clearly = 0.97;
    const double beyond_doubt = std::min({m, k, n}) >= thick ? 0.75 : 0.88;
    const LeafProfile* best = nullptr;
    double best_s = 0;
    const auto compare = [&](bool vendor_threads) {
        for (const LeafProfile& profile : machine.leaves) {
            if (profile.type == type && is_whole_call(profile.leaf) == vendor_threads &&
                !(use == LeafUse::whole_product && is_batched_call(profile.leaf))) {
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
    const bool one_by_one_too = best == nullptr || is_batched_call(best->leaf);
    if (one_by_one_too) {
        compare(true);
    }
    return best != nullptr ? best->leaf : std::string();
}

namespace {

nlohmann::ordered_json samples_json(const std::vector<LeafSample>& samples) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const LeafSample& s : samples) {
        list.push_back({s.m, s.k, s.n, s.seconds});
        if (!s.kernel.empty()) {
            list.back().push_back(s.kernel);
        }
    }
    return list;
}

}  // namespace

std::string print_machine(const Machine& machine) {
    nlohmann::ordered_json json;
    json["cpu"] = machine.cpu;
    json["threads"] = machine.threads;
    json["measured"] = machine.measured;
    json["combine_bytes_per_s"] = machine.combine_bytes_per_s;
    json["scan_bytes_per_s"] = machine.scan_bytes_per_s;
    json["call_s"] = machine.call_s;
    json["level_factors_type_n_once_more_others"] = nlohmann::ordered_json::array();
    for (const LevelFactor& entry : machine.level_factors) {
        json["level_factors_type_n_once_more_others"].push_back(
            {type_name(entry.type), entry.n, entry.halved_once, entry.halved_more, entry.others});
    }
    json["leaves"] = nlohmann::ordered_json::array();
    for (const LeafProfile& profile : machine.leaves) {
        json["leaves"].push_back({{"leaf", profile.leaf},
                                  {"type", type_name(profile.type)},
                                  {"threads", profile.threads},
                                  {"misaligned", profile.misaligned},
                                  {"samples_m_k_n_s", samples_json(profile.samples)},
                                  {"in_batches_m_k_n_s", samples_json(profile.in_batches)}});
    }
    for (const PassProfile& profile : machine.passes) {
        json["passes"].push_back({{"type", type_name(profile.type)},
                                  {"pass", profile.pass},
                                  {"threads", profile.threads},
                                  {"places", profile.places},
                                  {"bytes_per_s", profile.bytes_per_s},
                                  {"usual_bytes_per_s", profile.usual_bytes_per_s}});
    }
    if (!machine.fused.empty()) {
        json["fused_device"] = {{"multiprocessors", machine.fused_device.multiprocessors},
                                {"launch_s", machine.fused_device.launch_s}};
    }
    for (const FusedProfile& profile : machine.fused) {
        json["fused"].push_back({{"type", type_name(profile.type)},
                                 {"tile", fused_tile_name(profile.tile)},
                                 {"tile_m", profile.tile_m},
                                 {"tile_n", profile.tile_n},
                                 {"blocks_of_multiprocessor", profile.blocks_of_multiprocessor},
                                 {"most_terms", profile.most_terms},
                                 {"most_targets", profile.most_targets},
                                 {"flops_per_s", profile.flops_per_s},
                                 {"addition_flops", profile.addition_flops},
                                 {"update_flops", profile.update_flops},
                                 {"global_bytes_per_s", profile.global_bytes_per_s},
                                 {"alone", profile.alone},
                                 {"misaligned", profile.misaligned}});
    }
    for (const BitSplitSample& sample : machine.bit_splits) {
        json["bit_splits_n_serial_parallel_s"].push_back(
            {sample.n, sample.serial_levels, sample.parallel_levels, sample.seconds});
    }
    return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Machine parse_machine(const std::string& json) {
    const auto require = [](bool holds, const char* what) {
        if (!holds) {
            fail(ErrorCode::input, "the machine description has {}; measure again with `heptad tune`", what);
        }
    };
    const auto is_positive = [](double x) { return std::isfinite(x) && x > 0; };
    const auto samples = [&](const nlohmann::json& list) {
        std::vector<LeafSample> result;
        for (const auto& s : list) {
            const LeafSample sample{s.at(0).get<std::int64_t>(), s.at(1).get<std::int64_t>(),
                                    s.at(2).get<std::int64_t>(), s.at(3).get<double>(),
                                    s.size() > 4 ? s.at(4).get<std::string>() : ""};
            require(sample.m >= 1 && sample.k >= 1 && sample.n >= 1, "a sample with a size below 1");
            require(is_positive(sample.seconds), "a sample whose time is not positive");
            result.push_back(sample);
        }
        return result;
    };
    try {
        const auto root = nlohmann::json::parse(json);
        Machine machine;
        machine.cpu = root.at("cpu").get<std::string>();
        machine.threads = root.at("threads").get<int>();
        machine.measured = root.at("measured").get<bool>();
        machine.combine_bytes_per_s = root.at("combine_bytes_per_s").get<double>();
        machine.scan_bytes_per_s = root.at("scan_bytes_per_s").get<double>();
        machine.call_s = root.at("call_s").get<double>();
        const auto level_factors = root.value("level_factors_type_n_once_more_others", nlohmann::json::array());
        for (const auto& entry : level_factors) {
            const LevelFactor factor{type_from_name(entry.at(0).get<std::string>()), entry.at(1).get<std::int64_t>(),
                                     entry.at(2).get<double>(), entry.at(3).get<double>(), entry.at(4).get<double>()};
            const LevelFactor* last = machine.level_factors.empty() ? nullptr : &machine.level_factors.back();
            require(factor.n >= 1 && is_positive(factor.halved_once) && is_positive(factor.halved_more) &&
                        is_positive(factor.others),
                    "a factor or its size that is not positive");
            require(last == nullptr || last->type != factor.type || last->n < factor.n, "factors out of order");
            machine.level_factors.push_back(factor);
        }
        require(machine.threads >= 1, "fewer threads than 1");
        require(is_positive(machine.combine_bytes_per_s) && is_positive(machine.scan_bytes_per_s) &&
                    is_positive(machine.call_s),
                "a rate or a time that is not positive");
        for (const auto& entry : root.at("leaves")) {
            LeafProfile profile;
            profile.leaf = entry.at("leaf").get<std::string>();
            profile.type = type_from_name(entry.at("type").get<std::string>());
            profile.threads = entry.at("threads").get<int>();
            require(profile.threads >= 1, "fewer threads than 1");
            profile.misaligned = entry.value("misaligned", 1.0);
            require(is_positive(profile.misaligned), "a factor that is not positive");
            profile.samples = samples(entry.at("samples_m_k_n_s"));
            if (entry.contains("in_batches_m_k_n_s")) {
                profile.in_batches = samples(entry.at("in_batches_m_k_n_s"));
            }
            machine.leaves.push_back(std::move(profile));
        }
        for (const auto& entry : root.value("passes", nlohmann::json::array())) {
            PassProfile profile;
            profile.type = type_from_name(entry.at("type").get<std::string>());
            profile.pass = entry.at("pass").get<std::string>();
            profile.threads = entry.at("threads").get<int>();
            profile.places = entry.at("places").get<int>();
            profile.bytes_per_s = entry.at("bytes_per_s").get<double>();
            profile.usual_bytes_per_s = entry.at("usual_bytes_per_s").get<double>();
            require(profile.threads >= 1 && profile.places >= 1, "a pass with fewer threads or places than 1");
            require(is_positive(profile.bytes_per_s) && is_positive(profile.usual_bytes_per_s),
                    "a pass whose speed is not positive");
            machine.passes.push_back(std::move(profile));
        }
        if (root.contains("fused_device")) {
            const auto& device = root.at("fused_device");
            machine.fused_device = {device.at("multiprocessors").get<int>(), device.at("launch_s").get<double>()};
            require(machine.fused_device.multiprocessors >= 1, "fewer multiprocessors than 1");
            require(is_positive(machine.fused_device.launch_s), "a rate or a time that is not positive");
        }
        for (const auto& entry : root.value("fused", nlohmann::json::array())) {
            FusedProfile profile;
            profile.type = type_from_name(entry.at("type").get<std::string>());
            const std::optional<FusedTile> tile = fused_tile_of(entry.at("tile").get<std::string>());
            require(tile.has_value(), "a tile that there is not");
            profile.tile = tile.value_or(FusedTile::automatic);
            profile.tile_m = entry.at("tile_m").get<int>();
            profile.tile_n = entry.at("tile_n").get<int>();
            profile.blocks_of_multiprocessor = entry.at("blocks_of_multiprocessor").get<int>();
            profile.most_terms = entry.at("most_terms").get<int>();
            profile.most_targets = entry.at("most_targets").get<int>();
            require(std::min({profile.tile_m, profile.tile_n, profile.blocks_of_multiprocessor, profile.most_terms,
                              profile.most_targets}) >= 1,
                    "a tile with a size or a count below 1");
            profile.flops_per_s = entry.at("flops_per_s").get<double>();
            profile.addition_flops = entry.at("addition_flops").get<double>();
            profile.update_flops = entry.at("update_flops").get<double>();
            profile.global_bytes_per_s = entry.at("global_bytes_per_s").get<double>();
            profile.alone = entry.at("alone").get<double>();
            profile.misaligned = entry.at("misaligned").get<double>();
            require(is_positive(profile.flops_per_s) && is_positive(profile.addition_flops) &&
                        is_positive(profile.update_flops) && is_positive(profile.global_bytes_per_s) &&
                        is_positive(profile.alone) && is_positive(profile.misaligned),
                    "a tile with a rate or a factor that is not positive");
            machine.fused.push_back(profile);
        }
        for (const auto& entry : root.value("bit_splits_n_serial_parallel_s", nlohmann::json::array())) {
            const BitSplitSample sample{entry.at(0).get<std::int64_t>(), entry.at(1).get<int>(), entry.at(2).get<int>(),
                                        entry.at(3).get<double>()};
            require(sample.n >= 1 && sample.serial_levels >= 0 && sample.parallel_levels >= 0,
                    "a product of bits whose size or levels cannot be");
            require(is_positive(sample.seconds), "a product of bits whose time is not positive");
            machine.bit_splits.push_back(sample);
        }
        return machine;
    } catch (const nlohmann::json::exception& problem) {
        fail(ErrorCode::input, "the machine description cannot be read ({}); measure again with `heptad tune`",
             problem.what());
    } catch (const Error& problem) {
        if (problem.code() == ErrorCode::input) {
            throw;
        }
        fail(ErrorCode::input, "the machine description cannot be read ({}); measure again with `heptad tune`",
             problem.what());
    }
}

}  // namespace heptad
