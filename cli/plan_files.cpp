// heptad plan M K N --files: what a product from file to file would move and take, and which stage would bind.
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/timing.hpp"
#include "check/streamed_check.hpp"
#include "io/matrix_file.hpp"
#include "mul_files.hpp"
#include "operands.hpp"
#include "output.hpp"
#include "plan/search/stage_choice.hpp"
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

DiskRates disk_rates(const PlanArguments& arguments) {
    return arguments.disk_bytes_per_s ? DiskRates{*arguments.disk_bytes_per_s, *arguments.disk_bytes_per_s, false}
                                      : measure_disk();
}

std::string disk_text(const DiskRates& rates) {
    return fmt::format("{:.3g} GB/s read, {:.3g} GB/s written, {}", rates.read_bytes_per_s / 1e9,
                       rates.write_bytes_per_s / 1e9, rates.measured ? "measured here" : "as given");
}

std::string bound_text(double error_bound) {
    return error_bound > 0 ? fmt::format("{:.3g} * max|A| * max|B|", error_bound) : "0 (exact)";
}

std::string plan_line(const std::string& what, const std::string& value) {
    return fmt::format("# {:<15} {}\n", what, value);
}

/// With outer levels through files.
void print_layers(const PlanArguments& arguments, const FileProblem& problem, const OuterLevels& outer) {
    const StageProducts stage = decide_stage(arguments.product, problem).stage;
    FileLayers layers = plan_layered_product(problem, outer, stage);  // as mul would make it
    const PlannedSteps steps = plan_steps(layers, stage);
    const DiskRates rates = disk_rates(arguments);
    set_disk_rates(layers, rates.read_bytes_per_s, rates.write_bytes_per_s);
    const double read_s = static_cast<double>(layers.read_bytes()) / rates.read_bytes_per_s;
    const double write_s = static_cast<double>(layers.all_written_bytes()) / rates.write_bytes_per_s;
    const double wall_s = arguments.overlap ? predicted_wall_s(layers) : read_s + layers.multiply_s() + write_s;
    const char* const binds = layers.multiply_s() >= read_s + write_s ? "multiply" : "disk";
    if (arguments.product.json) {
        nlohmann::ordered_json object{{"m", problem.m},
                                      {"k", problem.k},
                                      {"n", problem.n},
                                      {"type", type_name(problem.type)},
                                      {"workspace_bytes", layers.part_plan.workspace_bytes},
                                      {"predicted_s", wall_s},
                                      {"error_bound", steps.error_bound},
                                      {"plan", to_string(steps.largest)},
                                      {"file_plan", to_string(layers.part_plan)},
                                      {"outer_levels", to_json(layers)},
                                      {"read_c0_bytes", layers.read_c0_bytes},
                                      {"written_bytes", layers.written_bytes},
                                      {"moved_bytes", layers.moved_bytes()},
                                      {"memory_bytes", problem.memory_bytes},
                                      {"used_bytes", layers.used_bytes()},
                                      {"read_s", read_s},
                                      {"multiply_s", layers.multiply_s()},
                                      {"write_s", write_s},
                                      {"last_pass_s", last_pass_s(layers)},
                                      {"wall_s", wall_s},
                                      {"binds", binds}};
        print(object);
        return;
    }
    std::string text = to_string(layers.part_plan) + "\n";
    text += plan_line("outer levels", fmt::format("{}: {} products like the one above, of sums of blocks",
                                                  to_string(layers), layers.products()));
    text += plan_line("scratch",
                      fmt::format("{} beside the result, until it is complete", format_bytes(layers.scratch_bytes())));
    text += plan_line(
        "memory", fmt::format("{} of {}: a product {}, sums {}; the last pass {}", format_bytes(layers.used_bytes()),
                              format_bytes(problem.memory_bytes), format_bytes(layers.part_plan.used_bytes()),
                              format_bytes(layers.a.bounce_bytes), format_bytes(layers.band_bytes)));
    text += plan_line(
        "DR",
        fmt::format("{} (A {}, B {}, products {}, C0 {}{}), {}", format_bytes(layers.read_bytes()),
                    format_bytes(layers.read_a_bytes), format_bytes(layers.read_b_bytes),
                    format_bytes(layers.products_read_bytes), format_bytes(layers.read_c0_bytes),
                    layers.check_read_bytes > 0 ? ", both again to check " + format_bytes(layers.check_read_bytes) : "",
                    format_seconds(read_s)));
    text += plan_line("MM", format_seconds(layers.multiply_s()));
    text += plan_line("DW", fmt::format("{} (products {}, C {}), {}", format_bytes(layers.all_written_bytes()),
                                        format_bytes(layers.products_written_bytes), format_bytes(layers.written_bytes),
                                        format_seconds(write_s)));
    text += plan_line("last pass", format_seconds(last_pass_s(layers)));
    text += plan_line("whole run", format_seconds(wall_s));
    text += plan_line("moved", fmt::format("{}; best cut without outer levels {}", format_bytes(layers.moved_bytes()),
                                           format_bytes(reference_bytes(problem))));
    text += plan_line("disk", disk_text(rates));
    text += plan_line("error bound", bound_text(steps.error_bound));
    text += plan_line("binds", std::string(binds) == "disk" ? "the disk: outer levels do not help" : "the products");
    print(text);
}

}  // namespace

void run_files(const PlanArguments& arguments) {
    FileProblem problem = problem_of(arguments);
    const ProductOptions& product = arguments.product;
    if (problem.a.packed) {
        refuse_outer_levels(product, "these are packed bits");
    }
    if (const OuterLevels outer = outer_levels(product, problem.type); outer.levels > 0) {
        print_layers(arguments, problem, outer);
        return;
    }
    const StageDecision decision = problem.a.packed ? StageDecision{bit_stage_products(product, problem.type), ""}
                                                    : decide_stage(product, problem);
    const StageProducts& stage = decision.stage;
    const FilePlan plan = plan_file_product(problem, stage);  // as mul would make it
    const DiskRates rates = disk_rates(arguments);
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
    const std::string hint = outer_level_hint(product, problem, plan, stage);
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
                                     {"outer_level_hint", hint},
                                     {"binds", binds_disk ? "disk" : "multiply"}});
        return;
    }
    std::string text = to_string(plan) + "\n";
    const auto line = [&](const std::string& what, const std::string& value) { text += plan_line(what, value); };
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
    line("disk", disk_text(rates));
    if (!decision.reason.empty()) {
        line("host levels", decision.reason);
    }
    line("error bound", bound_text(steps.error_bound));
    line("binds", binds_disk ? "the disk: faster products would not help" : "the products");
    if (!hint.empty()) {
        line("outer levels", hint);
    }
    print(text);
}

}  // namespace heptad::cli
