#include "machine_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "text.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kTypicalLeaf = 1024;  // the size at which leaves are compared
constexpr Type kTypes[] = {Type::f32, Type::f64, Type::i32};

double leaf_rate(const Machine& machine, const std::string& leaf, Type type) {
    const auto n = static_cast<double>(kTypicalLeaf);
    return 2 * n * n * n /
           leaf_seconds(machine, leaf, type, kTypicalLeaf, kTypicalLeaf, kTypicalLeaf, LeafUse::below_levels);
}

std::string plan_words(const ContestPlan& plan) {
    return plan.algorithms.empty() ? plan.leaf : fmt::format("{} over {}", fmt::join(plan.algorithms, ", "), plan.leaf);
}

/// The library, then how much faster the others were and were expected to be; a star: beyond doubt.
std::string contest_line(const Contest& contest) {
    std::string text = fmt::format("contest {:<4} {}x{}x{}: {} {}", type_name(contest.type), contest.m, contest.k,
                                   contest.n, contest.trials.front().plan.leaf, format_seconds(contest.first_trial_s));
    for (std::size_t i = 1; i < contest.trials.size(); ++i) {
        const ContestTrial& trial = contest.trials[i];
        const std::string expected =
            std::isfinite(trial.expected_doubt)
                ? fmt::format(", expected {:.3f} +-{:.3f}", 1 / trial.expected_time, trial.expected_doubt)
                : "";
        text += fmt::format("; {} {:.3f}{} +-{:.3f} ({} turn{}{})", plan_words(trial.plan), 1 / trial.relative_time,
                            beats_the_library(trial, contest.noticeable) ? "*" : "", trial.doubt, trial.turns,
                            trial.turns == 1 ? "" : "s", expected);
    }
    return text + "\n";
}

}  // namespace

std::string machine_summary(const Machine& machine) {
    std::string text;
    for (const Type type : kTypes) {
        const std::string best =
            best_leaf(machine, type, kTypicalLeaf, kTypicalLeaf, kTypicalLeaf, LeafUse::below_levels);
        text += fmt::format("leaf of {:<4} {}, {} at n = {}", type_name(type), best,
                            format_rate(leaf_rate(machine, best, type), type), kTypicalLeaf);
        for (const LeafProfile& profile : machine.leaves) {
            if (profile.type == type && profile.leaf != best) {
                text += fmt::format("; {} {}", profile.leaf, format_rate(leaf_rate(machine, profile.leaf, type), type));
            }
        }
        text += "\n";
    }
    text +=
        fmt::format("combines     {:.1f} GB/s read and written, scans {:.1f} GB/s, a parallel call {}\n",
                    machine.combine_bytes_per_s / 1e9, machine.scan_bytes_per_s / 1e9, format_seconds(machine.call_s));
    for (const LevelFactor& entry : machine.level_factors) {
        text += fmt::format(
            "levels {:<5} {:.2f} times the sum of their parts at n = {}, {:.2f} with more than one, {:.2f} "
            "where not in halves\n",
            type_name(entry.type), entry.halved_once, entry.n, entry.halved_more, entry.others);
    }
    for (const Contest& contest : machine.contests) {
        text += contest_line(contest);
    }
    for (const PassProfile& pass : machine.passes) {
        text += fmt::format("passes {:<5} {:<6} {} threads, {} place{} each: {:.2f} TB/s ({:.2f} with 128 and 1)\n",
                            type_name(pass.type), pass.pass, pass.threads, pass.places, pass.places == 1 ? "" : "s",
                            pass.bytes_per_s / 1e12, pass.usual_bytes_per_s / 1e12);
    }
    std::map<std::int64_t, BitSplitSample> best_splits;
    for (const BitSplitSample& sample : machine.bit_splits) {
        const auto [at, is_new] = best_splits.try_emplace(sample.n, sample);
        if (!is_new && sample.seconds < at->second.seconds) {
            at->second = sample;
        }
    }
    for (const auto& [n, best] : best_splits) {
        text += fmt::format("bits gf2     d_s = {} and d_p = {} at n = {}: {}\n", best.serial_levels,
                            best.parallel_levels, n, format_seconds(best.seconds));
    }
    std::map<int, BitHostSample> best_cuts;  // by levels at the host
    for (const BitHostSample& sample : machine.bit_hosts) {
        const auto [at, is_new] = best_cuts.try_emplace(sample.host_levels, sample);
        if (!is_new && sample.seconds < at->second.seconds) {
            at->second = sample;
        }
    }
    for (const auto& [levels, best] : best_cuts) {
        text += fmt::format(
            "bits gf2     d_h = {} and {} pipeline{} at n = {} from the host with {} of the device: {} (predicted "
            "{})\n",
            levels, best.pipelines, best.pipelines == 1 ? "" : "s", best.n, format_bytes(best.device_memory_bytes),
            format_seconds(best.seconds), format_seconds(best.predicted_s));
    }
    return text;
}

nlohmann::ordered_json machine_summary_json(const Machine& machine) {
    nlohmann::ordered_json leaves = nlohmann::ordered_json::object();
    for (const Type type : kTypes) {
        leaves[type_name(type)] =
            best_leaf(machine, type, kTypicalLeaf, kTypicalLeaf, kTypicalLeaf, LeafUse::below_levels);
    }
    return {{"measured", machine.measured}, {"threads", machine.threads}, {"leaf", leaves}};
}

}  // namespace heptad::cli
