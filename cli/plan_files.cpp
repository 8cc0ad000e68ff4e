// heptad plan M K N --files: what a product from file to file would move and take, and which stage would bind.
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "file_product.hpp"
#include "operands.hpp"
#include "output.hpp"
#include "place/file/matrix_file.hpp"
#include "place/file/streamed_check.hpp"
#include "plan/stage_choice.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kDirectBlock_bytes = 512;
constexpr std::int64_t kHeader_bytes = 4096;

struct DiskRates {
    double read_bytes_per_s = 0, write_bytes_per_s = 0;
    bool measured = false;
};

/// Writes and reads a file of 256 MiB in the current folder, past the cache where the file system allows it.
DiskRates measure_disk() {
    constexpr std::int64_t kFile_bytes = std::int64_t{256} << 20;
    std::string path = "./.heptad-disk-XXXXXX";
    const Descriptor made(::mkstemp(path.data()));
    if (made.get() < 0) {
        fail(ErrorCode::input,
             "this folder cannot be written, so its disk cannot be measured; say its rate by --disk 2G");
    }
    Descriptor direct(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_DIRECT));
    ::unlink(path.c_str());
    const bool is_direct = direct.get() >= 0 && direct_block_bytes(direct.get()) > 1;
    const int file = is_direct ? direct.get() : made.get();
    const PageBuffer buffer(kFile_bytes);
    for (std::int64_t i = 0; i < kFile_bytes; i += 8) {  // nothing a disk could compress
        const auto word = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U;
        std::copy_n(reinterpret_cast<const std::byte*>(&word), 8, buffer.data() + i);
    }
    const auto queue = make_io_queue("auto", {});
    const FileLayout layout{kFile_bytes >> 10, 1 << 10, 1, false, 0, is_direct ? kDirectBlock_bytes : 1};
    const FileWindow all{0, layout.rows, 0, layout.cols};
    using Clock = std::chrono::steady_clock;
    const auto seconds = [](Clock::time_point from) {
        return std::chrono::duration<double>(Clock::now() - from).count();
    };
    const IoTarget target{file, layout.block_bytes, path};
    const std::vector<IoPiece> pieces = window_pieces(layout, all, buffer.data(), layout.pitch_bytes());
    DiskRates rates{0, 0, true};
    const auto before_write = Clock::now();
    queue->write(target, pieces);
    ::fdatasync(file);
    rates.write_bytes_per_s = static_cast<double>(kFile_bytes) / seconds(before_write);
    const auto before_read = Clock::now();
    queue->read(target, pieces);
    rates.read_bytes_per_s = static_cast<double>(kFile_bytes) / seconds(before_read);
    return rates;
}

FileProblem problem_of(const PlanArguments& arguments) {
    const ProblemSize& size = arguments.size;
    const Type type = arguments.product.type.value_or(Type::f32);
    const bool packed = type == Type::gf2 || type == Type::boolean;
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
    const ProductOptions& product = arguments.product;
    return {size.m,
            size.k,
            size.n,
            type,
            arguments.product.beta != 0,
            file_memory_bytes(arguments.product),
            operand(size.m, size.k, product.transpose_a, product.raw_a.has_value()),
            operand(size.k, size.n, product.transpose_b, product.raw_b.has_value()),
            layout(size.m, size.n),
            arguments.verify ? StreamedCheck::line_bytes(type) : 0};
}

}  // namespace

