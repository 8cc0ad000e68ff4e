#include "plan/search/file_layers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithm/catalogue.hpp"
#include "base/evenness_facts.hpp"
#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "base/types.hpp"
#include "plan/model/level_trial.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kPage_bytes = 4096;
constexpr std::int64_t kLayerLine_bytes = 64;
constexpr std::int64_t kBouncesInMemory = 32;
constexpr std::int64_t kMostBounce_bytes = std::int64_t{64} << 20;  // longer reads are hardly faster
constexpr std::int64_t kMostBands_bytes = std::int64_t{384} << 20;  // nor are higher bands
constexpr std::int64_t kLayerDirectSpan_bytes = 4096;  // shorter ones are better left to the system's cache
constexpr double kLayerWideningAllowed = 1.01;         // direct I/O is given up where whole blocks move more than that

/// Memory that a line of a window takes on its way, wherever in a block of the file it begins.
std::int64_t line_room(const FileLayout& layout, std::int64_t positions) {
    const std::int64_t unit = std::max(layout.block_bytes, kLayerLine_bytes);
    return round_up(layout.bytes_of(positions), unit) + unit;
}

std::vector<std::vector<Term<BlockPlace>>> sums_of(const HostLayer& layer, bool left) {
    std::vector<std::vector<Term<BlockPlace>>> sums;
    for (const BlockProduct& product : layer.instances) {
        sums.push_back(left ? placed(product.left, layer.grid.k) : placed(product.right, layer.grid.n));
    }
    return sums;
}

/// As a file of its own would lie, read through the cache: its lines begin in a block as those of the file do.
FileLayout block_layout(const FileLayout& file, std::int64_t rows, std::int64_t cols) {
    FileLayout layout = file;
    layout.rows = rows;
    layout.cols = cols;
    layout.block_bytes = 1;
    return layout;
}

std::int64_t bounce_bytes(const FileProblem& problem, const BlockedOperand& a, const BlockedOperand& b) {
    std::int64_t least = 0;
    for (const BlockedOperand* operand : {&a, &b}) {
        const std::int64_t positions = operand->file.by_columns ? operand->block_rows : operand->block_cols;
        least = std::max(least, line_room(operand->file, positions));
    }
    return std::max(round_up(least, kPage_bytes), std::min(problem.memory_bytes / kBouncesInMemory, kMostBounce_bytes));
}

OuterLaunch cut_into_blocks(const FileProblem& problem, const OuterLevels& outer) {
    fail_if(problem.a.packed || problem.type == Type::bf16 || problem.type == Type::f16, ErrorCode::usage,
            "outer levels through files are for f32, f64, tf32, i32 and i64, not for {}; leave --host-levels out",
            type_name(problem.type));
    OuterLaunch layers;
    layers.outer = outer;
    layers.whole = problem;
    layers.layer = algorithm_layer(outer.algorithm, outer.levels, problem.type);
    const BlockGrid& grid = layers.layer.grid;
    const std::int64_t m = ceil_div(problem.m, grid.m), k = ceil_div(problem.k, grid.k),
                       n = ceil_div(problem.n, grid.n);
    layers.a = {problem.a, m, k, sums_of(layers.layer, true)};
    layers.b = {problem.b, k, n, sums_of(layers.layer, false)};
    layers.a.bounce_bytes = layers.b.bounce_bytes = bounce_bytes(problem, layers.a, layers.b);
    FileProblem& part = layers.part;
    part = problem;
    part.m = m;
    part.k = k;
    part.n = n;
    part.adds = false;
    part.line_bytes = 0;  // the products are not checked, C is
    part.memory_bytes = problem.memory_bytes - layers.a.bounce_bytes;
    part.a = block_layout(problem.a, m, k);
    part.b = block_layout(problem.b, k, n);
    part.c = block_layout(problem.c, m, n);
    part.c.data_offset = 0;
    part.c.block_bytes = problem.c.block_bytes;
    part.by_time = true;  // bytes are paid with outer levels anyway; what they gain is time
    set_disk_rates(layers, problem.read_bytes_per_s, problem.write_bytes_per_s);
    layers.product_bytes = round_up(part.c.total_bytes(), kPage_bytes);
    checked_mul(layers.products(), layers.product_bytes);
    return layers;
}

