// The machine description as JSON, and back with suspicion.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "algorithm/catalogue.hpp"
#include "base/fail_if.hpp"
#include "base/json_text.hpp"
#include "plan/model/machine.hpp"

namespace heptad {
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

void require(bool holds, const char* what) {
    fail_if(!holds, ErrorCode::input, "the machine description has {}; measure again with `heptad tune`", what);
}

bool is_positive(double x) {
    return std::isfinite(x) && x > 0;
}

MeasuredPlan parse_measured_plan(const nlohmann::json& entry) {
    MeasuredPlan row{type_from_name(entry.at("type").get<std::string>()),
                     entry.at("m").get<std::int64_t>(),
                     entry.at("k").get<std::int64_t>(),
                     entry.at("n").get<std::int64_t>(),
                     {entry.at("levels").get<std::vector<std::string>>(), entry.at("leaf").get<std::string>()},
                     entry.at("relative_time").get<double>(),
                     entry.at("std_error").get<double>(),
                     entry.at("rounds").get<int>(),
                     entry.at("modelled_time").get<double>(),
                     entry.value("error_growth", 0.0)};
    require(row.m >= 1 && row.k >= 1 && row.n >= 1, "a measured plan with a size below 1");
    require(is_positive(row.relative_time) && is_positive(row.modelled_time),
            "a measured plan whose time is not positive");
    require(std::isfinite(row.std_error) && row.std_error >= 0 && row.rounds >= 1,
            "a measured plan with an impossible standard error or number of rounds");
    require(std::isfinite(row.error_growth) && row.error_growth >= 0, "a measured plan with impossible errors");
    for (const std::string& algorithm : row.plan.levels) {
        find_algorithm(algorithm);  // throws where there is none
    }
    return row;
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
    json["leaves"] = nlohmann::ordered_json::array();
    for (const LeafProfile& profile : machine.leaves) {
        json["leaves"].push_back({{"leaf", profile.leaf},
                                  {"type", type_name(profile.type)},
                                  {"threads", profile.threads},
                                  {"misaligned", profile.misaligned},
                                  {"samples_m_k_n_s", samples_json(profile.samples)},
                                  {"in_batches_m_k_n_s", samples_json(profile.in_batches)}});
    }
    for (const MeasuredPlan& row : machine.measured_plans) {
        json["measured_plans"].push_back({{"type", type_name(row.type)},
                                          {"m", row.m},
                                          {"k", row.k},
                                          {"n", row.n},
                                          {"levels", row.plan.levels},
                                          {"leaf", row.plan.leaf},
                                          {"relative_time", row.relative_time},
                                          {"std_error", row.std_error},
                                          {"rounds", row.rounds},
                                          {"modelled_time", row.modelled_time}});
        if (row.error_growth > 0) {
            json["measured_plans"].back()["error_growth"] = row.error_growth;
        }
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
                                {"launch_s", machine.fused_device.launch_s},
                                {"product_s", machine.fused_device.product_s}};
    }
    for (const FusedProfile& profile : machine.fused) {
        json["fused"].push_back({{"type", type_name(profile.type)},
                                 {"tile", kFusedTiles.of(profile.tile)},
                                 {"tile_m", profile.tile_m},
                                 {"tile_n", profile.tile_n},
                                 {"blocks_of_multiprocessor", profile.blocks_of_multiprocessor},
                                 {"most_terms", profile.most_terms},
                                 {"most_targets", profile.most_targets},
                                 {"regular", profile.regular},
                                 {"flops_per_s", profile.flops_per_s},
                                 {"addition_flops", profile.addition_flops},
                                 {"update_flops", profile.update_flops},
                                 {"global_bytes_per_s", profile.global_bytes_per_s},
                                 {"alone", profile.alone},
                                 {"misaligned", profile.misaligned},
                                 {"atomic_flops", profile.atomic_flops},
                                 {"edge", profile.edge},
                                 {"turn_s", profile.turn_s}});
    }
    for (const BitSplitSample& sample : machine.bit_splits) {
        json["bit_splits_n_serial_parallel_s"].push_back(
            {sample.n, sample.serial_levels, sample.parallel_levels, sample.seconds});
    }
    for (const BitHostSample& sample : machine.bit_hosts) {
        json["bit_hosts"].push_back({{"n", sample.n},
                                     {"device_memory_bytes", sample.device_memory_bytes},
                                     {"host_levels", sample.host_levels},
                                     {"pipelines", sample.pipelines},
                                     {"predicted_s", sample.predicted_s},
                                     {"seconds", sample.seconds}});
    }
    return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Machine parse_machine(const std::string& json) {
    const auto samples = [](const nlohmann::json& list) {
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
        const nlohmann::json root = parse_json(json);
        Machine machine;
        machine.cpu = root.at("cpu").get<std::string>();
        machine.threads = root.at("threads").get<int>();
        machine.measured = root.at("measured").get<bool>();
        machine.combine_bytes_per_s = root.at("combine_bytes_per_s").get<double>();
        machine.scan_bytes_per_s = root.at("scan_bytes_per_s").get<double>();
        machine.call_s = root.at("call_s").get<double>();
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
        for (const auto& entry : root.value("measured_plans", nlohmann::json::array())) {
            machine.measured_plans.push_back(parse_measured_plan(entry));
        }
        for (const auto& entry : root.value("passes", nlohmann::json::array())) {
            PassProfile profile{.type = type_from_name(entry.at("type").get<std::string>()),
                                .pass = entry.at("pass").get<std::string>(),
                                .threads = entry.at("threads").get<int>(),
                                .places = entry.at("places").get<int>(),
                                .bytes_per_s = entry.at("bytes_per_s").get<double>(),
                                .usual_bytes_per_s = entry.at("usual_bytes_per_s").get<double>()};
            require(profile.threads >= 1 && profile.places >= 1, "a pass with fewer threads or places than 1");
            require(is_positive(profile.bytes_per_s) && is_positive(profile.usual_bytes_per_s),
                    "a pass whose speed is not positive");
            machine.passes.push_back(std::move(profile));
        }
        if (root.contains("fused_device")) {
            const auto& device = root.at("fused_device");
            machine.fused_device = {device.at("multiprocessors").get<int>(), device.at("launch_s").get<double>(),
                                    device.value("product_s", 0.0)};
            require(std::isfinite(machine.fused_device.product_s) && machine.fused_device.product_s >= 0,
                    "a product that takes less than no time");
            require(machine.fused_device.multiprocessors >= 1, "fewer multiprocessors than 1");
            require(is_positive(machine.fused_device.launch_s), "a rate or a time that is not positive");
        }
        for (const auto& entry : root.value("fused", nlohmann::json::array())) {
            FusedProfile profile;
            profile.type = type_from_name(entry.at("type").get<std::string>());
            const std::optional<FusedTile> tile = kFusedTiles.find(entry.at("tile").get<std::string>());
            require(tile.has_value(), "a tile that there is not");
            profile.tile = tile.value_or(FusedTile::automatic);
            profile.tile_m = entry.at("tile_m").get<int>();
            profile.tile_n = entry.at("tile_n").get<int>();
            profile.blocks_of_multiprocessor = entry.at("blocks_of_multiprocessor").get<int>();
            profile.most_terms = entry.at("most_terms").get<int>();
            profile.most_targets = entry.at("most_targets").get<int>();
            profile.regular = entry.value("regular", false);
            require(std::min({profile.tile_m, profile.tile_n, profile.blocks_of_multiprocessor, profile.most_terms,
                              profile.most_targets}) >= 1,
                    "a tile with a size or a count below 1");
            profile.flops_per_s = entry.at("flops_per_s").get<double>();
            profile.addition_flops = entry.at("addition_flops").get<double>();
            profile.update_flops = entry.at("update_flops").get<double>();
            profile.global_bytes_per_s = entry.at("global_bytes_per_s").get<double>();
            profile.alone = entry.at("alone").get<double>();
            profile.misaligned = entry.at("misaligned").get<double>();
            profile.atomic_flops = entry.value("atomic_flops", profile.update_flops);
            profile.edge = entry.value("edge", 1.0);
            profile.turn_s = entry.value("turn_s", 0.0);
            require(std::isfinite(profile.turn_s) && profile.turn_s >= 0, "a tile with a time below 0");
            require(is_positive(profile.atomic_flops) && is_positive(profile.edge),
                    "a tile with a factor that is not positive");
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
                    "a product of bits with an impossible size or number of levels");
            require(is_positive(sample.seconds), "a product of bits whose time is not positive");
            machine.bit_splits.push_back(sample);
        }
        for (const auto& entry : root.value("bit_hosts", nlohmann::json::array())) {
            const BitHostSample sample{
                entry.at("n").get<std::int64_t>(),     entry.at("device_memory_bytes").get<std::int64_t>(),
                entry.at("host_levels").get<int>(),    entry.at("pipelines").get<int>(),
                entry.at("predicted_s").get<double>(), entry.at("seconds").get<double>()};
            require(
                sample.n >= 1 && sample.device_memory_bytes >= 1 && sample.host_levels >= 0 && sample.pipelines >= 1,
                "a product of bits at the host with an impossible size, levels or pipelines");
            require(is_positive(sample.predicted_s) && is_positive(sample.seconds),
                    "a product of bits at the host whose time is not positive");
            machine.bit_hosts.push_back(sample);
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
