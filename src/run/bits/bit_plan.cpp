#include "run/bits/bit_plan.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/size.hpp"
#include "base/text_stream.hpp"
#include "run/bits/bit_prediction.hpp"

namespace heptad::bits {
namespace {

constexpr int kMostLevels = 12;
constexpr int kMostThreads = 4096;  // as of plans for numbers

/// Smallest leaf so that 2^levels of them cover the product in each direction.
LeafShape leaf_shape(const ProblemSize& size, const Leaf& leaf, int levels) {
    const auto padded = [&](std::int64_t n, std::int64_t unit) {
        return round_up(std::max<std::int64_t>(ceil_div(n, std::int64_t{1} << levels), 1), unit);
    };
    return {padded(size.m, kGroupRows), padded(size.k, 64), padded(size.n, leaf.layout->column_unit())};
}

/// Enough tasks that the last ones, when some threads are idle, are a small part.
int tasks_at(int threads, int levels) {
    if (threads == 1) {
        return 0;
    }
    int task_levels = 0;
    for (std::int64_t tasks = 1; tasks < std::int64_t{12} * threads && task_levels < 3; tasks *= 7) {
        ++task_levels;
    }
    return std::min(task_levels, levels);
}

/// With more levels than these, one more over smaller leaves saves no more than its sums cost: they come from memory.
constexpr int kMostLevelsOverSmallLeaves = 5;

/// The smallest side of a leaf with so many levels above it. With the last levels inside the leaf and one more beside
/// its tiles, all blocks of the last ones are in the L2 cache if they are small enough.
std::int64_t smallest_side(const Leaf& leaf, const LevelProgram& program, int levels, int threads) {
    const int height = levels - tasks_at(threads, levels);
    const int fused = fused_levels(program, leaf, height);
    const bool small = fused > 0 && height > fused && levels <= kMostLevelsOverSmallLeaves;
    return small ? leaf.smallest_beside : leaf.smallest;
}

int best_levels(const ProblemSize& size, const Leaf& leaf, const LevelProgram& program, int threads) {
    int best = 0;
    for (int levels = 1; levels <= kMostLevels; ++levels) {
        if (std::min({size.m, size.k, size.n}) >> levels < smallest_side(leaf, program, levels, threads)) {
            continue;  // one more may be right, since it has more levels above its leaves
        }
        // A level that is predicted to be as good as none is none.
        if (levels_cost(leaf, leaf_shape(size, leaf, levels), &program, levels) <
            0.97 * levels_cost(leaf, leaf_shape(size, leaf, best), &program, best)) {
            best = levels;
        }
    }
    return best;
}

/// Predicted seconds of the product of packed operands, and of packing or unpacking a matrix.
double multiply_s(const BitPlan& plan) {
    return product_s(*plan.leaf, plan.algebra) *
           levels_cost(*plan.leaf, plan.shape, plan.program, plan.levels, plan.task_levels) *
           thread_share(plan.program, plan.task_levels, plan.threads);
}
double packing_s(const BitPlan& plan, const PackedShape& shape) {
    return product_s(*plan.leaf, plan.algebra) * packing_cost(*plan.leaf, shape) / plan.threads;
}

}  // namespace

double BitPlan::work() const {
    return leaf_work(shape) * std::pow(7.0, levels);
}

std::int64_t BitPlan::workspace_bytes() const {
    return 8 * (left().words() + right().words() + result().words() + scratch_words());
}

std::string BitPlan::to_string() const {
    return fmt::format(
        "bits {} {} {} {} algorithm {} levels {} leaf {} {}x{}x{} threads {} workspace {} predicted-s {:.3g}",
        type_name(algebra), size.m, size.k, size.n, program == nullptr ? "classical" : program->name, levels,
        leaf->name, shape.m, shape.k, shape.n, threads, workspace_bytes(), predicted_s);
}

BitPlan make_bit_plan(Type algebra, const ProblemSize& size, const BitOptions& options, int threads) {
    if (algebra != Type::gf2 && algebra != Type::boolean) {
        fail(ErrorCode::usage, "bit matrices are multiplied over gf2 or bool, not {}", type_name(algebra));
    }
    if (options.levels < -1 || options.levels > kMostLevels) {
        fail(ErrorCode::usage, "{} levels cannot be; take 0 to {}, or -1 for as many as pay", options.levels,
             kMostLevels);
    }
    BitPlan plan;
    plan.algebra = algebra;
    plan.size = size;
    plan.threads = threads;
    plan.leaf = &find_leaf(algebra, options.leaf);
    const bool classical = options.algorithm == "classical";
    const LevelProgram& program =
        options.algorithm == "auto" || classical ? usual_level_program() : find_level_program(options.algorithm);
    if (algebra == Type::boolean) {
        if (options.levels > 0 || (options.algorithm != "auto" && !classical)) {
            fail(ErrorCode::usage,
                 "a bool product has no subtraction, so no levels; leave the algorithm and the levels to auto");
        }
    } else if (!classical) {
        plan.levels = options.levels >= 0 ? options.levels : best_levels(size, *plan.leaf, program, threads);
    } else if (options.levels > 0) {
        fail(ErrorCode::usage, "the classical algorithm has no levels, but {} were asked for", options.levels);
    }
    plan.program = plan.levels > 0 ? &program : nullptr;
    plan.shape = leaf_shape(size, *plan.leaf, plan.levels);
    plan.task_levels = tasks_at(threads, plan.levels);
    for (const auto& [x, y] : {std::pair{plan.shape.m, plan.shape.k}, std::pair{plan.shape.k, plan.shape.n},
                               std::pair{plan.shape.m, plan.shape.n}}) {
        checked_mul(checked_mul(x, y), std::int64_t{8} << (2 * plan.levels));  // all that follows fits in 64 bits
    }
    plan.predicted_s = multiply_s(plan) + packing_s(plan, plan.left()) + packing_s(plan, plan.right()) +
                       packing_s(plan, plan.result());
    return plan;
}

BitPlan make_fitting_bit_plan(Type algebra, const ProblemSize& size, const BitOptions& options, int threads,
                              std::int64_t limit_bytes) {
    BitPlan plan = make_bit_plan(algebra, size, options, threads);
    BitOptions fewer = options;
    while (options.levels < 0 && plan.levels > 0 && plan.workspace_bytes() > limit_bytes) {
        fewer.levels = plan.levels - 1;
        plan = make_bit_plan(algebra, size, fewer, threads);
    }
    return plan;
}

BitPlan parse_bit_plan(const std::string& text) {
    std::istringstream words = stream_of(text);
    std::string bits, type, algorithm_word, levels_word, leaf_word, leaf_shape_text, threads_word, workspace_word,
        predicted_word;
    ProblemSize size;
    BitOptions options;
    int threads = 0;
    std::int64_t workspace = 0;
    double predicted_s = 0;
    words >> bits >> type >> size.m >> size.k >> size.n >> algorithm_word >> options.algorithm >> levels_word >>
        options.levels >> leaf_word >> options.leaf >> leaf_shape_text >> threads_word >> threads >> workspace_word >>
        workspace >> predicted_word >> predicted_s;
    if (!words || bits != "bits" || algorithm_word != "algorithm" || levels_word != "levels" || leaf_word != "leaf" ||
        threads_word != "threads" || workspace_word != "workspace" || predicted_word != "predicted-s" ||
        predicted_s < 0 || workspace < 0 || size.m < 0 || size.k < 0 || size.n < 0 || options.levels < 0 ||
        threads < 1 || threads > kMostThreads) {
        fail(ErrorCode::input,
             "'{}' is no plan for bit matrices; one reads 'bits gf2 M K N algorithm NAME levels L leaf NAME MxKxN "
             "threads T workspace BYTES predicted-s S', with 1 to {} threads",
             text.substr(0, 100), kMostThreads);
    }
    try {
        const Type algebra = type_from_name(type);
        if (algebra == Type::boolean) {
            options.algorithm = "auto";
        }
        BitPlan plan = make_bit_plan(algebra, size, options, threads);
        plan.predicted_s = predicted_s;
        return plan;
    } catch (const Error& error) {  // a word of the text, not one of the caller
        fail(ErrorCode::input, "'{}' cannot be carried out here: {}", text.substr(0, 100), error.what());
    }
}

namespace {

/// Products whose results stay packed: the same levels and leaf, and leaf sizes with which a result is the next
/// operand.
ChainPlan packed_chain(Type algebra, const std::vector<std::int64_t>& sizes, BitOptions options, int threads) {
    ChainPlan chain;
    chain.packed = true;
    for (std::size_t i = 0; i + 2 < sizes.size(); ++i) {
        chain.plans.push_back(make_bit_plan(algebra, {sizes[0], sizes[i + 1], sizes[i + 2]}, options, threads));
        options.levels = i == 0 ? chain.plans[0].levels : std::min(options.levels, chain.plans[i].levels);
    }
    for (std::size_t i = 0; i < chain.plans.size(); ++i) {
        BitPlan& plan = chain.plans[i];
        plan = make_bit_plan(algebra, plan.size, options, threads);
        // Every size is rows of one operand and columns of another.
        const std::int64_t unit = std::max<std::int64_t>(64, plan.leaf->layout->column_unit());
        plan.shape = {round_up(plan.shape.m, unit), round_up(plan.shape.k, unit), round_up(plan.shape.n, unit)};
        // From the second on the left operand, and in a power the right one, is a result that is packed anew; leaving
        // the packed layout comes last.
        plan.predicted_s = multiply_s(plan) + packing_s(plan, plan.left()) + packing_s(plan, plan.right()) +
                           (i + 1 == chain.plans.size() ? packing_s(plan, plan.result()) : 0);
        chain.predicted_s += plan.predicted_s;
    }
    return chain;
}

ChainPlan separate_products(Type algebra, const std::vector<std::int64_t>& sizes, const BitOptions& options,
                            int threads) {
    ChainPlan chain;
    for (std::size_t i = 0; i + 2 < sizes.size(); ++i) {
        chain.plans.push_back(make_bit_plan(algebra, {sizes[0], sizes[i + 1], sizes[i + 2]}, options, threads));
        chain.predicted_s += chain.plans.back().predicted_s;
    }
    return chain;
}

}  // namespace

ChainPlan make_chain_plan(Type algebra, const std::vector<std::int64_t>& sizes, const BitOptions& options,
                          int threads) {
    std::vector<ChainPlan> candidates{packed_chain(algebra, sizes, options, threads),
                                      separate_products(algebra, sizes, options, threads)};
    if (options.algorithm == "auto" && algebra == Type::gf2) {
        for (const LevelProgram& program : level_programs()) {
            if (program.chains && !program.into.empty()) {
                BitOptions chaining = options;
                chaining.algorithm = program.name;
                candidates.insert(candidates.begin(), packed_chain(algebra, sizes, chaining, threads));
            }
        }
    }
    return *std::min_element(candidates.begin(), candidates.end(),
                             [](const ChainPlan& x, const ChainPlan& y) { return x.predicted_s < y.predicted_s; });
}

}  // namespace heptad::bits