/// Vectors for all rows and columns of C, which stay while A and B are read again and C is made.
std::int64_t vectors_bytes(const FileProblem& whole) {
    return checked_mul(whole.line_bytes, checked_add(whole.m, whole.n));
}

/// Memory of reading A and B once more.
std::int64_t check_bytes_of(const OuterLaunch& layers) {
    const DiskCut& cut = layers.check_cut;
    const FileBuffers buffers = check_buffers(layers);
    return vectors_bytes(layers.whole) + buffers.panel_bytes + buffers.strip_bytes +
           layers.whole.line_bytes * 2 * (cut.depth + cut.strip_m);
}

void plan_check(OuterLaunch& layers) {
    const FileProblem& whole = layers.whole;
    if (whole.line_bytes == 0) {
        return;
    }
    DiskCut& cut = layers.check_cut;
    cut.tile_m = whole.m;
    cut.tile_n = whole.n;
    cut.panel_buffers = 1;
    cut.depth = cut.first_depth = whole.k;
    cut.strip_m = whole.m;
    const std::int64_t room = std::min(whole.memory_bytes, vectors_bytes(whole) + kMostBands_bytes);
    while (check_bytes_of(layers) > room && cut.depth + cut.strip_m > 2) {
        const FileBuffers buffers = check_buffers(layers);
        if (cut.strip_m > 1 && (buffers.strip_bytes > buffers.panel_bytes || cut.depth == 1)) {
            cut.strip_m = ceil_div(cut.strip_m, 2);
        } else {
            cut.depth = cut.first_depth = ceil_div(cut.depth, 2);
        }
    }
    if (check_bytes_of(layers) > whole.memory_bytes) {
        fail(ErrorCode::resource,
             "checking a product with outer levels needs {} bytes of memory, and {} are allowed; give a larger "
             "--memory, or leave --verify out",
             check_bytes_of(layers), whole.memory_bytes);
    }
    layers.check_read_bytes = whole.a.total_bytes() + whole.b.total_bytes();
}

void plan_last_pass(OuterLaunch& layers) {
    const FileProblem& whole = layers.whole;
    const std::int64_t line = layers.part.c.pitch_bytes(), rows = layers.layer.grid.m;
    const std::int64_t c_line = whole.c.pitch_bytes();
    const std::int64_t read = layers.products() * line;
    // Two bands of products and two of C; C0 lies in whole cache lines where it is stored by columns.
    const std::int64_t per_row = 2 * read + (whole.adds ? 4 : 2) * rows * c_line + 2 * rows * whole.line_bytes;
    const std::int64_t fixed =
        (whole.adds ? 2 * rows * checked_mul(whole.n, kLayerLine_bytes) : 0) + vectors_bytes(whole);
    const std::int64_t room =
        std::min(whole.memory_bytes, std::max(kMostBands_bytes + vectors_bytes(whole), fixed + per_row));
    fail_if(fixed + per_row > room, ErrorCode::resource,
            "adding up the products of outer levels needs {} bytes of memory, and {} are allowed; give a larger "
            "--memory, or leave --host-levels out",
            fixed + per_row, whole.memory_bytes);
    layers.band_rows = std::min((room - fixed) / per_row, layers.part.m);
    layers.band_bytes = fixed + layers.band_rows * per_row;
    const std::int64_t block = layers.part.c.block_bytes;
    layers.products_block = line % block == 0 ? block : 1;
    layers.c_block =
        c_line % whole.c.block_bytes == 0 && whole.c.data_offset % whole.c.block_bytes == 0 ? whole.c.block_bytes : 1;
    layers.products_read_bytes = layers.products() * layers.part.c.total_bytes();
    layers.read_c0_bytes = whole.adds ? whole.c.total_bytes() : 0;
    layers.written_bytes = whole.c.total_bytes();
}

