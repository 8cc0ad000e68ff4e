#include "plan_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "check_result.hpp"
#include "outlook_text.hpp"
#include "output.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

/// Seconds that the disk was busy and that the product took: the larger one is what the run had to wait for.
const char* binding_stage(const FileProductReport& report) {
    const double disk_s = report.read.busy_s + report.write.busy_s;
    return disk_s > report.multiply.busy_s ? "disk" : "multiply";
}

std::string describe_files(const FileProductReport& report, const ProblemSize& size) {
    const ProductPlan& plan = report.plan;
    const double rate = operation_count(size, report.plan.type) / report.wall_s;
    return fmt::format(
        "{} x {} {}{}, {} tile{}{} in {} ({} effective); read {} at {}, multiplied at {}, wrote {} at {}; slowest: {}; "
        "peak memory {}, {} of it before the product began{}",
        size.m, size.n, type_name(plan.type),
        report.layers ? fmt::format(" by {} products of outer levels", report.layers->products()) : "", report.tiles,
        report.tiles == 1 ? "" : "s",
        report.resumed_tiles > 0 ? fmt::format(" ({} of them by an earlier run)", report.resumed_tiles) : "",
        format_seconds(report.wall_s), format_rate(rate, plan.type),
        format_bytes(static_cast<std::int64_t>(report.read.amount)),
        format_byte_rate(report.read.amount, report.read.busy_s),
        format_rate(report.multiply.busy_s > 0 ? report.multiply.amount / report.multiply.busy_s : 0, plan.type),
        format_bytes(static_cast<std::int64_t>(report.write.amount)),
        format_byte_rate(report.write.amount, report.write.busy_s), binding_stage(report),
        format_bytes(report.peak_resident_bytes), format_bytes(report.resident_at_start_bytes),
        remark_on(report.products));
}

/// Below what was done: what to expect of the result.
std::string outlook_lines(const Report& report) {
    const Outlook outlook = report.outlook();
    return fmt::format("{}\n{}\n", expectation_text(outlook), bound_text(outlook.error));
}

/// A journal that was damaged cost tiles, and that is said.
std::string damage_words(const FileProductReport& report) {
    return report.damaged_lines == 0
               ? ""
               : fmt::format("; {} damaged line{} of the journal {} ignored, and that work was done again",
                             report.damaged_lines, report.damaged_lines == 1 ? "" : "s",
                             report.damaged_lines == 1 ? "was" : "were");
}

void print_files(const Report& report, const Request& request, bool json) {
    const FileProductReport& files = *report.files;
    const ProblemSize& size = report.plan.size;
    const std::string consequence = "; " + request.output + " was written";
    if (json) {
        nlohmann::ordered_json object{{"output", request.output}};
        object.update(to_json(files, size));
        object.update(outlook_json(report.outlook()));
        object["verified"] = report.verified && report.verified->passed();
        if (report.verified) {
            object["verification"] = to_json(*report.verified);
            require_passed_in_detail(*report.verified, "the result", consequence, object);
        }
        print(object);
        return;
    }
    print(fmt::format("{}: {}{}{}{}\n{}", visible(request.output), describe_files(files, size),
                      files.no_layers.empty() ? "" : "; " + files.no_layers, damage_words(files),
                      report.verified && report.verified->passed() ? "; " + describe_passed(*report.verified) : "",
                      outlook_lines(report)));
    if (report.verified) {
        require_passed_in_detail(*report.verified, "the result", consequence);
    }
}

/// Where packed bits were multiplied, and by what.
std::string place_of_bits(const RequestPlan& plan) {
    return plan.over ? "over " + plan.decided.host->devices : "leaf " + plan.decided.leaf;
}

nlohmann::ordered_json json_of_numbers(const Report& report, const Request& request, double rate) {
    const RequestPlan& plan = report.plan;
    nlohmann::ordered_json object{{"output", request.output},
                                  {"type", type_name(plan.type)},
                                  {"m", plan.size.m},
                                  {"k", plan.size.k},
                                  {"n", plan.size.n},
                                  {"multiply_s", report.multiply_s},
                                  {"predicted_s", plan.decided.predicted_s},
                                  {"effective_tops", rate / 1e12},
                                  {"levels", plan.levels()},
                                  {"workspace_bytes", plan.decided.workspace_bytes},
                                  {"error_bound", plan.decided.error_bound},
                                  {"plan", to_string(plan.decided)},
                                  {"fell_back", report.products.fell_back},
                                  {"uneven", report.products.uneven},
                                  {"scaled", report.products.scaled},
                                  {"short_numbers", report.products.short_numbers}};
    object.update(outlook_json(report.outlook()));
    return object;
}

