#include "run/dense/level_runner.hpp"

#include <algorithm>
#include <cmath>

#include "algorithm/catalogue.hpp"
#include "run/dense/combine_passes.hpp"
#include "run/dense/fused_products.hpp"

namespace heptad {
namespace {

/// Products of scaled sums that are kept in f16 are divided by 2^this. Scaled operands are below 1 and their sums a few
/// times that, so 2^10 terms have ample room in f16 (65504) unless nearly all of them are as large as they can be; then
/// the guard sees it. Dividing by what is certain to suffice would push ordinary values below the normal numbers of
/// f16.
int shift_of_sums(const ProductPlan& plan) {
    constexpr int kTermsWithRoom = 10;
    if (products_type(plan.type, plan.scaled_sums) != Type::f16) {
        return 0;
    }
    return std::max(0, static_cast<int>(std::ceil(std::log2(static_cast<double>(leaf_size(plan).k)))) - kTermsWithRoom);
}

/// Where products are kept in f32, sums of A or B take the upper end of the range of f16, as far as the largest of them
/// allows: 2^this above 1. Entries far below the largest one then keep all their bits, down to about 2^-25 of it.
int room_above_sums(const ProductPlan& plan, Shape shape) {
    constexpr int kRangeOfF16 = 15;
    if (products_type(plan.type, plan.scaled_sums) == Type::f16) {
        return 0;
    }
    double largest = 1;
    for (const LevelPlan& level : plan.levels) {
        const AlgorithmFacts& facts = find_algorithm(level.algorithm).facts;
        largest *= shape == Shape::a ? facts.largest_sum_a : facts.largest_sum_b;
    }
    return std::max(0, kRangeOfF16 - static_cast<int>(std::ceil(std::log2(largest))));
}

}  // namespace

std::vector<View> blocks_of(const View& view, int grid_rows, int grid_cols) {
    const std::int64_t rows = view.rows / grid_rows;
    const std::int64_t cols = view.cols / grid_cols;
    std::vector<View> blocks;
    blocks.reserve(static_cast<std::size_t>(grid_rows) * static_cast<std::size_t>(grid_cols));
    for (int i = 0; i < grid_rows; ++i) {
        for (int j = 0; j < grid_cols; ++j) {
            blocks.push_back(block(view, i * rows, j * cols, rows, cols));
        }
    }
    return blocks;
}

namespace {

View writable(const ConstView& view) {
    return {const_cast<void*>(view.data), view.type, view.rows, view.cols, view.row_stride, view.col_stride};
}

}  // namespace

std::vector<View> blocks_of(const ConstView& view, int grid_rows, int grid_cols) {
    // A combine pass names its inputs and outputs in one list of slots; inputs are only ever read, unless the plan says
    // that it overwrites them.
    return blocks_of(writable(view), grid_rows, grid_cols);
}

View storage_view(void* memory, const ConstView& like, std::int64_t rows, std::int64_t cols, bool padded) {
    const bool by_columns = is_column_contiguous(like) && !is_row_contiguous(like);
    return by_columns ? View(memory, like.type, rows, cols, 1, stored_stride(rows, like.type, padded))
                      : View(memory, like.type, rows, cols, stored_stride(cols, like.type, padded), 1);
}

View LevelRunner::stored_block(const ConstView& like, std::int64_t rows, std::int64_t cols, Shape shape) {
    const ProblemSize size = shape == Shape::a   ? ProblemSize{rows, cols, 0}
                             : shape == Shape::b ? ProblemSize{0, rows, cols}
                                                 : ProblemSize{rows, 0, cols};
    return storage_view(arena_.take(block_bytes(shape, size, like.type, is_padded())), like, rows, cols, is_padded());
}

void LevelRunner::combine(CombinePass pass) {
    if (!pass.statements.empty()) {
        meter_.stop_if_cancelled();
        // The classical answer to input that is not finite needs A and B as they were.
        pass.only_if_safe = pass.only_if_safe || plan_.overwrite_inputs;
        backend_.combine(pass);
    }
}

void LevelRunner::run_batch(std::size_t depth, const std::vector<LinedProduct>& products) {
    if (depth + 1 == plan_.levels.size() && is_fused(plan_)) {
        run_fused(products);
        return;
    }
    if (depth < plan_.levels.size()) {
        for (const LinedProduct& product : products) {
            run(depth, product, false);
        }
        return;
    }
    meter_.stop_if_cancelled();
    std::vector<Product> batch;
    batch.reserve(products.size());
    for (const LinedProduct& product : products) {
        batch.push_back(product.product);
    }
    backend_.multiply(batch, plan_.leaf);
    double work = 0;
    for (const Product& product : batch) {
        work += static_cast<double>(product.c.rows) * static_cast<double>(product.c.cols) *
                static_cast<double>(product.a.cols);
    }
    meter_.advance(work);
}

void LevelRunner::run_fused(const std::vector<LinedProduct>& products) {
    const LevelPlan& level = plan_.levels.back();
    for_each_launch(level, products, [&](const std::vector<FusedProduct>& launched) {
        meter_.stop_if_cancelled();
        backend_.multiply_fused(launched, level.order, level.tile);
        double work = 0;
        for (const FusedProduct& product : launched) {
            work += static_cast<double>(product.m) * static_cast<double>(product.k) * static_cast<double>(product.n);
        }
        meter_.advance(work);
    });
}

void LevelRunner::run(std::size_t depth, const LinedProduct& whole, bool operands_die) {
    // A parallel level adds to C with its last pass only.
    if (depth == 0 && !plan_.levels.empty() && plan_.levels.front().mode != LevelMode::parallel) {
        meter_.result_changes(whole.product.beta != 0);
    }
    if (depth == plan_.levels.size()) {
        run_batch(depth, {whole});
    } else if (plan_.levels[depth].mode == LevelMode::fused) {
        run_fused({whole});
    } else if (plan_.levels[depth].mode == LevelMode::parallel) {
        run_parallel(depth, whole);
    } else {
        run_serial(depth, whole, operands_die);
    }
}

void LevelRunner::run_parallel(std::size_t depth, const LinedProduct& whole) {
    const auto& [alpha, a, b, beta, c, imaginary] = whole.product;
    const ArenaScope scope(arena_);
    const LevelPrograms programs = level_programs(plan_.levels[depth].algorithm, plan_.change_basis);
    const Algorithm& algorithm = *programs.algorithm;
    const std::vector<View> c_blocks = blocks_of(c, algorithm.m, algorithm.n);
    const LevelStorage storage = level_storage(plan_, depth);
    const bool watches = watches_ && depth == 0;
    const bool scales = plan_.scaled_sums && depth == 0;
    const auto kept_as = [&](ConstView like, Type type) {
        like.type = scales ? type : like.type;
        return like;
    };
    const Type sums_kept = sums_type(plan_.type, scales), products_kept = products_type(plan_.type, scales);

    const OperandLayout a_layout = operand_layout(*programs.a, storage.batched);
    const OperandLayout b_layout = operand_layout(*programs.b, storage.batched);
    // A block that is multiplied as it lies there keeps its powers beside it. Those along k must meet the same in the
    // other operand, which is stored with them then; those of its rows or columns go on to the product.
    const InnerBlocks inner =
        whole.lined() ? inner_blocks(*programs.a, a_layout, algorithm.k, *programs.b, b_layout, algorithm.n).value()
                      : InnerBlocks{};
    const auto sums = [&](const LinearProgram& program, const OperandLayout& layout, const ConstView& operand,
                          const LineExponents& lines, const std::vector<int>& inner_of_sums, int grid_rows,
                          int grid_cols, Shape shape) {
        LinedBlocks of_operand{blocks_of(operand, grid_rows, grid_cols), {}}, kept;
        const std::vector<View>& blocks = of_operand.views;
        const View like = blocks.front();
        for (int i = 0; i < layout.stored; ++i) {
            kept.views.push_back(stored_block(kept_as(operand, sums_kept), like.rows, like.cols, shape));
        }
        if (whole.lined()) {
            of_operand.lines = lines_of_blocks(lines, like, grid_rows, grid_cols);
            for (const int place : inner_of_sums) {
                const LineExponents of_place = lines.of_block(place * like.rows, place * like.cols);
                kept.lines.push_back(place < 0           ? LineExponents{}
                                     : shape == Shape::a ? LineExponents{nullptr, of_place.cols}
                                                         : LineExponents{of_place.rows, nullptr});
            }
        }
        CombinePass pass = operand_pass(program, layout, of_operand, kept);
        if (watches) {
            pass.watch = shape == Shape::a ? 0 : 1;
            pass.watched_slots = static_cast<int>(blocks.size());
            if (pass.statements.empty()) {  // an algorithm without sums has no pass that could look at them
                backend_.deferred_guard()->watch(pass.watch, operand);
            }
        }
        pass.only_multiplied = depth + 1 == plan_.levels.size();
        if (scales) {
            pass.scaling = shape == Shape::a ? SumScaling::a_to_sums : SumScaling::b_to_sums;
            pass.factor = std::ldexp(1.0, room_above_sums(plan_, shape));
        }
        combine(pass);
        return product_operands(program, layout, blocks, kept.views);
    };
    const std::vector<ScaledBlock> left =
        sums(*programs.a, a_layout, a, whole.a, inner.of_sums_a, algorithm.m, algorithm.k, Shape::a);
    const std::vector<ScaledBlock> right =
        sums(*programs.b, b_layout, b, whole.b, inner.of_sums_b, algorithm.k, algorithm.n, Shape::b);

    // With beta = 0, C's own blocks hold the first products until the last pass turns them into the result.
    LinedBlocks products, results{c_blocks, {}};
    std::vector<LinedProduct> batch;
    const double of_products = scales ? std::ldexp(1.0, -shift_of_sums(plan_)) : alpha;
    for (int s = 0; s < algorithm.rank(); ++s) {
        const auto i = static_cast<std::size_t>(s);
        products.views.push_back(
            beta == 0 && !storage.products_apart && i < c_blocks.size()
                ? c_blocks[i]
                : stored_block(kept_as(c, products_kept), c_blocks.front().rows, c_blocks.front().cols, Shape::c));
        batch.push_back({{of_products * left[i].coefficient * right[i].coefficient, left[i].view, right[i].view, 0,
                          products.views.back()}});
        if (whole.lined()) {
            const std::int64_t rows = c_blocks.front().rows, cols = c_blocks.front().cols;
            const int from_a = programs.a->outputs[i].value, from_b = programs.b->outputs[i].value;
            const std::int64_t at = inner.of_products[i] * left[i].view.cols;
            LinedProduct& product = batch.back();
            if (inner.of_products[i] >= 0) {
                product.a.cols = whole.a.of_block(0, at).cols;
                product.b.rows = whole.b.of_block(at, 0).rows;
            }
            if (!a_layout.batched && from_a >= 0 && from_a < programs.a->inputs) {
                product.a.rows = whole.a.of_block(from_a / algorithm.k * rows, 0).rows;
            }
            if (!b_layout.batched && from_b >= 0 && from_b < programs.b->inputs) {
                product.b.cols = whole.b.of_block(0, from_b % algorithm.n * cols).cols;
            }
            product.c = {product.a.rows, product.b.cols};
            products.lines.push_back(product.c);
        }
    }
    run_batch(depth + 1, batch);
    if (whole.lined()) {
        results.lines = lines_of_blocks(whole.c, c_blocks.front(), algorithm.m, algorithm.n);
    }
    CombinePass pass = result_pass(*programs.c, products, beta, results);
    pass.only_if_safe = watches && beta != 0;
    meter_.result_changes(depth == 0 && beta != 0);
    if (scales) {
        pass.scaling = SumScaling::sums_to_c;
        const int room = room_above_sums(plan_, Shape::a) + room_above_sums(plan_, Shape::b);
        pass.factor = std::ldexp(alpha / of_products, -room);
    }
    combine(pass);
}

void LevelRunner::set_lines(ScheduleBlocks& blocks, const Symbol& symbol, Shape shape, const LineExponents& lines) {
    const LineExponents now = blocks.lines_of(symbol);
    if (!blocks.lined || now == lines) {
        return;
    }
    CombinePass pass{{blocks.view(symbol, shape)}, {{0, {{0, 1}}}}};
    pass.exponents = {now};
    pass.written_exponents = {lines};
    combine(pass);
    blocks.lines[symbol] = lines;
}

void LevelRunner::run_serial(std::size_t depth, const LinedProduct& whole, bool operands_die) {
    const auto& [alpha, a, b, beta, c, imaginary] = whole.product;
    const ArenaScope scope(arena_);
    const LevelEntry entry{beta != 0, operands_die};
    const Schedule& schedule = level_schedule(plan_.levels[depth], plan_.change_basis, entry);
    ScheduleBlocks blocks{blocks_of(a, schedule.m, schedule.k),
                          blocks_of(b, schedule.k, schedule.n),
                          blocks_of(c, schedule.m, schedule.n),
                          {},
                          {},
                          a,
                          b,
                          c,
                          is_padded(),
                          whole.lined(),
                          {}};
    const auto set_all = [&](SymbolKind kind, const LineExponents& lines, const View& one, int rows, int cols) {
        const std::vector<LineExponents> of_blocks = lines_of_blocks(lines, one, rows, cols);
        for (int i = 0; i < rows * cols; ++i) {
            blocks.lines[{kind, i}] = of_blocks[static_cast<std::size_t>(i)];
        }
    };
    if (whole.lined()) {
        set_all(SymbolKind::a, whole.a, blocks.a.front(), schedule.m, schedule.k);
        set_all(SymbolKind::b, whole.b, blocks.b.front(), schedule.k, schedule.n);
        set_all(SymbolKind::c, whole.c, blocks.c.front(), schedule.m, schedule.n);
    }
    const ProblemSize size{c.rows / schedule.m, a.cols / schedule.k, c.cols / schedule.n};
    for (const Temporary& temporary : schedule.temporaries) {
        blocks.temporaries.push_back(arena_.take(temporary_bytes(temporary, size, plan_.type, is_padded())));
    }
    View spare;
    if (needs_spare(schedule, level_storage(plan_, depth))) {
        spare = stored_block(c, size.m, size.n, Shape::c);
    }
    if (schedule.accumulates && beta == 0) {
        combine({{c}, {{0, {}}}});
    } else if (schedule.accumulates && beta != 1) {
        combine({{c}, {{0, {{0, beta}}}}});
    }
    std::size_t next_run = 0;
    const std::vector<CombineRun> runs = combine_runs(schedule);
    for (int i = 0; i < static_cast<int>(schedule.steps.size());) {
        const ScheduleStep& step = schedule.steps[static_cast<std::size_t>(i)];
        if (step.kind == ScheduleStep::Kind::combine) {
            const CombineRun& steps = runs[next_run++];
            combine(schedule_pass(schedule, steps, blocks));
            i = steps.last;
            continue;
        }
        run_product(depth, whole, step, entry, blocks, spare);
        ++i;
    }
    if (whole.lined()) {
        const std::vector<LineExponents> of_c = lines_of_blocks(whole.c, blocks.c.front(), schedule.m, schedule.n);
        for (int i = 0; i < schedule.m * schedule.n; ++i) {
            set_lines(blocks, {SymbolKind::c, i}, Shape::c, of_c[static_cast<std::size_t>(i)]);
        }
    }
}

void LevelRunner::run_product(std::size_t depth, const LinedProduct& whole, const ScheduleStep& step,
                              const LevelEntry& entry, ScheduleBlocks& blocks, View& spare) {
    const double alpha = whole.product.alpha;
    const double sign = step.update == ScheduleStep::Update::subtract ? -alpha : alpha;
    const bool stores = step.update == ScheduleStep::Update::store;
    const LevelEntry below = entry_below(step, entry);
    const View target = blocks.view(step.target, Shape::c);
    const ConstView left = blocks.view(step.left, Shape::a);
    const ConstView right = blocks.view(step.right, Shape::b);
    const LevelStorage storage = level_storage(plan_, depth);
    LinedProduct product{{sign, left, right, stores ? 0.0 : 1.0, target}};
    if (blocks.lined) {
        // A sum takes the powers along k of the block that it meets.
        LineExponents of_left = blocks.lines_of(step.left), of_right = blocks.lines_of(step.right);
        if (step.left.kind == SymbolKind::a && of_left.cols != nullptr) {
            of_right.rows = whole.b.rows + (of_left.cols - whole.a.cols);
            set_lines(blocks, step.right, Shape::b, of_right);
        } else {
            of_left.cols = of_right.rows == nullptr ? nullptr : whole.a.cols + (of_right.rows - whole.b.rows);
            set_lines(blocks, step.left, Shape::a, of_left);
        }
        product.a = of_left;
        product.b = of_right;
        product.c = {of_left.rows, of_right.cols};
        if (!stores && !needs_spare(step, storage)) {
            set_lines(blocks, step.target, Shape::c, product.c);
        }
    }
    if (!needs_spare(step, storage)) {
        run(depth + 1, product, below.operands_die);
        if (blocks.lined) {
            blocks.lines[step.target] = product.c;
        }
        return;
    }
    product.product.beta = 0;
    product.product.c = spare;
    run(depth + 1, product, below.operands_die);
    // P1's exchange of pointers: the value stays in the spare block, and the block it would have gone to is the next
    // spare one. Not with blocks of C, where the result must be at the end, nor where only passes may write to A and B.
    if (stores && !storage.guards_inputs && step.target.kind != SymbolKind::c) {
        blocks.moved[step.target] = spare;
        blocks.lines[step.target] = product.c;
        spare = target;
        return;
    }
    CombinePass pass{{target, spare}, {{0, {{1, 1}}}}};
    if (!stores) {
        pass.statements.front().terms.push_back({0, 1});
    }
    if (blocks.lined) {
        pass.exponents = {blocks.lines_of(step.target), product.c};
        pass.written_exponents.resize(2);
        blocks.lines.erase(step.target);
    }
    combine(pass);
}

void LevelRunner::run_in_changed_basis(const LinedProduct& whole) {
    const auto& [alpha, a, b, beta, c, imaginary] = whole.product;
    const ArenaScope scope(arena_);
    const Algorithm& algorithm = find_algorithm(plan_.levels.front().algorithm).algorithm;
    const int depth = static_cast<int>(plan_.levels.size());
    const auto change = [&](const CoefficientMatrix& basis, const ConstView& from, const LineExponents& lines,
                            const View& to, int grid_rows, int grid_cols) {
        std::vector<CombinePass> passes = basis_passes(basis, from, to, grid_rows, grid_cols, depth);
        if (lines != LineExponents{}) {  // the first one reads the blocks of `from`, behind those of `to`
            CombinePass& first = passes.front();
            first.exponents = lines_of_blocks(lines, first.slots.front(), grid_rows, grid_cols);
            first.exponents.insert(first.exponents.begin(), first.exponents.size(), LineExponents{});
            first.exponents.resize(first.slots.size());
            first.written_exponents.resize(first.slots.size());
        }
        for (const CombinePass& pass : passes) {
            combine(pass);
        }
    };
    const View changed_a = plan_.overwrite_inputs ? writable(a) : stored_block(a, a.rows, a.cols, Shape::a);
    const View changed_b = plan_.overwrite_inputs ? writable(b) : stored_block(b, b.rows, b.cols, Shape::b);
    change(algorithm.basis->phi, a, whole.a, changed_a, algorithm.m, algorithm.k);
    change(algorithm.basis->psi, b, whole.b, changed_b, algorithm.k, algorithm.n);
    const View changed_c = beta == 0 ? c : stored_block(c, c.rows, c.cols, Shape::c);
    run(0, {{alpha, changed_a, changed_b, 0, changed_c}}, plan_.overwrite_inputs);
    change(algorithm.basis->chi, changed_c, {}, changed_c, algorithm.m, algorithm.n);
    CombinePass pass{{c, changed_c}, {{0, {{1, 1}}}}};
    if (beta == 0) {
        pass = {{c}, {{0, {{0, 1}}}}};
    } else {
        pass.statements.front().terms.insert(pass.statements.front().terms.begin(), {0, beta});
        pass.only_if_safe = true;
    }
    if (whole.lined()) {
        pass.exponents.resize(pass.slots.size());
        pass.exponents.front() = beta == 0 ? LineExponents{} : whole.c;
        pass.written_exponents.resize(pass.slots.size());
        pass.written_exponents.front() = whole.c;
    }
    meter_.result_changes(beta != 0);
    if (beta != 0 || whole.lined()) {
        combine(pass);
    }
}

}  // namespace heptad