/// Bytes of reading one operand, step by step as it will be.
std::int64_t operand_bytes(const OuterLaunch& layers, const BlockedOperand& operand, bool is_left) {
    const FileSchedule schedule = layers_schedule(layers);
    std::vector<std::int64_t> tiles(static_cast<std::size_t>(schedule.tiles()));
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        tiles[i] = static_cast<std::int64_t>(i);
    }
    std::int64_t bytes = 0;
    for (const FileStep& step : schedule.steps(tiles)) {
        const std::int64_t sum = schedule.repeat_of(step.tile);
        if (is_left && step.loads_left) {
            bytes += operand.moved_bytes(sum, schedule.left_window(step.tile, step.panel, step.strip));
        }
        if (!is_left && step.loads_right) {
            bytes += operand.moved_bytes(sum, schedule.right_window(step.tile, step.panel));
        }
    }
    return bytes;
}

/// Reads directly where the lines of the file all begin alike in a block and whole blocks move hardly more than what is
/// wanted.
std::int64_t choose_block(const OuterLaunch& layers, BlockedOperand& operand, bool is_left) {
    const std::int64_t block = operand.file.block_bytes;
    const auto counted = [&](std::int64_t as_block) {
        operand.file.block_bytes = as_block;
        return operand_bytes(layers, layers.cut.mirrored ? transposed(operand) : operand, is_left);
    };
    const bool alike = block > 1 && operand.file.pitch_bytes() % block == 0 &&
                       operand.file.data_offset % operand.file.element_bytes == 0 &&
                       operand.file.bytes_of(operand.file.by_columns ? operand.block_rows : operand.block_cols) >=
                           kLayerDirectSpan_bytes;
    const std::int64_t direct = alike ? counted(block) : 0;
    const std::int64_t exact = counted(1);
    if (alike && static_cast<double>(direct) <= kLayerWideningAllowed * static_cast<double>(exact)) {
        operand.file.block_bytes = block;
        return direct;
    }
    return exact;
}

/// Of two operands of floats: whole lines across k, then some values of every line along it, twice, and those at which
/// levels are tried.
std::int64_t sampled_bytes(const OuterLaunch& layers) {
    if (!is_float(layers.whole.type)) {
        return 0;
    }
    const auto count = [](std::int64_t length, bool by_runs) {
        return static_cast<std::int64_t>(sample_of_line(length, by_runs).size());
    };
    const auto within = [](const std::vector<std::int64_t>& of_block, std::int64_t block, std::int64_t length) {
        std::int64_t sum = 0;
        for (const std::int64_t at : of_block) {  // in all blocks, but for what lies beyond the edge of the last ones
            sum += at < length ? ceil_div(length - at, block) : 0;
        }
        return sum;
    };
    const LevelGrid tried = grid_of(levels_to_try(levels_of(layers.outer)));
    const BlockGrid& grid = layers.layer.grid;
    const auto values = [&](const BlockedOperand& lines, std::int64_t blocks, std::int64_t tried_blocks, bool by_runs) {
        const FileLayout& file = lines.file;
        const std::int64_t block_lines = lines.block_rows * blocks / tried_blocks,
                           block_places = lines.block_cols * grid.k / tried.k;
        return file.cols * count(file.rows, file.by_columns) + 2 * file.rows * count(file.cols, !file.by_columns) +
               within(tried_lines(block_lines, tried_blocks, by_runs), block_lines, file.rows) *
                   within(tried_places(block_places, tried.k), block_places, file.cols);
    };
    return layers.a.file.element_bytes * values(layers.a, grid.m, tried.m, false) +
           layers.b.file.element_bytes * values(transposed(layers.b), grid.n, tried.n, true);
}

