#include "plan_text.hpp"

#include <fmt/format.h>
#include <algorithm>

#include <nlohmann/json.hpp>

#include "outlook_text.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

/// What everybody wants to know, above all the rest.
std::string head_of(const Outlook& outlook) {
    return fmt::format("# {}\n# {}\n", expectation_text(outlook), bound_text(outlook.error));
}

std::string time_line(const ProductPlan& plan) {
    const double operations = operation_count({plan.m, plan.k, plan.n}, plan.type);
    std::string text = fmt::format("# predicted time  {}", format_seconds(plan.predicted_s));
    if (plan.predicted_s > 0 && operations > 0) {
        text += fmt::format(" ({} effective{})", format_rate(operations / plan.predicted_s, plan.type),
                            plan.transfers ? ", transfers included" : "");
    }
    return text + "\n";
}

std::string workspace_and_time(const ProductPlan& plan) {
    return fmt::format("# workspace       {} ({} bytes)\n{}", format_bytes(plan.workspace_bytes), plan.workspace_bytes,
                       time_line(plan));
}

std::string text_of(const ProductPlan& plan, const HostForecast& told) {
    const HostCut& cut = *plan.host;
    const auto plural = [](std::int64_t count) { return count == 1 ? "" : "s"; };
    std::string text = cut.levels > 0 ? fmt::format("# host            {} level{} of {} (d_h = {})\n", cut.levels,
                                                    plural(cut.levels), cut.algorithm, cut.levels)
                                      : fmt::format("# host            segments of C, {} step{} along k (d_h = 0)\n",
                                                    told.steps, plural(told.steps));
    text += fmt::format("# products        {} of {} x {} x {}, on {} device{} by {} pipeline{} each\n", told.tasks,
                        cut.block_m, cut.block_k, cut.block_n, told.devices, plural(told.devices), cut.pipelines,
                        plural(cut.pipelines));
    text += fmt::format("# memory          {} on each device ({} of it workspace), {} of buffers on the host{}\n",
                        format_bytes(told.device_bytes), format_bytes(cut.workspace_bytes),
                        format_bytes(told.host_bytes), cut.in_place ? " (blocks are read and written in place)" : "");
    text += fmt::format("# transfers       {} to the devices, {} back\n", format_bytes(told.upload_bytes),
                        format_bytes(told.download_bytes));
    text += fmt::format("# stages          solve {}, upload {}, download {}, host {}; bottleneck: {}\n",
                        format_seconds(told.solve_s), format_seconds(told.upload_s), format_seconds(told.download_s),
                        format_seconds(told.host_s), told.binds());
    return text + time_line(plan);
}

nlohmann::ordered_json json_of(const ProductPlan& plan, const HostForecast& told, std::int64_t operand_bytes) {
    const HostCut& cut = *plan.host;
    return {{"m", plan.m},
            {"k", plan.k},
            {"n", plan.n},
            {"type", type_name(plan.type)},
            {"devices", cut.devices},
            {"device_count", told.devices},
            {"levels", cut.levels},
            {"host_algorithm", cut.algorithm},
            {"block", {cut.block_m, cut.block_k, cut.block_n}},
            {"tasks", told.tasks},
            {"pipelines", cut.pipelines},
            {"in_place", cut.in_place},
            {"operand_bytes", operand_bytes},
            {"workspace_bytes", plan.workspace_bytes},
            {"device_bytes", told.device_bytes},
            {"upload_bytes", told.upload_bytes},
            {"download_bytes", told.download_bytes},
            {"solve_s", told.solve_s},
            {"upload_s", told.upload_s},
            {"download_s", told.download_s},
            {"host_s", told.host_s},
            {"binds", told.binds()},
            {"bound_s", told.bound_s()},
            {"predicted_s", plan.predicted_s},
            {"error_bound", plan.error_bound},
            {"plan", to_string(plan)}};
}

std::string text_of_bits(const RequestPlan& told) {
    const ProductPlan& plan = told.decided;
    const bool on_device = told.device >= 0;
    std::string text = fmt::format(
        "# operands        {}, packed{}\n# workspace       {} ({} bytes)\n{:<18}{} ({} effective)",
        format_bytes(told.operand_bytes), on_device ? ", on the device" : "", format_bytes(plan.workspace_bytes),
        plan.workspace_bytes, on_device ? "# predicted" : "# predicted time", format_seconds(plan.predicted_s),
        format_rate(operation_count(told.size, plan.type) / plan.predicted_s, plan.type));
    if (plan.panels && plan.panels->first_k > 0) {
        text += fmt::format("; less where tiles of C are all ones after {} bits of k", plan.panels->first_k);
    }
    return text + "\n" + (on_device ? fmt::format("# machine         {}\n", told.machine) : "");
}

}  // namespace

