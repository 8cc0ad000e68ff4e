#include "machine_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>

#include "product/device/device_facts.hpp"
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

std::string plan_words(const PlanShape& plan) {
    return plan.levels.empty() ? plan.leaf : fmt::format("{} over {}", fmt::join(plan.levels, ", "), plan.leaf);
}

/// A line for each problem: the library, then how many times as fast the others were; a star: beyond the standard
/// error.
std::string measured_plans_text(const Machine& machine) {
    std::string text;
    const MeasuredPlan* library = nullptr;
    for (const MeasuredPlan& row : machine.measured_plans) {
        if (library == nullptr || !is_of_same_problem(row, *library)) {
            text += fmt::format("{}plans {:<6} {}x{}x{}: {} {}", library == nullptr ? "" : "\n", type_name(row.type),
                                row.m, row.k, row.n, plan_words(row.plan),
                                format_seconds(leaf_seconds(machine, row.plan.leaf, row.type, row.m, row.k, row.n)));
            library = &row;
        } else {
            text +=
                fmt::format("; {} {:.3f}{} +-{:.3f} ({} round{}{})", plan_words(row.plan), 1 / row.relative_time,
                            is_clearly_faster(row) ? "*" : "", row.std_error, row.rounds, row.rounds == 1 ? "" : "s",
                            row.error_growth > 0 ? fmt::format(", error x {:.1f}", row.error_growth) : "");
        }
    }
    return text.empty() ? text : text + "\n";
}

}  // namespace

std::string leaves_text(const Machine& machine) {
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
        text += machine.measured ? "\n" : " (built-in guesses)\n";
    }
    return text;
}

std::string machine_summary(const Machine& machine) {
    std::string text = leaves_text(machine);
    text +=
        fmt::format("combines     {:.1f} GB/s read and written, scans {:.1f} GB/s, a parallel call {}\n",
                    machine.combine_bytes_per_s / 1e9, machine.scan_bytes_per_s / 1e9, format_seconds(machine.call_s));
    text += measured_plans_text(machine);
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

std::string cuda_text() {
    const DeviceReport report = nvidia_devices();
    std::string versions = report.built ? fmt::format("runtime {}", report.runtime) : "";
    if (!report.driver.empty()) {
        versions += fmt::format(", driver {}", report.driver);
    }
    if (!report.cublas.empty()) {
        versions += fmt::format(", cuBLAS {} ({})", report.cublas, report.cublas_path);
    }
    std::string text = fmt::format("cuda         {}{}{}\n", versions, !report.available && report.built ? "; " : "",
                                   report.available ? "" : "not usable: " + report.problem);
    for (const DeviceInfo& device : report.devices) {
        text += fmt::format("cuda:{:<7} {}, compute capability {}.{}, {} multiprocessors, {}{}\n", device.index,
                            device.name, device.major, device.minor, device.multiprocessors,
                            format_bytes(device.memory_bytes),
                            report.available ? fmt::format(" ({} free)", format_bytes(device.free_bytes)) : "");
    }
    return text;
}

nlohmann::ordered_json cuda_json() {
    const DeviceReport report = nvidia_devices();
    nlohmann::ordered_json devices = nlohmann::ordered_json::array();
    for (const DeviceInfo& device : report.devices) {
        nlohmann::ordered_json object{{"index", device.index},
                                      {"name", device.name},
                                      {"compute_capability", fmt::format("{}.{}", device.major, device.minor)},
                                      {"multiprocessors", device.multiprocessors},
                                      {"memory_bytes", device.memory_bytes}};
        if (report.available) {
            object["free_bytes"] = device.free_bytes;
        }
        devices.push_back(object);
    }
    return {{"built", report.built},
            {"available", report.available},
            {"problem", report.problem},
            {"driver", report.driver},
            {"runtime", report.runtime},
            {"cublas", report.cublas},
            {"cublas_path", report.cublas_path},
            {"devices", devices}};
}

}  // namespace heptad::cli
