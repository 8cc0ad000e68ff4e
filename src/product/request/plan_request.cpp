// What a request would do with matrices of a size. Files are not looked at, and nothing is multiplied.
#include "base/fail_if.hpp"
#include "base/matrix.hpp"
#include "base/quantity_text.hpp"
#include "base/size.hpp"
#include "check/streamed_check.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/device_product.hpp"
#include "product/device/over_devices.hpp"
#include "product/request/bits_on_device.hpp"
#include "product/request/file_stage.hpp"
#include "product/request/memory_limits.hpp"
#include "product/request/outer_levels.hpp"
#include "product/request/request_plan.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kDirectBlock_bytes = 512;
constexpr std::int64_t kHeader_bytes = 4096;

bool is_bit(Type type) {
    return type == Type::gf2 || type == Type::boolean;
}

FileProblem problem_of(const Request& request, const ProblemSize& size) {
    const Type type = request.type.value_or(Type::f32);
    const bool packed = is_bit(type);
    const auto element = static_cast<std::int64_t>(element_bytes(type));
    const auto layout = [&](std::int64_t rows, std::int64_t cols) {
        matrix_bytes(type, rows, cols);  // refuses what 64 bits cannot count
        FileLayout file{rows, cols, element, false, kHeader_bytes, kDirectBlock_bytes};
        file.packed = packed;
        return file;
    };
    const auto operand = [&](std::int64_t rows, std::int64_t cols, bool transpose, bool raw) {
        FileLayout file = transpose ? transposed(layout(cols, rows)) : layout(rows, cols);
        file.data_offset = raw ? 0 : file.data_offset;
        file.block_bytes = packed && transpose ? 1 : file.block_bytes;  // turned on the way, in short spans
        return file;
    };
    return {size.m,
            size.k,
            size.n,
            type,
            request.beta != 0.0,
            file_memory_bytes(request),
            operand(size.m, size.k, request.transpose_a, request.raw_a.has_value()),
            operand(size.k, size.n, request.transpose_b, request.raw_b.has_value()),
            layout(size.m, size.n),
            request.verify ? StreamedCheck::line_bytes(type) : 0};
}

/// From file to file, as multiply_request() would make it.
RequestPlan plan_by_files(const Request& request, const ProblemSize& size, std::optional<double> disk_bytes_per_s) {
    FileRequestPlan files;
    files.problem = problem_of(request, size);
    FileProblem& problem = files.problem;
    const bool packed = problem.a.packed;
    if (packed) {
        refuse_outer_levels(request, "these are packed bits");
    }
    const OuterLevels outer = outer_levels(request, problem.type);
    const StageDecision decision =
        packed ? StageDecision{bit_stage_products(request, problem.type), ""} : decide_stage(request, problem);
    static_cast<FileLaunch&>(files) = plan_file_product(problem, decision.stage, outer);
    files.plan = plan_steps(problem, files, decision.stage);
    files.disk = disk_bytes_per_s ? DiskRates{*disk_bytes_per_s, *disk_bytes_per_s, false} : measure_disk();
    problem.read_bytes_per_s = files.disk.read_bytes_per_s;
    problem.write_bytes_per_s = files.disk.write_bytes_per_s;
    if (files.layers) {
        set_disk_rates(*files.layers, files.disk.read_bytes_per_s, files.disk.write_bytes_per_s);
    }
    files.plan.predicted_s = predicted_wall_s(problem, files);
    if (!files.layers) {
        files.stage_reason = decision.reason;
        files.outer_level_hint = outer_level_hint(request, problem, files, decision.stage);
    }
    files.read_s = static_cast<double>(files.read_bytes()) / files.disk.read_bytes_per_s;
    files.write_s = static_cast<double>(files.written_bytes()) / files.disk.write_bytes_per_s;
    if (!request.overlap.value_or(true)) {  // in turn
        files.plan.predicted_s = files.read_s + files.multiply_s() + files.write_s;
    }
    files.wall_s = files.plan.predicted_s;
    RequestPlan plan{problem.type, size, 0, {}, request.options};
    plan.decided = files.plan;
    plan.files = std::move(files);
    return plan;
}

