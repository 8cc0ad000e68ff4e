#include "run/dense/level_runner.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "algorithm/catalogue.hpp"
#include "plan/search/fused_instances.hpp"
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

void ProgressMeter::check_cancelled() const {
    if (hooks_.cancel != nullptr && hooks_.cancel->cancelled()) {
        fail(ErrorCode::cancelled, "the product was cancelled; C is undefined");
    }
}

void ProgressMeter::advance(double work) {
    done_ += work;
    if (hooks_.progress) {
        hooks_.progress({total_ > 0 ? std::min(1.0, done_ / total_) : 1.0, "multiply"});
    }
}

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
        meter_.check_cancelled();
        // The classical answer to input that is not finite needs A and B as they were.
        pass.only_if_safe = pass.only_if_safe || plan_.overwrite_inputs;
        backend_.combine(pass);
    }
}

void LevelRunner::run_batch(std::size_t depth, const std::vector<Product>& products) {
    if (depth + 1 == plan_.levels.size() && is_fused(plan_)) {
        run_fused(products);
        return;
    }
    if (depth < plan_.levels.size()) {
        for (const Product& product : products) {
            run(depth, product.alpha, product.a, product.b, product.beta, product.c, false);
        }
        return;
    }
    meter_.check_cancelled();
    backend_.multiply(products, plan_.leaf);
    double work = 0;
    for (const Product& product : products) {
        work += static_cast<double>(product.c.rows) * static_cast<double>(product.c.cols) *
                static_cast<double>(product.a.cols);
    }
    meter_.advance(work);
}

namespace {

/// Levels whose operands are laid out alike, so that their products can be launched together.
struct FusedCall {
    Product like;
    std::vector<FusedLevel> levels;  // one for each product of the level above
};

bool have_same_strides(const ConstView& x, const ConstView& y) {
    return x.row_stride == y.row_stride && x.col_stride == y.col_stride;
}

bool are_laid_out_alike(const Product& x, const Product& y) {
    return have_same_strides(x.a, y.a) && have_same_strides(x.b, y.b) && have_same_strides(x.c, y.c);
}

/// As many products as one launch takes.
class LaunchLoad {
public:
    bool has_room_for(const FusedProduct& product) const {
        return products_.size() < kMostFusedInstances && terms_ + terms_of(product) <= kMostFusedTerms &&
               targets_ + product.targets.size() <= kMostFusedTargets;
    }
    void add(FusedProduct product) {
        terms_ += terms_of(product);
        targets_ += product.targets.size();
        products_.push_back(std::move(product));
    }
    const std::vector<FusedProduct>& products() const { return products_; }
    void clear() {
        products_.clear();
        terms_ = targets_ = 0;
    }

private:
    static std::size_t terms_of(const FusedProduct& product) {
        return product.left.size() + product.right.size() + kSpareFusedTerms;
    }
    std::vector<FusedProduct> products_;
    std::size_t terms_ = 0, targets_ = 0;
};

}  // namespace

/// The first product of some levels, then the second: neighbours of different levels have no common target, so more of
/// them can run at a time. What fills a launch goes to the device before the rest is made.
void LevelRunner::run_fused(const std::vector<Product>& products) {
    const LevelPlan& level = plan_.levels.back();
    const FusedInstances& instances = fused_instances(level.algorithm);
    std::vector<FusedCall> calls;
    for (const Product& product : products) {
        auto call = std::find_if(calls.begin(), calls.end(),
                                 [&](const FusedCall& other) { return are_laid_out_alike(other.like, product); });
        if (call == calls.end()) {
            calls.push_back({product, {}});
            call = calls.end() - 1;
        }
        call->levels.emplace_back(instances, product.alpha, product.a, product.b, product.beta, product.c);
    }
    LaunchLoad load;
    const auto launch = [&] {
        if (load.products().empty()) {
            return;
        }
        meter_.check_cancelled();
        backend_.multiply_fused(load.products(), level.order, level.tile);
        double work = 0;
        for (const FusedProduct& product : load.products()) {
            work += static_cast<double>(product.m) * static_cast<double>(product.k) * static_cast<double>(product.n);
        }
        meter_.advance(work);
        load.clear();
    };
    const auto add = [&](std::optional<FusedProduct> product) {
        if (product && !load.has_room_for(*product)) {
            launch();
        }
        if (product) {
            load.add(std::move(*product));
        }
    };
    for (FusedCall& call : calls) {
        const auto group = static_cast<std::size_t>(levels_of_launch(
            level.order, static_cast<int>(instances.instances.size()), static_cast<int>(call.levels.size())));
        for (std::size_t first = 0; first < call.levels.size(); first += group) {
            const auto some = std::span(call.levels).subspan(first, std::min(group, call.levels.size() - first));
            for (std::size_t i = 0; i < instances.instances.size(); ++i) {
                for (FusedLevel& one : some) {
                    add(one.product(i));
                }
            }
            launch();
        }
    }
}

void LevelRunner::run(std::size_t depth, double alpha, const ConstView& a, const ConstView& b, double beta,
                      const View& c, bool operands_die) {
    if (depth == plan_.levels.size()) {
        run_batch(depth, {{alpha, a, b, beta, c}});
    } else if (plan_.levels[depth].mode == LevelMode::fused) {
        run_fused({{alpha, a, b, beta, c}});
    } else if (plan_.levels[depth].mode == LevelMode::parallel) {
        run_parallel(depth, alpha, a, b, beta, c);
    } else {
        run_serial(depth, alpha, a, b, beta, c, operands_die);
    }
}

