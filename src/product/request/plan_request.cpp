// What a request would do with matrices of a size. Files are not looked at, and nothing is multiplied.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/fail_if.hpp"
#include "base/matrix.hpp"
#include "base/size.hpp"
#include "base/timing.hpp"
#include "check/streamed_check.hpp"
#include "io/matrix_file.hpp"
#include "product/request/file_stage.hpp"
#include "product/request/memory_limits.hpp"
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
    return {.m = size.m,
            .k = size.k,
            .n = size.n,
            .type = type,
            .adds = request.beta != 0.0,
            .memory_bytes = file_memory_bytes(request),
            .a = operand(size.m, size.k, request.transpose_a, request.raw_a.has_value()),
            .b = operand(size.k, size.n, request.transpose_b, request.raw_b.has_value()),
            .c = layout(size.m, size.n),
            .line_bytes = request.verify ? StreamedCheck::line_bytes(type) : 0,
            .whole_k = takes_whole_k(request.options.accuracy, type)};
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

RequestPlan plan_bits(const Request& request, const OperandFacts& facts, std::optional<double> disk_bytes_per_s) {
    require_whole_count(request);
    const auto fits = [&](std::int64_t bytes) { return request.memory_bytes.value_or(bytes) >= bytes; };
    if (!fits(facts.bytes) && !request.count) {
        return plan_by_files(request, facts.size, disk_bytes_per_s);
    }
    if (bits_go_to_device(request, facts)) {
        return decide_bits_on_device(request, facts, false);
    }
    require_no_count(request);
    RequestPlan plan = decide_bits(request, facts, false);
    if (!plan.over && !fits(checked_add(facts.bytes, plan.decided.workspace_bytes))) {
        return plan_by_files(request, facts.size, disk_bytes_per_s);
    }
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
        return plan_bits(request, operand_facts(size, *algebra, true), disk_bytes_per_s);
    }
    fail_if(request.count, ErrorCode::usage,
            "--count is for matrices of bits; use --type gf2 or --type bool and --device cuda");
    const OperandFacts facts = operand_facts(size, type, false);
    const std::int64_t operand_bytes = facts.bytes_of(request);
    // Bits, one to a byte, are multiplied in memory only.
    if (request.memory_bytes.value_or(operand_bytes) < operand_bytes && !is_bit(type)) {
        return plan_by_files(request, size, disk_bytes_per_s);
    }
    refuse_outer_levels(request, "this product is made in memory, which --memory or --files would change");
    return decide_numbers(request, facts, false);
}

DiskRates measure_disk() {
    constexpr std::int64_t kFile_bytes = std::int64_t{256} << 20;
    std::string path = "./.heptad-disk-XXXXXX";
    const Descriptor made(::mkstemp(path.data()));
    fail_if(made.get() < 0, ErrorCode::input,
            "this folder cannot be written, so its disk cannot be measured; give its rate with --disk 2G");
    Descriptor direct(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_DIRECT));
    ::unlink(path.c_str());
    const bool is_direct = direct.get() >= 0 && direct_block_bytes(direct.get()) > 1;
    const int file = is_direct ? direct.get() : made.get();
    const PageBuffer buffer(kFile_bytes);
    for (std::int64_t i = 0; i < kFile_bytes; i += 8) {  // nothing a disk could compress
        const auto word = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U;
        std::copy_n(reinterpret_cast<const std::byte*>(&word), 8, buffer.data() + i);
    }
    const auto queue = make_io_queue("auto");
    const FileLayout layout{kFile_bytes >> 10, 1 << 10, 1, false, 0, is_direct ? kDirectBlock_bytes : 1};
    const FileWindow all{0, layout.rows, 0, layout.cols};
    const IoTarget target{file, layout.block_bytes, path};
    const std::vector<IoPiece> pieces = window_pieces(layout, all, buffer.data(), layout.pitch_bytes());
    DiskRates rates{0, 0, true};
    const auto before_write = Clock::now();
    queue->write(target, pieces);
    ::fdatasync(file);
    rates.write_bytes_per_s = static_cast<double>(kFile_bytes) / seconds_since(before_write);
    const auto before_read = Clock::now();
    queue->read(target, pieces);
    rates.read_bytes_per_s = static_cast<double>(kFile_bytes) / seconds_since(before_read);
    return rates;
}

}  // namespace heptad
