#include "bits/bit_plan.hpp"

#include <algorithm>
#include <sstream>

#include "base/error.hpp"
#include "base/size.hpp"

namespace heptad::bits {
namespace {

constexpr int kMostLevels = 12;

/// Smallest leaf so that 2^levels of them cover the product in each direction.
LeafShape leaf_shape(const ProblemSize& size, const Leaf& leaf, int levels) {
    const auto padded = [&](std::int64_t n, std::int64_t unit) {
        return round_up(std::max<std::int64_t>(ceil_div(n, std::int64_t{1} << levels), 1), unit);
    };
    return {padded(size.m, kGroupRows), padded(size.k, 64), padded(size.n, leaf.layout->column_unit())};
}

/// Leaves below this pay their overhead (tables, packing of sums) badly.
constexpr std::int64_t kSmallestLeaf = 512;
/// In units of one bit product.
double predicted_cost(const Leaf& leaf, const LeafShape& shape, int levels) {
    const double product =
        static_cast<double>(shape.m + leaf.overhead_rows) * static_cast<double>(shape.k) * static_cast<double>(shape.n);
    const auto words = static_cast<double>(3 * packed_words(shape.m, shape.k) + 3 * packed_words(shape.k, shape.n) +
                                           6 * packed_words(shape.m, shape.n));
    double cost = product, quarter = 1;
    for (int level = 0; level < levels; ++level) {
        cost = 7 * cost + quarter * words * leaf.products_per_addition;
        quarter *= 4;
    }
    return cost;
}

int best_levels(const ProblemSize& size, const Leaf& leaf) {
    int best = 0;
    for (int levels = 1; levels <= kMostLevels; ++levels) {
        const LeafShape shape = leaf_shape(size, leaf, levels);
        if (std::min({size.m, size.k, size.n}) >> levels < kSmallestLeaf) {
            break;
        }
        // A level that is predicted to be as good as none is none.
        if (predicted_cost(leaf, shape, levels) < 0.97 * predicted_cost(leaf, leaf_shape(size, leaf, best), best)) {
            best = levels;
        }
    }
    return best;
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

}  // namespace

std::int64_t BitPlan::workspace_bytes() const {
    const std::int64_t scratch = levels > 0 ? scratch_words(job(nullptr)) : 0;
    return 8 * (left().words() + right().words() + result().words() + scratch);
}

std::string BitPlan::to_string() const {
    return fmt::format("bits {} {} {} {} algorithm {} levels {} leaf {} {}x{}x{} threads {} workspace {}",
                       type_name(algebra), size.m, size.k, size.n, program == nullptr ? "classical" : program->name,
                       levels, leaf->name, shape.m, shape.k, shape.n, threads, workspace_bytes());
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
        find_level_program(options.algorithm == "auto" || classical ? "self-inverse" : options.algorithm);
    if (algebra == Type::boolean) {
        if (options.levels > 0 || (options.algorithm != "auto" && !classical)) {
            fail(ErrorCode::usage,
                 "a bool product has no subtraction, so no levels; leave the algorithm and the levels to auto");
        }
    } else if (!classical) {
        plan.levels = options.levels >= 0 ? options.levels : best_levels(size, *plan.leaf);
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
    return plan;
}

BitPlan parse_bit_plan(const std::string& text) {
    std::istringstream words(text);
    std::string bits, type, algorithm_word, levels_word, leaf_word, leaf_shape_text, threads_word;
    ProblemSize size;
    BitOptions options;
    int threads = 0;
    words >> bits >> type >> size.m >> size.k >> size.n >> algorithm_word >> options.algorithm >> levels_word >>
        options.levels >> leaf_word >> options.leaf >> leaf_shape_text >> threads_word >> threads;
    if (!words || bits != "bits" || algorithm_word != "algorithm" || levels_word != "levels" || leaf_word != "leaf" ||
        threads_word != "threads" || size.m < 0 || size.k < 0 || size.n < 0 || options.levels < 0 || threads < 1) {
        fail(ErrorCode::input,
             "'{}' is no plan for bit matrices; one reads 'bits gf2 M K N algorithm NAME levels L leaf NAME MxKxN "
             "threads T workspace BYTES'",
             text.substr(0, 100));
    }
    if (type_from_name(type) == Type::boolean) {
        options.algorithm = "auto";
    }
    return make_bit_plan(type_from_name(type), size, options, threads);
}

std::vector<BitPlan> make_chain_plans(Type algebra, const std::vector<std::int64_t>& sizes, const BitOptions& options,
                                      int threads) {
    BitOptions chosen = options;
    if (options.algorithm == "auto" && algebra == Type::gf2) {
        chosen.algorithm = "chaining";
    } else if (algebra == Type::gf2 && options.algorithm != "classical" &&
               !find_level_program(options.algorithm).chains) {
        fail(ErrorCode::usage,
             "products in the basis of '{}' cannot be chained, because its results come in another basis than its "
             "operands; take chaining, winograd or classical",
             options.algorithm);
    }
    std::vector<BitPlan> plans;
    for (std::size_t i = 0; i + 2 < sizes.size(); ++i) {
        plans.push_back(make_bit_plan(algebra, {sizes[0], sizes[i + 1], sizes[i + 2]}, chosen, threads));
        chosen.levels = i == 0 ? plans[0].levels : std::min(chosen.levels, plans[i].levels);
    }
    // Every size is rows of one operand and columns of another.
    for (BitPlan& plan : plans) {
        plan = make_bit_plan(algebra, plan.size, chosen, threads);
        const std::int64_t unit = std::max<std::int64_t>(64, plan.leaf->layout->column_unit());
        plan.shape = {round_up(plan.shape.m, unit), round_up(plan.shape.k, unit), round_up(plan.shape.n, unit)};
    }
    return plans;
}

}  // namespace heptad::bits