void LevelRunner::run_parallel(std::size_t depth, double alpha, const ConstView& a, const ConstView& b, double beta,
                               const View& c) {
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

    const auto sums = [&](const LinearProgram& program, const ConstView& operand, int grid_rows, int grid_cols,
                          Shape shape) {
        const std::vector<View> blocks = blocks_of(operand, grid_rows, grid_cols);
        const OperandLayout layout = operand_layout(program, storage.batched);
        std::vector<View> stored;
        for (int i = 0; i < layout.stored; ++i) {
            stored.push_back(
                stored_block(kept_as(operand, sums_kept), blocks.front().rows, blocks.front().cols, shape));
        }
        CombinePass pass = operand_pass(program, layout, blocks, stored);
        if (watches) {
            pass.watch = shape == Shape::a ? 0 : 1;
            pass.watched_slots = static_cast<int>(blocks.size());
            pass.watched_across = grid_cols;
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
        return product_operands(program, layout, blocks, stored);
    };
    const std::vector<ScaledBlock> left = sums(*programs.a, a, algorithm.m, algorithm.k, Shape::a);
    const std::vector<ScaledBlock> right = sums(*programs.b, b, algorithm.k, algorithm.n, Shape::b);

    // With beta = 0, C's own blocks hold the first products until the last pass turns them into the result.
    std::vector<View> products;
    std::vector<Product> batch;
    const double of_products = scales ? std::ldexp(1.0, -shift_of_sums(plan_)) : alpha;
    for (int s = 0; s < algorithm.rank(); ++s) {
        const auto i = static_cast<std::size_t>(s);
        products.push_back(
            beta == 0 && !storage.products_apart && i < c_blocks.size()
                ? c_blocks[i]
                : stored_block(kept_as(c, products_kept), c_blocks.front().rows, c_blocks.front().cols, Shape::c));
        batch.push_back({of_products * left[i].coefficient * right[i].coefficient, left[i].view, right[i].view, 0,
                         products.back()});
    }
    run_batch(depth + 1, batch);
    CombinePass pass = result_pass(*programs.c, products, beta, c_blocks);
    pass.only_if_safe = watches && beta != 0;
    if (scales) {
        pass.scaling = SumScaling::sums_to_c;
        const int room = room_above_sums(plan_, Shape::a) + room_above_sums(plan_, Shape::b);
        pass.factor = std::ldexp(alpha / of_products, -room);
    }
    combine(pass);
}

void LevelRunner::run_serial(std::size_t depth, double alpha, const ConstView& a, const ConstView& b, double beta,
                             const View& c, bool operands_die) {
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
                          is_padded()};
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
        run_product(depth, alpha, step, entry, blocks, spare);
        ++i;
    }
}

void LevelRunner::run_product(std::size_t depth, double alpha, const ScheduleStep& step, const LevelEntry& entry,
                              ScheduleBlocks& blocks, View& spare) {
    const double sign = step.update == ScheduleStep::Update::subtract ? -alpha : alpha;
    const bool stores = step.update == ScheduleStep::Update::store;
    const LevelEntry below = entry_below(step, entry);
    const View target = blocks.view(step.target, Shape::c);
    const ConstView left = blocks.view(step.left, Shape::a);
    const ConstView right = blocks.view(step.right, Shape::b);
    const LevelStorage storage = level_storage(plan_, depth);
    if (!needs_spare(step, storage)) {
        run(depth + 1, sign, left, right, stores ? 0 : 1, target, below.operands_die);
        return;
    }
    run(depth + 1, sign, left, right, 0, spare, below.operands_die);
    // P1's exchange of pointers: the value stays in the spare block, and the block it would have gone to is the next
    // spare one. Not with blocks of C, where the result must be at the end, nor where only passes may write to A and B.
    if (stores && !storage.guards_inputs && step.target.kind != SymbolKind::c) {
        blocks.moved[step.target] = spare;
        spare = target;
        return;
    }
    CombinePass pass{{target, spare}, {{0, {{1, 1}}}}};
    if (!stores) {
        pass.statements.front().terms.push_back({0, 1});
    }
    combine(pass);
}

void LevelRunner::run_in_changed_basis(double alpha, const ConstView& a, const ConstView& b, double beta,
                                       const View& c) {
    const ArenaScope scope(arena_);
    const Algorithm& algorithm = find_algorithm(plan_.levels.front().algorithm).algorithm;
    const int depth = static_cast<int>(plan_.levels.size());
    const auto change = [&](const CoefficientMatrix& basis, const ConstView& from, const View& to, int grid_rows,
                            int grid_cols) {
        for (const CombinePass& pass : basis_passes(basis, from, to, grid_rows, grid_cols, depth)) {
            combine(pass);
        }
    };
    const View changed_a = plan_.overwrite_inputs ? writable(a) : stored_block(a, a.rows, a.cols, Shape::a);
    const View changed_b = plan_.overwrite_inputs ? writable(b) : stored_block(b, b.rows, b.cols, Shape::b);
    change(algorithm.basis->phi, a, changed_a, algorithm.m, algorithm.k);
    change(algorithm.basis->psi, b, changed_b, algorithm.k, algorithm.n);
    const View changed_c = beta == 0 ? c : stored_block(c, c.rows, c.cols, Shape::c);
    run(0, alpha, changed_a, changed_b, 0, changed_c, plan_.overwrite_inputs);
    change(algorithm.basis->chi, changed_c, changed_c, algorithm.m, algorithm.n);
    if (beta != 0) {
        CombinePass pass{{c, changed_c}, {{0, {{0, beta}, {1, 1}}}}};
        pass.only_if_safe = true;
        combine(pass);
    }
}

}  // namespace heptad