std::string print_plan(const ProductPlan& plan, const std::string& more) {
    const Outlook outlook{promised_error(plan, expected_growth(plan), false)};
    return head_of(outlook) + workspace_and_time(plan) + more + to_string(plan) + "\n";
}

std::string plan_text(const RequestPlan& plan) {
    const std::string head = head_of(plan.outlook()), line = to_string(plan.decided) + "\n";
    if (plan.over) {
        return head + text_of(plan.decided, *plan.over) + line;
    }
    if (plan.files) {
        return head + plan_text(*plan.files) + line;
    }
    if (is_packed(plan.decided)) {
        return head + text_of_bits(plan) + line;
    }
    const std::string machine = plan.machine.empty()
                                    ? ""
                                    : fmt::format("# machine         {}, {}\n",
                                                  plan.machine_measured ? "measured" : "not measured", plan.machine);
    return head + workspace_and_time(plan.decided) + machine + line;
}

namespace {

nlohmann::ordered_json json_without_outlook(const RequestPlan& plan) {
    const ProductPlan& decided = plan.decided;
    if (plan.over) {
        return json_of(decided, *plan.over, plan.operand_bytes);
    }
    if (plan.files) {
        return plan_json(*plan.files);
    }
    nlohmann::ordered_json object{{"m", plan.size.m},
                                  {"k", plan.size.k},
                                  {"n", plan.size.n},
                                  {"type", type_name(plan.type)},
                                  {"levels", plan.levels()}};
    const bool bits_on_device = is_packed(decided) && plan.device >= 0;
    if (bits_on_device) {
        object.update({{"d_h", 0},
                       {"d_s", levels_in_mode(decided, LevelMode::serial)},
                       {"d_p", levels_in_mode(decided, LevelMode::parallel)}});
    }
    object.update({{"operand_bytes", plan.operand_bytes},
                   {"workspace_bytes", decided.workspace_bytes},
                   {"predicted_s", decided.predicted_s},
                   {"error_bound", decided.error_bound},
                   {"plan", to_string(decided)}});
    if (!plan.machine.empty()) {
        object["machine"] = plan.machine;
        if (!bits_on_device) {
            object["machine_measured"] = plan.machine_measured;
        }
    }
    return object;
}

}  // namespace

nlohmann::ordered_json plan_json(const RequestPlan& plan) {
    nlohmann::ordered_json object = json_without_outlook(plan);
    object.update(outlook_json(plan.outlook()));
    return object;
}

namespace {

std::string disk_text(const DiskRates& rates) {
    return fmt::format("{:.3g} GB/s read, {:.3g} GB/s written, {}", rates.read_bytes_per_s / 1e9,
                       rates.write_bytes_per_s / 1e9, rates.measured ? "measured here" : "as given");
}

std::string plan_line(const std::string& what, const std::string& value) {
    return fmt::format("# {:<15} {}\n", what, value);
}

std::string text_of_layers(const FileRequestPlan& files, const OuterLaunch& layers) {
    const FileProblem& problem = files.problem;
    const DiskCut& cut = *files.plan.disk;
    std::string text = plan_line(
        "outer levels", fmt::format("{} {} of {}x{}x{}: {} products like the one below, of sums of blocks",
                                    cut.algorithm, cut.levels, problem.m, problem.k, problem.n, layers.products()));
    text += plan_line("scratch",
                      fmt::format("{} beside the result, until it is complete", format_bytes(layers.scratch_bytes())));
    text += plan_line(
        "memory", fmt::format("{} of {}: a product {}, sums {}; the last pass {}", format_bytes(layers.used_bytes()),
                              format_bytes(problem.memory_bytes), format_bytes(layers.traffic.used_bytes()),
                              format_bytes(layers.a.bounce_bytes), format_bytes(layers.band_bytes)));
    text += plan_line(
        "read (DR)",
        fmt::format("{} (sample {}, A {}, B {}, products {}, C0 {}{}), {}", format_bytes(layers.read_bytes()),
                    format_bytes(layers.sample_bytes), format_bytes(layers.read_a_bytes),
                    format_bytes(layers.read_b_bytes), format_bytes(layers.products_read_bytes),
                    format_bytes(layers.read_c0_bytes),
                    layers.check_read_bytes > 0 ? ", both again to check " + format_bytes(layers.check_read_bytes) : "",
                    format_seconds(files.read_s)));
    text += plan_line("multiply (MM)", format_seconds(layers.multiply_s()));
    text += plan_line("write (DW)", fmt::format("{} (products {}, C {}), {}", format_bytes(layers.all_written_bytes()),
                                                format_bytes(layers.products_written_bytes),
                                                format_bytes(layers.written_bytes), format_seconds(files.write_s)));
    text += plan_line("last pass", format_seconds(last_pass_s(layers)));
    text += plan_line("whole run", format_seconds(files.wall_s));
    text += plan_line("moved", fmt::format("{}; best cut without outer levels {}", format_bytes(layers.moved_bytes()),
                                           format_bytes(reference_bytes(problem))));
    text += plan_line("disk", disk_text(files.disk));
    text += plan_line("bottleneck", files.disk_binds() ? "the disk: outer levels do not help" : "the products");
    return text;
}

}  // namespace

