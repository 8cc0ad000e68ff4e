#include "product/request/routes.hpp"

#include <fmt/format.h>

#include "base/fail_if.hpp"
#include "base/free_memory.hpp"
#include "base/quantity_text.hpp"
#include "io/bit_file.hpp"
#include "io/journal.hpp"
#include "io/npy.hpp"
#include "io/partial_file.hpp"
#include "io/whole_matrix.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/device_product.hpp"
#include "product/request/file_stage.hpp"
#include "product/request/memory_limits.hpp"
#include "product/request/trace_file.hpp"

namespace heptad {
namespace {

/// All but the names of the matrices.
FileProductRequest nameless_request(const Request& request) {
    FileProductRequest files;
    files.transpose_a = request.transpose_a;
    files.transpose_b = request.transpose_b;
    files.conjugate_a = request.conjugate_a;
    files.conjugate_b = request.conjugate_b;
    files.alpha = request.alpha;
    files.beta = request.beta;
    files.output = request.output;
    files.memory_bytes = file_memory_bytes(request);
    files.resume = request.resume;
    files.overlap = request.overlap.value_or(true);
    files.verify = request.verify;
    files.accuracy = request.options.accuracy;
    return files;
}

/// Known before the product, which may take hours, that the timeline can be written and replaces no matrix.
void check_trace_file(const std::string& trace, const FileProductRequest& files) {
    const std::string output = place_of(files.output);  // links followed, as the product does
    std::vector<std::string> taken = OutputNames{files.output, output, {}}.beside();
    taken.insert(taken.end(), {find_matrix(files.a).path, find_matrix(files.b).path, output});
    if (files.c0) {
        taken.push_back(find_matrix(*files.c0).path);
    }
    require_trace_file(trace, taken);
}

void tell_of_outer_levels(const Request& request, const FileProblem& problem, const StageProducts& stage,
                          const RequestHooks& hooks) {
    if (problem.a.packed || stage.open_device || !hooks.tell) {
        return;
    }
    const std::string hint = outer_level_hint(request, problem, plan_file_product(problem, stage), stage);
    if (!hint.empty()) {
        hooks.tell(hint);
    }
}

Report carry_out(const Request& request, const FileProductRequest& files, const StageProducts& stage,
                 const RequestHooks& hooks) {
    const bool traces = !request.trace_file.empty();
    if (traces) {
        check_trace_file(request.trace_file, files);
    }
    StageTrace trace(traces);
    const FileProblem problem = file_problem(files);
    Report report;
    report.plan.type = problem.type;
    report.plan.size = {problem.m, problem.k, problem.n};
    report.plan.options = request.options;
    report.plan.given = request.plan.has_value();
    const double operations = operation_count(report.plan.size, problem.type);
    if (files.outer.levels == 0 && !files.resume && !files.plan && operations > 0) {
        tell_of_outer_levels(request, problem, stage, hooks);
    }
    hooks.begin("multiply", operations, problem.type);
    const FileHooks file_hooks{
        request.threads,
        [&](const Progress& progress) { hooks.update(progress.fraction, stage_rates(trace, problem.type)); },
        hooks.cancel};
    forget_peak_resident();  // planning may have taken more than the run; where that is not allowed, it counts
    report.files = multiply_files(files, stage, file_hooks, trace);
    report.products = report.files->products;
    report.multiply_s = report.files->multiply.busy_s;
    report.verified = report.files->verified;
    hooks.end();
    if (traces) {
        write_text_file(request.trace_file, trace.chrome_json());
    }
    return report;
}

/// The request with what a plan from file to file says, and the plan; the stage is then as it was planned.
std::optional<ProductPlan> take_given_plan(Request& request) {
    if (!request.plan) {
        return std::nullopt;
    }
    const ProductPlan& plan = *request.plan;
    fail_if(!plan.disk, ErrorCode::usage,
            "{} plans a product in memory, and this one goes from file to file; plan it with --files and this --memory",
            request.plan_file);
    Options& options = request.options;
    if (plan.host) {
        options.device = plan.host->devices;
        options.host.levels = plan.host->levels;
        options.host.algorithm = plan.host->levels > 0 ? plan.host->algorithm : "auto";
        options.host.pipelines = plan.host->pipelines;
    } else if (is_device_product(plan.backend)) {
        options.device = cuda::is_device_name(options.device) ? options.device : plan.backend;
    } else if (cuda::is_device_name(options.device)) {
        fail(ErrorCode::usage, "{} is a plan for {}, not for {}; leave --device out, or plan with it",
             request.plan_file, plan.backend, options.device);
    } else if (options.host.levels >= 0 && options.host.levels != plan.disk->levels) {
        fail(ErrorCode::usage, "{} plans {} outer levels; leave --host-levels out, or plan with it", request.plan_file,
             plan.disk->levels);
    } else if (plan.leaf != kAutomaticLeaf && plan.levels.empty()) {
        options.levels = 0;  // for steps at the edges too
    }
    request.threads = plan.threads;
    request.memory_bytes = request.memory_bytes.value_or(plan.disk->memory_bytes);
    return plan;
}

void require_bits_in_pieces(const Request& request, std::int64_t columns) {
    require_writable_format(request.output);
    fail_if(
        !is_written_in_pieces(request.output, request.columns.has_value()), ErrorCode::input,
        "'{}' would hold its bits in a format that only products in memory write, and this product goes from file to "
        "file; name a .pbm file, give --columns {} for a packed .npy file, or give more --memory and leave out "
        "--resume, --trace and --overlap",
        request.output, columns);
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

bool goes_by_files(const Request& request, std::int64_t operand_bytes) {
    return request.resume || request.overlap.has_value() || !request.trace_file.empty() ||
           (request.plan && request.plan->disk) || operand_bytes > memory_limit_bytes(request);
}

Report multiply_by_files(const Request& asked, const OperandFacts& facts, const RequestHooks& hooks) {
    Request request = asked;
    const std::optional<ProductPlan> given = take_given_plan(request);
    facts.packed ? require_bits_in_pieces(request, facts.size.n) : require_npy_name(request.output);
    FileProductRequest files = nameless_request(request);
    const auto name = [&](const std::string& path, const std::optional<RawShape>& raw,
                          std::optional<std::int64_t> columns) {
        return facts.packed ? MatrixName{.path = path, .bits = facts.type, .columns = columns}
                            : name_of(path, request, raw);
    };
    files.a = name(request.a, request.raw_a, facts.columns_a);
    files.b = name(request.b, request.raw_b, facts.columns_b);
    if (request.beta != 0.0) {
        files.c0 = name(request.add, {}, facts.columns_c);
    }
    files.plan = given;
    if (facts.packed) {
        return carry_out(request, files, bit_stage_products(request, facts.type), hooks);
    }
    files.outer = outer_levels(request, find_matrix(files.a).type);
    const std::optional<JournalContents> before =
        request.resume ? read_journal(output_names(request.output).journal()) : std::nullopt;
    // What is free on the device may be another today; the steps stay as they were begun.
    const StageProducts stage = before  ? stage_as_begun(request, !before->header.how.empty())
                                : given ? stage_as_begun(request, given->host.has_value())
                                        : decide_stage(request, file_problem(files)).stage;
    return carry_out(request, files, stage, hooks);
}

}  // namespace heptad