void run_files(const PlanArguments& arguments) {
    FileProblem problem = problem_of(arguments);
    const ProductOptions& product = arguments.product;
    const StageDecision decision = problem.a.packed ? StageDecision{bit_stage_products(product, problem.type), ""}
                                                    : decide_stage(product, problem);
    const StageProducts& stage = decision.stage;
    const FilePlan plan = plan_file_product(problem, stage);  // as mul would make it
    const DiskRates rates = arguments.disk_bytes_per_s
                                ? DiskRates{*arguments.disk_bytes_per_s, *arguments.disk_bytes_per_s, false}
                                : measure_disk();
    problem.read_bytes_per_s = rates.read_bytes_per_s;
    problem.write_bytes_per_s = rates.write_bytes_per_s;
    const std::int64_t read = plan.read_a_bytes + plan.read_b_bytes + plan.read_c0_bytes;
    const double read_s = static_cast<double>(read) / rates.read_bytes_per_s;
    const double write_s = static_cast<double>(plan.written_bytes) / rates.write_bytes_per_s;
    const double wall_s =
        arguments.overlap ? predicted_wall_s(problem, plan) : read_s + plan.multiply_s + write_s;  // one after another
    const bool binds_disk = disk_binds(problem, plan);
    const std::int64_t lower = lower_bound_bytes(problem), reference = reference_bytes(problem);
    const PlannedSteps steps = plan_steps(problem, plan, stage);
    if (arguments.product.json) {
        print(nlohmann::ordered_json{{"m", problem.m},
                                     {"k", problem.k},
                                     {"n", problem.n},
                                     {"type", type_name(problem.type)},
                                     {"workspace_bytes", plan.workspace_bytes},
                                     {"predicted_s", wall_s},
                                     {"error_bound", steps.error_bound},
                                     {"plan", to_string(steps.largest)},
                                     {"file_plan", to_string(plan)},
                                     {"kept", kept_name(plan.kept)},
                                     {"read_a_bytes", plan.read_a_bytes},
                                     {"read_b_bytes", plan.read_b_bytes},
                                     {"read_c0_bytes", plan.read_c0_bytes},
                                     {"written_bytes", plan.written_bytes},
                                     {"moved_bytes", plan.moved_bytes()},
                                     {"reference_bytes", reference},
                                     {"lower_bound_bytes", lower},
                                     {"memory_bytes", plan.memory_bytes},
                                     {"used_bytes", plan.used_bytes()},
                                     {"read_s", read_s},
                                     {"multiply_s", plan.multiply_s},
                                     {"write_s", write_s},
                                     {"wall_s", wall_s},
                                     {"host_levels", decision.reason},
                                     {"binds", binds_disk ? "disk" : "multiply"}});
        return;
    }
    std::string text = to_string(plan) + "\n";
    const auto line = [&](const std::string& what, const std::string& value) {
        text += fmt::format("# {:<15} {}\n", what, value);
    };
    line("stays in memory", fmt::format("{}, tiles of {} x {}{}", kept_name(plan.kept), plan.tile_m, plan.tile_n,
                                        plan.mirrored ? " (of the transposed product)" : ""));
    line("memory", fmt::format("{} of {}: tiles {}, panels {}, workspace {}", format_bytes(plan.used_bytes()),
                               format_bytes(plan.memory_bytes), format_bytes(plan.tile_bytes),
                               format_bytes(plan.panel_bytes), format_bytes(plan.workspace_bytes)));
    line("DR", fmt::format("{} (A {}, B {}, C0 {}), {}", format_bytes(read), format_bytes(plan.read_a_bytes),
                           format_bytes(plan.read_b_bytes), format_bytes(plan.read_c0_bytes), format_seconds(read_s)));
    line("MM", format_seconds(plan.multiply_s));
    line("DW", fmt::format("{}, {}", format_bytes(plan.written_bytes), format_seconds(write_s)));
    line("whole run", fmt::format("{}, {:.2f} times the stage that binds", format_seconds(wall_s),
                                  wall_s / std::max(plan.multiply_s, read_s + write_s)));
    line("moved", fmt::format("{}; best cut {}, lower bound {} (classical order)", format_bytes(plan.moved_bytes()),
                              format_bytes(reference), format_bytes(lower)));
    line("disk", fmt::format("{:.3g} GB/s read, {:.3g} GB/s written, {}", rates.read_bytes_per_s / 1e9,
                             rates.write_bytes_per_s / 1e9, rates.measured ? "measured here" : "as given"));
    if (!decision.reason.empty()) {
        line("host levels", decision.reason);
    }
    line("error bound",
         steps.error_bound > 0 ? fmt::format("{:.3g} * max|A| * max|B|", steps.error_bound) : "0 (exact)");
    line("binds", binds_disk ? "the disk: faster products would not help" : "the products");
    print(text);
}

}  // namespace heptad::cli
