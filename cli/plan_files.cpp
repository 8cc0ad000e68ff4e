// heptad plan M K N --files: what a product from file to file would move and take, and which stage would bind.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plan_text.hpp"
#include "report_text.hpp"
#include "text.hpp"

namespace heptad::cli {
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
        "DR",
        fmt::format("{} (sample {}, A {}, B {}, products {}, C0 {}{}), {}", format_bytes(layers.read_bytes()),
                    format_bytes(layers.sample_bytes), format_bytes(layers.read_a_bytes),
                    format_bytes(layers.read_b_bytes), format_bytes(layers.products_read_bytes),
                    format_bytes(layers.read_c0_bytes),
                    layers.check_read_bytes > 0 ? ", both again to check " + format_bytes(layers.check_read_bytes) : "",
                    format_seconds(files.read_s)));
    text += plan_line("MM", format_seconds(layers.multiply_s()));
    text += plan_line("DW", fmt::format("{} (products {}, C {}), {}", format_bytes(layers.all_written_bytes()),
                                        format_bytes(layers.products_written_bytes), format_bytes(layers.written_bytes),
                                        format_seconds(files.write_s)));
    text += plan_line("last pass", format_seconds(last_pass_s(layers)));
    text += plan_line("whole run", format_seconds(files.wall_s));
    text += plan_line("moved", fmt::format("{}; best cut without outer levels {}", format_bytes(layers.moved_bytes()),
                                           format_bytes(reference_bytes(problem))));
    text += plan_line("disk", disk_text(files.disk));
    text += plan_line("binds", files.disk_binds() ? "the disk: outer levels do not help" : "the products");
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
    line("stays in memory", fmt::format("{}, tiles of {} x {}{}", kept_name(cut.kept), cut.tile_m, cut.tile_n,
                                        cut.mirrored ? " (of the transposed product)" : ""));
    line("memory", fmt::format("{} of {}: tiles {}, panels {}, workspace {}", format_bytes(traffic.used_bytes()),
                               format_bytes(cut.memory_bytes), format_bytes(traffic.tile_bytes),
                               format_bytes(traffic.panel_bytes), format_bytes(traffic.workspace_bytes)));
    line("DR", fmt::format("{} (A {}, B {}, C0 {}), {}", format_bytes(files.read_bytes()),
                           format_bytes(traffic.read_a_bytes), format_bytes(traffic.read_b_bytes),
                           format_bytes(traffic.read_c0_bytes), format_seconds(files.read_s)));
    line("MM", format_seconds(traffic.multiply_s));
    line("DW", fmt::format("{}, {}", format_bytes(traffic.written_bytes), format_seconds(files.write_s)));
    line("whole run", fmt::format("{}, {:.2f} times the stage that binds", format_seconds(files.wall_s),
                                  files.wall_s / std::max(traffic.multiply_s, files.read_s + files.write_s)));
    line("moved",
         fmt::format("{}; best cut {}, lower bound {} (classical order)", format_bytes(traffic.moved_bytes()),
                     format_bytes(reference_bytes(files.problem)), format_bytes(lower_bound_bytes(files.problem))));
    line("disk", disk_text(files.disk));
    if (!files.stage_reason.empty()) {
        line("host levels", files.stage_reason);
    }
    line("binds", files.disk_binds() ? "the disk: faster products would not help" : "the products");
    if (!files.outer_level_hint.empty()) {
        line("outer levels", files.outer_level_hint);
    }
    return text;
}

}  // namespace heptad::cli