/// All but what follows from the cut of the products.
OuterLaunch around_products(const FileProblem& problem, const OuterLevels& outer) {
    OuterLaunch layers = cut_into_blocks(problem, outer);
    plan_check(layers);
    plan_last_pass(layers);
    return layers;
}

void take_cut(OuterLaunch& layers, const DiskCut& cut, const FileTraffic& traffic) {
    layers.cut = cut;
    layers.traffic = traffic;
    layers.sample_bytes = sampled_bytes(layers);
    layers.read_a_bytes = choose_block(layers, layers.a, !cut.mirrored);
    layers.read_b_bytes = choose_block(layers, layers.b, cut.mirrored);
    layers.products_written_bytes = layers.products() * traffic.written_bytes;
}

}  // namespace

std::vector<LevelPlan> levels_of(const OuterLevels& outer) {
    return {static_cast<std::size_t>(outer.levels), LevelPlan{outer.algorithm, LevelMode::serial, ""}};
}

std::vector<FileWindow> BlockedOperand::pieces(const BlockPlace& block, const FileWindow& window) const {
    FileWindow all{block.row * block_rows + window.row, window.rows, block.col * block_cols + window.col, window.cols};
    all.rows = std::min(all.rows, file.rows - all.row);
    all.cols = std::min(all.cols, file.cols - all.col);
    std::vector<FileWindow> parts;
    if (all.rows <= 0 || all.cols <= 0) {
        return parts;
    }
    const std::int64_t lines = file.by_columns ? all.cols : all.rows;
    const std::int64_t at_once =
        std::max<std::int64_t>(bounce_bytes / line_room(file, file.by_columns ? all.rows : all.cols), 1);
    for (std::int64_t line = 0; line < lines; line += at_once) {
        const std::int64_t count = std::min(at_once, lines - line);
        parts.push_back(file.by_columns ? FileWindow{all.row, all.rows, all.col + line, count}
                                        : FileWindow{all.row + line, count, all.col, all.cols});
    }
    return parts;
}

std::int64_t BlockedOperand::moved_bytes(std::int64_t sum, const FileWindow& window) const {
    std::int64_t bytes = 0;
    for (const Term<BlockPlace>& term : sums[static_cast<std::size_t>(sum)]) {
        for (const FileWindow& piece : pieces(term.block, window)) {
            bytes += heptad::moved_bytes(file, piece);
        }
    }
    return bytes;
}

BlockedOperand transposed(BlockedOperand operand) {
    operand.file = transposed(operand.file);
    std::swap(operand.block_rows, operand.block_cols);
    for (std::vector<Term<BlockPlace>>& sum : operand.sums) {
        for (Term<BlockPlace>& term : sum) {
            std::swap(term.block.row, term.block.col);
        }
    }
    return operand;
}

std::int64_t OuterLaunch::used_bytes() const {
    return std::max(
        {traffic.used_bytes() + a.bounce_bytes, band_bytes, whole.line_bytes > 0 ? check_bytes_of(*this) : 0});
}

FileBuffers check_buffers(const OuterLaunch& layers) {
    return file_buffers(layers.whole, layers.check_cut);
}

FileLayout OuterLaunch::product_layout(std::int64_t product) const {
    FileLayout layout = part.c;
    layout.data_offset = product * product_bytes;
    layout.block_bytes = products_block;
    return layout;
}

FileLayout products_layout(const OuterLaunch& layers) {
    return {layers.scratch_bytes() / kPage_bytes, kPage_bytes, 1, false, 0, layers.part.c.block_bytes};
}

FileSchedule layers_schedule(const OuterLaunch& layers) {
    return {layers.part, layers.cut, {layers.products(), layers.product_bytes}};
}