/// With a device, what is free there; without one, the memory of an H200.
RequestPlan plan_bits_for_device(const Request& request, Type algebra, const ProblemSize& size) {
    constexpr std::int64_t kMemoryOfH200 = std::int64_t{139} << 30;
    const int device = bit_device_of(request);
    const cuda::Report found = cuda::report();
    const bool there = found.available && static_cast<std::size_t>(device) < found.devices.size();
    const std::int64_t memory = request.memory_bytes.value_or(
        there ? found.devices[static_cast<std::size_t>(device)].free_bytes : kMemoryOfH200);
    RequestPlan plan{algebra, size,         bit_device_operand_bytes(size, request), {}, request.options,
                     device,  request.count};
    fail_if(plan.operand_bytes >= memory, ErrorCode::resource,
            "the matrices take {} ({} bytes) on the device, of {} ({} bytes)", format_bytes(plan.operand_bytes),
            plan.operand_bytes, format_bytes(memory), memory);
    plan.decided = plan_bits_on_device(request, algebra, size, memory - plan.operand_bytes);
    plan.machine = there ? found.devices[static_cast<std::size_t>(device)].name : "NVIDIA H200 (assumed)";
    return plan;
}

RequestPlan plan_bits(const Request& request, Type algebra, const ProblemSize& size,
                      std::optional<double> disk_bytes_per_s) {
    require_whole_count(request);
    RequestPlan plan{algebra, size, bit_bytes(size), {}, request.options};
    const auto fits = [&](std::int64_t bytes) { return request.memory_bytes.value_or(bytes) >= bytes; };
    if (!fits(plan.operand_bytes) && !request.count) {
        return plan_by_files(request, size, disk_bytes_per_s);
    }
    if (bits_go_to_device(request, size)) {
        return plan_bits_for_device(request, algebra, size);
    }
    require_no_count(request);
    if (bits_go_over_devices(request, size)) {
        bits::BitOptions options = bit_options(request);
        if (request.memory_bytes) {
            options.host.host_memory_bytes = workspace_after(plan.operand_bytes, request);
        }
        const ProductContext context{.threads = request.threads};
        plan.decide(make_bit_plan_over_devices(algebra, size, request.beta != 0.0, options, context));
        return plan;
    }
    ProductPlan whole = fitting_bit_plan(
        algebra, size, request, request.memory_bytes ? 0 : planned_workspace_limit(plan.operand_bytes, request));
    if (!fits(checked_add(plan.operand_bytes, whole.workspace_bytes))) {
        return plan_by_files(request, size, disk_bytes_per_s);
    }
    plan.decided = std::move(whole);
    return plan;
}

}  // namespace

RequestPlan plan_request(const Request& request, const ProblemSize& size, bool by_files,
                         std::optional<double> disk_bytes_per_s) {
    if (by_files) {
        return plan_by_files(request, size, disk_bytes_per_s);
    }
    const Type type = request.type.value_or(Type::f32);
    if (const std::optional<Type> algebra = packed_algebra(type, request)) {
        refuse_outer_levels(request, "these are packed bits");
        return plan_bits(request, *algebra, size, disk_bytes_per_s);
    }
    fail_if(request.count, ErrorCode::usage,
            "--count is for matrices of bits; use --type gf2 or --type bool and --device cuda");
    const std::int64_t c_bytes = matrix_bytes(type, size.m, size.n);
    const OperandFacts facts{type, size, matrix_bytes(type, size.m, size.k), matrix_bytes(type, size.k, size.n),
                             c_bytes};
    const std::int64_t operand_bytes = facts.bytes(request.beta != 0.0 && request.verify);
    // Bits, one to a byte, are multiplied in memory only.
    if (request.memory_bytes.value_or(operand_bytes) < operand_bytes && !is_bit(type)) {
        return plan_by_files(request, size, disk_bytes_per_s);
    }
    refuse_outer_levels(request, "this product is made in memory, which --memory or --files would change");
    return decide_numbers(request, facts, operand_bytes, false);
}

}  // namespace heptad