nlohmann::ordered_json plan_json(const FileRequestPlan& files) {
    using Json = nlohmann::ordered_json;
    const FileProblem& problem = files.problem;
    const FileTraffic& traffic = files.traffic;
    const std::optional<OuterLaunch>& layers = files.layers;
    const std::string text = to_string(files.plan);
    Json object{{"m", problem.m},
                {"k", problem.k},
                {"n", problem.n},
                {"type", type_name(problem.type)},
                {"workspace_bytes", files.plan.workspace_bytes},
                {"predicted_s", files.wall_s},
                {"error_bound", files.plan.error_bound},
                {"plan", text},
                {"file_plan", text}};
    if (layers) {
        object["outer_levels"] = to_json(*layers);
    } else {
        object["kept"] = kept_name(files.plan.disk->kept);
        object["read_a_bytes"] = traffic.read_a_bytes;
        object["read_b_bytes"] = traffic.read_b_bytes;
    }
    object["read_c0_bytes"] = layers ? layers->read_c0_bytes : traffic.read_c0_bytes;
    object["written_bytes"] = layers ? layers->written_bytes : traffic.written_bytes;
    object["moved_bytes"] = files.moved_bytes();
    if (!layers) {
        object["reference_bytes"] = reference_bytes(problem);
        object["lower_bound_bytes"] = lower_bound_bytes(problem);
    }
    object.update(Json{{"memory_bytes", problem.memory_bytes},
                       {"used_bytes", files.used_bytes()},
                       {"read_s", files.read_s},
                       {"multiply_s", files.multiply_s()},
                       {"write_s", files.write_s}});
    if (layers) {
        object["last_pass_s"] = last_pass_s(*layers);
    }
    object["wall_s"] = files.wall_s;
    if (!layers) {
        object["host_levels"] = files.stage_reason;
        object["outer_level_hint"] = files.outer_level_hint;
    }
    object["binds"] = files.disk_binds() ? "disk" : "multiply";
    return object;
}

std::string plan_text(const FileRequestPlan& files) {
    if (files.layers) {
        return text_of_layers(files, *files.layers);
    }
    const DiskCut& cut = *files.plan.disk;
    const FileTraffic& traffic = files.traffic;
    std::string text;
    const auto line = [&](const std::string& what, const std::string& value) { text += plan_line(what, value); };
    line("kept in memory", fmt::format("{}, tiles of {} x {}{}", kept_name(cut.kept), cut.tile_m, cut.tile_n,
                                       cut.mirrored ? " (of the transposed product)" : ""));
    line("memory", fmt::format("{} of {}: tiles {}, panels {}, workspace {}", format_bytes(traffic.used_bytes()),
                               format_bytes(cut.memory_bytes), format_bytes(traffic.tile_bytes),
                               format_bytes(traffic.panel_bytes), format_bytes(traffic.workspace_bytes)));
    line("read (DR)", fmt::format("{} (A {}, B {}, C0 {}), {}", format_bytes(files.read_bytes()),
                                  format_bytes(traffic.read_a_bytes), format_bytes(traffic.read_b_bytes),
                                  format_bytes(traffic.read_c0_bytes), format_seconds(files.read_s)));
    line("multiply (MM)", format_seconds(traffic.multiply_s));
    line("write (DW)", fmt::format("{}, {}", format_bytes(traffic.written_bytes), format_seconds(files.write_s)));
    line("whole run", fmt::format("{}, {:.2f} times the slowest stage", format_seconds(files.wall_s),
                                  files.wall_s / std::max(traffic.multiply_s, files.read_s + files.write_s)));
    line("moved",
         fmt::format("{}; best cut {}, lower bound {} (classical order)", format_bytes(traffic.moved_bytes()),
                     format_bytes(reference_bytes(files.problem)), format_bytes(lower_bound_bytes(files.problem))));
    line("disk", disk_text(files.disk));
    if (!files.stage_reason.empty()) {
        line("host levels", files.stage_reason);
    }
    line("bottleneck", files.disk_binds() ? "the disk: faster products would not help" : "the products");
    if (!files.outer_level_hint.empty()) {
        line("outer levels", files.outer_level_hint);
    }
    return text;
}

}  // namespace heptad::cli