FileLaunch plan_file_launch(const FileProblem& problem, const OuterLevels& outer, const PredictStage& predict) {
    if (outer.levels == 0) {
        return {plan_files(problem, predict), {}};
    }
    OuterLaunch layers = around_products(problem, outer);
    fail_if(layers.part.memory_bytes <= 0, ErrorCode::resource,
            "one line of a block of outer levels takes {} bytes, and {} bytes are allowed in all; give a larger "
            "--memory, or leave --host-levels out",
            layers.a.bounce_bytes, problem.memory_bytes);
    FileLaunch launch{plan_files(layers.part, predict), {}};
    ProductPlan& plan = launch.plan;
    set_size(plan, problem);
    plan.accumulate = problem.adds;
    plan.disk->algorithm = outer.algorithm;
    plan.disk->levels = outer.levels;
    plan.disk->memory_bytes = problem.memory_bytes;
    take_cut(layers, *plan.disk, launch.traffic);
    plan.predicted_s = predicted_wall_s(layers);
    launch.layers = std::move(layers);
    return launch;
}

FileLaunch file_launch(const FileProblem& problem, ProductPlan plan) {
    check_disk_plan(problem, plan);
    if (plan.disk->levels == 0) {
        return {file_choice(problem, std::move(plan)), {}};
    }
    DiskCut& cut = *plan.disk;
    OuterLaunch layers = around_products(problem, {cut.algorithm, cut.levels});
    check_disk_cut(layers.part, cut);
    cut = with_fitting_blocks(layers.part, cut);
    take_cut(layers, cut, file_traffic(layers.part, cut, plan.workspace_bytes));
    const FileTraffic traffic = layers.traffic;
    return {{std::move(plan), traffic}, std::move(layers)};
}

FileSchedule schedule_of(const FileProblem& problem, const FileLaunch& launch) {
    return launch.layers ? layers_schedule(*launch.layers) : FileSchedule(problem, *launch.plan.disk);
}

double predicted_wall_s(const FileProblem& problem, const FileLaunch& launch) {
    return launch.layers ? predicted_wall_s(*launch.layers)
                         : predicted_wall_s(problem, *launch.plan.disk, launch.traffic);
}

void set_disk_rates(OuterLaunch& layers, double read_bytes_per_s, double write_bytes_per_s) {
    layers.whole.read_bytes_per_s = read_bytes_per_s;
    layers.whole.write_bytes_per_s = layers.part.write_bytes_per_s = write_bytes_per_s;
    std::size_t left = 0, right = 0;
    for (const BlockProduct& instance : layers.layer.instances) {
        left += instance.left.size();
        right += instance.right.size();
    }
    // A sum is read as often as it has blocks.
    layers.part.read_bytes_per_s =
        read_bytes_per_s * static_cast<double>(layers.products()) / static_cast<double>(std::max(left, right));
}

double last_pass_s(const OuterLaunch& layers) {
    return static_cast<double>(layers.check_read_bytes + layers.products_read_bytes + layers.read_c0_bytes) /
               layers.whole.read_bytes_per_s +
           static_cast<double>(layers.written_bytes) / layers.whole.write_bytes_per_s;
}

double predicted_wall_s(const OuterLaunch& layers) {
    const double one_s = predicted_wall_s(layers.part, layers.cut, layers.traffic);
    const double waits_s = std::max(one_s - layers.traffic.multiply_s, 0.0);  // of the first product and the last
    const double disk_s = static_cast<double>(layers.sample_bytes + layers.read_a_bytes + layers.read_b_bytes) /
                              layers.whole.read_bytes_per_s +
                          static_cast<double>(layers.products_written_bytes) / layers.whole.write_bytes_per_s;
    return std::max(layers.multiply_s() + waits_s, disk_s) + last_pass_s(layers);
}

double layers_error_bound(const OuterLaunch& layers, double of_product) {
    const LayerGrowth growth = layer_growth(layers.layer);
    return growth.growth *
           (of_product + growth.roundings * unit_roundoff(layers.whole.type) * static_cast<double>(layers.part.k));
}

double expected_growth(const OuterLevels& outer) {
    return outer.levels == 0 ? 1
                             : std::pow(std::max(1.0, find_algorithm(outer.algorithm).facts.rms_growth), outer.levels);
}

}  // namespace heptad
