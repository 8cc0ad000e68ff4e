// The machine description as JSON, and back with suspicion. What one list of fields says is printed and is read.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "algorithm/catalogue.hpp"
#include "base/fail_if.hpp"
#include "base/json_text.hpp"
#include "plan/model/machine.hpp"

namespace heptad {
namespace {

bool are_positive(std::initializer_list<double> all) {
    return std::ranges::all_of(all, [](double x) { return std::isfinite(x) && x > 0; });
}

bool is_not_negative(double x) {
    return std::isfinite(x) && x >= 0;
}

/// Prints the fields of one part into JSON, or reads them.
class MachineFields {
public:
    MachineFields(nlohmann::ordered_json& json, bool reads) : json_(json), reads_(reads) {}

    void list(Machine& machine) {
        required("cpu", machine.cpu, "threads", machine.threads, "measured", machine.measured, "combine_bytes_per_s",
                 machine.combine_bytes_per_s, "scan_bytes_per_s", machine.scan_bytes_per_s, "call_s", machine.call_s);
        check(machine.threads >= 1, "fewer threads than 1");
        check(are_positive({machine.combine_bytes_per_s, machine.scan_bytes_per_s, machine.call_s}),
              "a rate or a time that is not positive");
        required("leaves", machine.leaves);
        where(!machine.measured_plans.empty(), "measured_plans", machine.measured_plans);
        where(!machine.passes.empty(), "passes", machine.passes);
        where(!machine.fused.empty(), "fused_device", machine.fused_device);
        where(!machine.fused.empty(), "fused", machine.fused);
        where(!machine.bit_splits.empty(), "bit_splits_n_serial_parallel_s", machine.bit_splits);
        where(!machine.bit_hosts.empty(), "bit_hosts", machine.bit_hosts);
    }

private:
    void list(LeafSample& sample) {
        is_row_ = true;
        required("m", sample.m, "k", sample.k, "n", sample.n, "s", sample.seconds);
        where(!sample.kernel.empty(), "kernel", sample.kernel);
        check(sample.m >= 1 && sample.k >= 1 && sample.n >= 1, "a sample with a size below 1");
        check(are_positive({sample.seconds}), "a sample whose time is not positive");
    }

    void list(LeafProfile& profile) {
        required("leaf", profile.leaf, "type", profile.type, "threads", profile.threads);
        check(profile.threads >= 1, "fewer threads than 1");
        optional("misaligned", profile.misaligned, 1.0);
        check(are_positive({profile.misaligned}), "a factor that is not positive");
        required("samples_m_k_n_s", profile.samples);
        optional("in_batches_m_k_n_s", profile.in_batches, {});
    }

    void list(MeasuredPlan& row) {
        required("type", row.type, "m", row.m, "k", row.k, "n", row.n, "levels", row.plan.levels, "leaf", row.plan.leaf,
                 "relative_time", row.relative_time, "std_error", row.std_error, "rounds", row.rounds, "modelled_time",
                 row.modelled_time);
        where(row.error_growth > 0, "error_growth", row.error_growth);
        check(row.m >= 1 && row.k >= 1 && row.n >= 1, "a measured plan with a size below 1");
        check(are_positive({row.relative_time, row.modelled_time}), "a measured plan whose time is not positive");
        check(is_not_negative(row.std_error) && row.rounds >= 1,
              "a measured plan with an impossible standard error or number of rounds");
        check(is_not_negative(row.error_growth), "a measured plan with impossible errors");
        for (const std::string& algorithm : row.plan.levels) {
            if (reads_) {
                find_algorithm(algorithm);  // throws where there is none
            }
        }
    }

    void list(PassProfile& profile) {
        required("type", profile.type, "pass", profile.pass, "threads", profile.threads, "places", profile.places,
                 "bytes_per_s", profile.bytes_per_s, "usual_bytes_per_s", profile.usual_bytes_per_s);
        check(profile.threads >= 1 && profile.places >= 1, "a pass with fewer threads or places than 1");
        check(are_positive({profile.bytes_per_s, profile.usual_bytes_per_s}), "a pass whose speed is not positive");
    }

    void list(FusedDevice& device) {
        required("multiprocessors", device.multiprocessors, "launch_s", device.launch_s);
        optional("product_s", device.product_s, 0.0);
        check(is_not_negative(device.product_s), "a product that takes less than no time");
        check(device.multiprocessors >= 1, "fewer multiprocessors than 1");
        check(are_positive({device.launch_s}), "a rate or a time that is not positive");
    }