nlohmann::ordered_json json_of_bits(const Report& report, const Request& request, double rate) {
    nlohmann::ordered_json object = plan_json(report.plan);
    object["output"] = request.output;
    object["multiply_s"] = report.multiply_s;
    if (report.plan.over && report.plan.over->bound_s() > 0) {
        object["wall_over_bound"] = report.multiply_s / report.plan.over->bound_s();
    }
    object["effective_tops"] = rate / 1e12;
    return object;
}

}  // namespace

nlohmann::ordered_json to_json(const OuterLaunch& layers) {
    return {{"algorithm", layers.outer.algorithm},
            {"levels", layers.outer.levels},
            {"products", layers.products()},
            {"scratch_bytes", layers.scratch_bytes()},
            {"sample_bytes", layers.sample_bytes},
            {"read_a_bytes", layers.read_a_bytes},
            {"read_b_bytes", layers.read_b_bytes},
            {"check_read_bytes", layers.check_read_bytes},
            {"products_written_bytes", layers.products_written_bytes},
            {"products_read_bytes", layers.products_read_bytes}};
}

nlohmann::ordered_json to_json(const FileProductReport& report, const ProblemSize& size) {
    const ProductPlan& plan = report.plan;
    const std::optional<OuterLaunch>& layers = report.layers;
    const auto stage = [](const StageTotal& total) {
        return nlohmann::ordered_json{{"busy_s", total.busy_s}, {"amount", total.amount}};
    };
    return {{"type", type_name(plan.type)},
            {"m", size.m},
            {"k", size.k},
            {"n", size.n},
            {"memory_bytes", plan.disk->memory_bytes},
            {"peak_resident_bytes", report.peak_resident_bytes},
            {"resident_at_start_bytes", report.resident_at_start_bytes},
            {"wall_s", report.wall_s},
            {"multiply_s", report.multiply.busy_s},
            {"effective_tops", operation_count(size, report.plan.type) / report.wall_s / 1e12},
            {"workspace_bytes", plan.workspace_bytes},
            {"tiles", report.tiles},
            {"resumed_tiles", report.resumed_tiles},
            {"damaged_journal_lines", report.damaged_lines},
            {"read_bytes", report.read_bytes()},
            {"written_bytes", report.written_bytes()},
            {"outer_levels", layers ? to_json(*layers) : nlohmann::ordered_json(nullptr)},
            {"outer_levels_given_up", report.no_layers},
            {"fell_back", report.products.fell_back},
            {"uneven", report.products.uneven},
            {"scaled", report.products.scaled},
            {"short_numbers", report.products.short_numbers},
            {"io", report.io},
            {"DR", stage(report.read)},
            {"M2G", stage(report.upload)},
            {"MM", stage(report.multiply)},
            {"G2M", stage(report.download)},
            {"DW", stage(report.write)},
            {"binds", binding_stage(report)},
            {"error_bound", report.error_bound},
            {"file_plan", to_string(plan)},
            {"plan", to_string(plan)}};
}

void print_report(const Report& report, const Request& request, bool json) {
    if (report.files) {
        print_files(report, request, json);
        return;
    }
    const RequestPlan& plan = report.plan;
    const bool packed = is_packed(plan.decided);
    const double rate = operation_count(plan.size, plan.type) / report.multiply_s;
    if (json) {
        nlohmann::ordered_json object =
            packed ? json_of_bits(report, request, rate) : json_of_numbers(report, request, rate);
        object["verified"] = report.verified.has_value();
        if (report.verified) {
            object["verification"] = to_json(*report.verified);
        }
        print(object);
        return;
    }
    const bool bits_on_device = packed && plan.device >= 0;
    print(fmt::format("{}: {} x {} {}{}, multiplied in {} ({} effective{}, {} level{}{}, workspace {}){}{}\n{}",
                      visible(request.output), plan.size.m, plan.size.n, plan.count ? "counts" : type_name(plan.type),
                      bits_on_device ? fmt::format(" on cuda:{}", plan.device) : "", format_seconds(report.multiply_s),
                      format_rate(rate, plan.type), bits_on_device ? ", transfers included" : "", plan.levels(),
                      plan.levels() == 1 ? "" : "s", packed ? ", " + place_of_bits(plan) : "",
                      format_bytes(plan.decided.workspace_bytes),
                      report.verified ? ", " + describe_passed(*report.verified) : "", remark_on(report.products),
                      outlook_lines(report)));
}

}  // namespace heptad::cli
