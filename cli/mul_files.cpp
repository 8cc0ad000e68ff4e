// heptad mul from file to file: A and B are read piece by piece, C is written piece by piece, in --memory.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "check_result.hpp"
#include "interrupt.hpp"
#include "io/bit_file.hpp"
#include "io/journal.hpp"
#include "io/matrix_source.hpp"
#include "io/matrix_write.hpp"
#include "io/npy.hpp"
#include "io/partial_file.hpp"
#include "move/resident_memory.hpp"
#include "mul_files.hpp"
#include "operands.hpp"
#include "output.hpp"
#include "text.hpp"
#include "trace_file.hpp"

namespace heptad::cli {
namespace {

std::string format_byte_rate(double bytes, double seconds) {
    return seconds > 0 ? fmt::format("{:.3g} GB/s", bytes / seconds / 1e9) : "-";
}

/// All but the names of the matrices.
FileProductRequest nameless_request(const MulArguments& mul) {
    const ProductOptions& product = mul.product;
    FileProductRequest request;
    request.transpose_a = product.transpose_a;
    request.transpose_b = product.transpose_b;
    request.alpha = product.alpha;
    request.beta = product.beta;
    request.output = mul.output;
    request.memory_bytes = file_memory_bytes(product);
    request.resume = mul.resume;
    request.overlap = mul.overlap.value_or(true);
    request.verify = mul.verify;
    request.accuracy = product.options.accuracy;
    return request;
}

FileProductRequest request_of(const MulArguments& mul) {
    const ProductOptions& product = mul.product;
    FileProductRequest request = nameless_request(mul);
    request.a = name_of(mul.a, product, product.raw_a);
    request.b = name_of(mul.b, product, product.raw_b);
    if (product.beta != 0) {
        request.c0 = name_of(product.add, product, {});
    }
    return request;
}

FileProductRequest bit_request_of(const MulArguments& mul, Type algebra, const BitFacts& facts) {
    const auto name = [&](const std::string& path, std::optional<std::int64_t> columns) {
        return MatrixName{.path = path, .bits = algebra, .columns = columns};
    };
    FileProductRequest request = nameless_request(mul);
    request.a = name(mul.a, facts.columns_a);
    request.b = name(mul.b, facts.columns_b);
    if (mul.product.beta != 0) {
        request.c0 = name(mul.product.add, facts.columns_c);
    }
    return request;
}

/// Known before the product, which may take hours, that the timeline can be written and replaces no matrix.
void check_trace_file(const std::string& trace, const FileProductRequest& request) {
    const std::string output = place_of(request.output);  // links followed, as the product does
    std::vector<std::string> taken = OutputNames{request.output, output, {}}.beside();
    taken.insert(taken.end(), {find_matrix(request.a).path, find_matrix(request.b).path, output});
    if (request.c0) {
        taken.push_back(find_matrix(*request.c0).path);
    }
    require_trace_file(trace, taken);
}

/// Seconds that the disk was busy and that the product took: the larger one is what the run had to wait for.
const char* binding_stage(const FileProductReport& report) {
    const double disk_s = report.read.busy_s + report.write.busy_s;
    return disk_s > report.multiply.busy_s ? "disk" : "multiply";
}

}  // namespace

std::string stage_rates(const StageTrace& trace, Type type) {
    std::string text;
    for (const Stage stage : kStages) {
        const StageTotal total = trace.total(stage);
        if (total.busy_s > 0) {
            text += fmt::format("{}{} {}", text.empty() ? "" : "  ", stage_name(stage),
                                stage == Stage::multiply ? format_rate(total.amount / total.busy_s, type)
                                                         : format_byte_rate(total.amount, total.busy_s));
        }
    }
    return text;
}

bool goes_by_files(const MulArguments& mul, std::int64_t operand_bytes) {
    return mul.resume || mul.overlap.has_value() || !mul.trace_file.empty() ||
           operand_bytes > memory_limit_bytes(mul.product);
}

nlohmann::ordered_json to_json(const FileLayers& layers) {
    return {{"algorithm", layers.outer.algorithm},
            {"levels", layers.outer.levels},
            {"products", layers.products()},
            {"scratch_bytes", layers.scratch_bytes()},
            {"read_a_bytes", layers.read_a_bytes},
            {"read_b_bytes", layers.read_b_bytes},
            {"check_read_bytes", layers.check_read_bytes},
            {"products_written_bytes", layers.products_written_bytes},
            {"products_read_bytes", layers.products_read_bytes}};
}

nlohmann::ordered_json to_json(const FileProductReport& report, const ProblemSize& size) {
    const FilePlan& plan = report.plan;
    const std::optional<FileLayers>& layers = report.layers;
    const auto stage = [](const StageTotal& total) {
        return nlohmann::ordered_json{{"busy_s", total.busy_s}, {"amount", total.amount}};
    };
    return {{"type", type_name(plan.type)},
            {"m", size.m},
            {"k", size.k},
            {"n", size.n},
            {"memory_bytes", layers ? layers->whole.memory_bytes : plan.memory_bytes},
            {"peak_resident_bytes", report.peak_resident_bytes},
            {"resident_at_start_bytes", report.resident_at_start_bytes},
            {"wall_s", report.wall_s},
            {"multiply_s", report.multiply.busy_s},
            {"effective_tops", operation_count(size) / report.wall_s / 1e12},
            {"workspace_bytes", plan.workspace_bytes},
            {"tiles", report.tiles},
            {"resumed_tiles", report.resumed_tiles},
            {"damaged_journal_lines", report.damaged_lines},
            {"read_bytes", layers ? layers->read_bytes() : plan.read_a_bytes + plan.read_b_bytes + plan.read_c0_bytes},
            {"written_bytes", layers ? layers->all_written_bytes() : plan.written_bytes},
            {"outer_levels", layers ? to_json(*layers) : nlohmann::ordered_json(nullptr)},
            {"outer_levels_given_up", report.no_layers},
            {"fell_back", report.products.fell_back},
            {"uneven", report.products.uneven},
            {"io", report.io},
            {"DR", stage(report.read)},
            {"M2G", stage(report.upload)},
            {"MM", stage(report.multiply)},
            {"G2M", stage(report.download)},
            {"DW", stage(report.write)},
            {"binds", binding_stage(report)},
            {"error_bound", report.error_bound},
            {"file_plan", to_string(plan)},
            {"plan", to_string(report.product)}};
}

std::string describe(const FileProductReport& report, const ProblemSize& size) {
    const FilePlan& plan = report.plan;
    const double rate = operation_count(size) / report.wall_s;
    return fmt::format(
        "{} x {} {}{}, {} tiles{} in {} ({} effective); read {} at {}, multiplied at {}, wrote {} at {}; {} binds; "
        "peak "
        "{}, {} of it before the first buffer{}",
        size.m, size.n, type_name(plan.type),
        report.layers ? fmt::format(" by {} products of outer levels", report.layers->products()) : "", report.tiles,
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

namespace {

/// On standard error, like the progress of the run.
void tell_of_outer_levels(const ProductOptions& product, const FileProblem& problem, const StageProducts& stage) {
    if (problem.a.packed || stage.open_device) {
        return;
    }
    const std::string hint = outer_level_hint(product, problem, plan_file_product(problem, stage), stage);
    if (!hint.empty()) {
        fmt::print(stderr, "{}\n", hint);
    }
}

/// A journal that was damaged cost tiles, and that is said.
std::string damage_words(const FileProductReport& report) {
    return report.damaged_lines == 0
               ? ""
               : fmt::format("; {} damaged line{} of the journal {} not believed, and what they told of was made again",
                             report.damaged_lines, report.damaged_lines == 1 ? "" : "s",
                             report.damaged_lines == 1 ? "was" : "were");
}

void run_request(const MulArguments& mul, const FileProductRequest& request, const StageProducts& stage) {
    const ProductOptions& product = mul.product;
    if (!mul.trace_file.empty()) {
        check_trace_file(mul.trace_file, request);
    }
    StageTrace trace(!mul.trace_file.empty());
    ProgressMeter meter;
    const FileProblem problem = file_problem(request);
    const ProblemSize size{problem.m, problem.k, problem.n};
    if (request.outer.levels == 0 && !request.resume && operation_count(size) > 0) {
        tell_of_outer_levels(product, problem, stage);
    }
    meter.begin("multiply", operation_count(size), problem.type);
    FileHooks hooks;
    hooks.threads = product.threads;
    hooks.cancel = interrupt_token();
    hooks.progress = [&](const Progress& progress) {
        meter.update(progress.fraction, stage_rates(trace, problem.type));
    };
    forget_peak_resident();  // planning may have taken more than the run; where that is not allowed, it counts
    const FileProductReport report = multiply_files(request, stage, hooks, trace);
    meter.clear();
    if (!mul.trace_file.empty()) {
        write_text_file(mul.trace_file, trace.chrome_json());
    }
    const std::string consequence = "; " + mul.output + " was written";
    if (product.json) {
        nlohmann::ordered_json object{{"output", mul.output}};
        object.update(to_json(report, size));
        object["verified"] = report.verified && report.verified->passed();
        if (report.verified) {
            object["verification"] = to_json(*report.verified);
            require_passed(*report.verified, "the result", consequence, object);
        }
        print(object);
        return;
    }
    print(fmt::format("{}: {}{}{}{}\n", visible(mul.output), describe(report, size),
                      report.no_layers.empty() ? "" : "; " + report.no_layers, damage_words(report),
                      report.verified && report.verified->passed() ? "; " + describe_passed(*report.verified) : ""));
    if (report.verified) {
        require_passed(*report.verified, "the result", consequence);
    }
}

void refuse_plan_file(const MulArguments& mul) {
    if (!mul.plan_file.empty()) {
        fail(ErrorCode::usage, "--plan is for products in memory; from file to file the plan follows from --memory");
    }
}

}  // namespace

void run_files(const MulArguments& mul) {
    refuse_plan_file(mul);
    require_npy_name(mul.output);
    FileProductRequest request = request_of(mul);
    request.outer = outer_levels(mul.product, find_matrix(request.a).type);
    const std::optional<JournalContents> before =
        mul.resume ? read_journal(output_names(mul.output).journal()) : std::nullopt;
    // What is free on the device may be another today; the steps stay as they were begun.
    run_request(mul, request,
                before ? stage_as_begun(mul.product, !before->header.how.empty())
                       : decide_stage(mul.product, file_problem(request)).stage);
}

void run_bit_files(const MulArguments& mul, Type algebra, const BitFacts& facts) {
    refuse_plan_file(mul);
    require_writable_format(mul.output);
    if (!is_written_in_pieces(mul.output, mul.product.columns.has_value())) {
        fail(ErrorCode::input,
             "'{}' would hold its bits in a way that is written in memory only, and this product goes from file to "
             "file; name a .pbm file, give --columns {} for a packed .npy file, or give more --memory and leave out "
             "--resume, --trace and --overlap",
             mul.output, facts.size.n);
    }
    run_request(mul, bit_request_of(mul, algebra, facts), bit_stage_products(mul.product, algebra));
}

}  // namespace heptad::cli