    void list(FusedProfile& profile) {
        required("type", profile.type, "tile", profile.tile, "tile_m", profile.tile_m, "tile_n", profile.tile_n,
                 "blocks_of_multiprocessor", profile.blocks_of_multiprocessor, "most_terms", profile.most_terms,
                 "most_targets", profile.most_targets);
        optional("regular", profile.regular, false);
        check(std::min({profile.tile_m, profile.tile_n, profile.blocks_of_multiprocessor, profile.most_terms,
                        profile.most_targets}) >= 1,
              "a tile with a size or a count below 1");
        required("flops_per_s", profile.flops_per_s, "addition_flops", profile.addition_flops, "update_flops",
                 profile.update_flops, "global_bytes_per_s", profile.global_bytes_per_s, "alone", profile.alone,
                 "misaligned", profile.misaligned);
        optional("atomic_flops", profile.atomic_flops, profile.update_flops);
        optional("edge", profile.edge, 1.0);
        optional("turn_s", profile.turn_s, 0.0);
        check(is_not_negative(profile.turn_s), "a tile with a time below 0");
        check(are_positive({profile.atomic_flops, profile.edge}), "a tile with a factor that is not positive");
        check(are_positive({profile.flops_per_s, profile.addition_flops, profile.update_flops,
                            profile.global_bytes_per_s, profile.alone, profile.misaligned}),
              "a tile with a rate or a factor that is not positive");
    }

    void list(BitSplitSample& sample) {
        is_row_ = true;
        required("n", sample.n, "serial", sample.serial_levels, "parallel", sample.parallel_levels, "s",
                 sample.seconds);
        check(sample.n >= 1 && sample.serial_levels >= 0 && sample.parallel_levels >= 0,
              "a product of bits with an impossible size or number of levels");
        check(are_positive({sample.seconds}), "a product of bits whose time is not positive");
    }

    void list(BitHostSample& sample) {
        required("n", sample.n, "device_memory_bytes", sample.device_memory_bytes, "host_levels", sample.host_levels,
                 "pipelines", sample.pipelines, "predicted_s", sample.predicted_s, "seconds", sample.seconds);
        check(sample.n >= 1 && sample.device_memory_bytes >= 1 && sample.host_levels >= 0 && sample.pipelines >= 1,
              "a product of bits at the host with an impossible size, levels or pipelines");
        check(are_positive({sample.predicted_s, sample.seconds}),
              "a product of bits at the host whose time is not positive");
    }

    nlohmann::ordered_json& place_of(const char* key) {
        if (is_row_) {
            return reads_ ? json_.at(next_++) : json_.emplace_back();
        }
        return reads_ ? json_.at(key) : json_[key];
    }
    template <class Value, class... Others>
    void required(const char* key, Value& value, Others&... others) {
        exchange(place_of(key), value);
        if constexpr (sizeof...(others) > 0) {
            required(others...);
        }
    }
    /// Files from before do not have it.
    template <class Value>
    void optional(const char* key, Value& value, const std::type_identity_t<Value>& usual) {
        value = reads_ ? usual : value;
        where(true, key, value);
    }
    /// Printed only there, and read if it is there.
    template <class Value>
    void where(bool is_there, const char* key, Value& value) {
        if (!reads_ ? is_there : is_row_ ? next_ < json_.size() : json_.contains(key)) {
            required(key, value);
        }
    }
    void check(bool holds, const char* what) const {
        fail_if(reads_ && !holds, ErrorCode::input, "the machine description has {}; measure again with `heptad tune`",
                what);
    }

    template <class Value>
    void exchange(nlohmann::ordered_json& json, Value& value) const {
        if constexpr (std::is_class_v<Value> && !std::is_same_v<Value, std::string>) {
            MachineFields(json, reads_).list(value);
        } else if (reads_) {
            json.get_to(value);
        } else {
            json = value;
        }
    }
    template <class Value>
    void exchange(nlohmann::ordered_json& json, std::vector<Value>& values) const {
        if (reads_) {
            values.resize(json.get<nlohmann::ordered_json::array_t>().size());
        } else {
            json = nlohmann::ordered_json::array_t(values.size());
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
            exchange(json[i], values[i]);
        }
    }
    void exchange(nlohmann::ordered_json& json, Type& type) const {
        if (reads_) {
            type = type_from_name(json.get<std::string>());
        } else {
            json = type_name(type);
        }
    }
    void exchange(nlohmann::ordered_json& json, FusedTile& tile) const {
        std::string name = kFusedTiles.of(tile);
        exchange(json, name);
        const std::optional<FusedTile> found = kFusedTiles.find(name);
        check(found.has_value(), "a tile that there is not");
        tile = found.value_or(tile);
    }

    nlohmann::ordered_json& json_;
    bool reads_, is_row_ = false;
    std::size_t next_ = 0;  // of a row
};

}  // namespace

std::string print_machine(const Machine& machine) {
    nlohmann::ordered_json json;
    Machine printed = machine;
    MachineFields(json, false).list(printed);
    return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Machine parse_machine(const std::string& json) {
    try {
        nlohmann::ordered_json root = parse_json(json);
        Machine machine;
        MachineFields(root, true).list(machine);
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
