// Random products with forced levels at small sizes, and the definition in integers to compare with:
//
//   C = alpha * A * B + beta * C        exact in 64 bits, or mod 2^64, mod 2^32, mod 2, and (OR, AND)
//
// Bit for bit for the exact types, and for floats where every intermediate value fits the significand; elsewhere within
// the plan's error bound. Random cases of fixed seeds: type, device, algorithm, levels 0 to 4, mode, sizes 0 to 129,
// layouts, transposes, scalars.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "algorithm/catalogue.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "kernels/guarded_matrix.hpp"
#include "product/memory/product.hpp"

namespace heptad::test {

#ifdef HEPTAD_REDUCED_TESTS
constexpr int kShorter = 100, kMostRank = 23;
#else
constexpr int kShorter = 1, kMostRank = 2401;
#endif

using Random = std::mt19937;

inline int pick(Random& random, int lowest, int highest) {
    return std::uniform_int_distribution<int>(lowest, highest)(random);
}
template <class List>
auto pick_of(Random& random, const List& list) {
    return list[static_cast<std::size_t>(pick(random, 0, static_cast<int>(std::size(list)) - 1))];
}

struct Case {
    std::int64_t m = 0, k = 0, n = 0;
    Type type = Type::f32;
    Layout a = Layout::rows, b = Layout::rows, c = Layout::rows;
    bool transpose_a = false, transpose_b = false;
    double alpha = 1, beta = 0;
    int threads = 1, largest = 1;
    Options options;

    std::string text() const {
        return fmt::format(
            "{}x{}x{} {} algorithm {} levels {} mode {} device {} layouts {}{} {}{} {} alpha {} beta {} threads {}", m,
            k, n, type_name(type), options.algorithm, options.levels, options.mode, options.device, static_cast<int>(a),
            transpose_a ? "T" : "", static_cast<int>(b), transpose_b ? "T" : "", static_cast<int>(c), alpha, beta,
            threads);
    }
};

/// Names of the catalogue that apply to the type.
inline std::vector<std::string> algorithms_for(Type type) {
    std::vector<std::string> names;
    for (const std::string& name : algorithm_names(true)) {
        const Algorithm& algorithm = find_algorithm(name).algorithm;
        if (algorithm_admits(algorithm, type) && algorithm.rank() <= kMostRank) {
            names.push_back(name);
        }
    }
    return names;
}

/// Mostly a few units of the levels, with a fringe; sometimes anything.
inline std::int64_t pick_size(Random& random, std::int64_t unit) {
    const int kind = pick(random, 0, 19);
    if (kind == 0) {
        return pick(random, 0, 129);
    }
    if (kind <= 3 || unit > 60) {
        return pick(random, 0, 20);
    }
    const std::int64_t size = unit * pick(random, 1, unit <= 8 ? 3 : 1) + pick(random, 0, 3);
    return std::min<std::int64_t>(size, 129);
}

inline Case random_case(Type type, const std::vector<std::string>& names, Random& random) {
    Case x;
    x.type = type;
    x.options.algorithm = pick_of(random, names);
    const Algorithm& algorithm = find_algorithm(x.options.algorithm).algorithm;
    x.options.levels = pick(random, 0, 4);
    double rank = 1;
    std::int64_t unit_m = 1;
    std::int64_t unit_k = 1;
    std::int64_t unit_n = 1;
    for (int level = 0; level < x.options.levels; ++level) {
        rank *= algorithm.rank();
        if (rank > 2401) {
            x.options.levels = level;
            break;
        }
        unit_m *= algorithm.m;
        unit_k *= algorithm.k;
        unit_n *= algorithm.n;
    }
    x.m = pick_size(random, unit_m);
    x.k = pick_size(random, unit_k);
    x.n = pick_size(random, unit_n);
    constexpr const char* modes[] = {"auto", "serial", "parallel"};
    x.options.mode = pick_of(random, modes);
    x.options.device = x.m * x.k * x.n < 20000 && pick(random, 0, 3) == 0 ? "reference" : "cpu";
    x.a = pick_of(random, all_layouts);
    x.b = pick_of(random, all_layouts);
    x.c = pick_of(random, all_layouts);
    x.transpose_a = pick(random, 0, 2) == 0;
    x.transpose_b = pick(random, 0, 2) == 0;
    constexpr double scalars[] = {0, 1, 1, -1, 2, 5};
    constexpr double bits[] = {0, 1, 1};
    x.alpha = type == Type::boolean ? pick_of(random, bits) : pick_of(random, scalars);
    x.beta = type == Type::boolean ? pick_of(random, bits) : pick_of(random, scalars);
    x.largest = pick(random, 1, 3);
    x.threads = pick(random, 1, 2);
    return x;
}

inline void fill(GuardedMatrix& matrix, Type type, int largest, Random& random) {
    if (is_integer(type) && pick(random, 0, 1) == 0) {  // the whole range: products wrap
        for (std::int64_t i = 0; i < matrix.view().rows; ++i) {
            for (std::int64_t j = 0; j < matrix.view().cols; ++j) {
                const std::uint64_t high = type == Type::i64 ? std::uint64_t{random()} << 32 : 0;
                set_integer(type, element_pointer(matrix.view(), i, j),
                            type == Type::i64 ? static_cast<std::int64_t>(high | random())
                                              : std::int64_t{static_cast<std::int32_t>(random())});
            }
        }
        return;
    }
    matrix.fill_random(random, largest);
}

/// Residues mod 2^64, which contain those mod 2^32 and mod 2; exact integers for the floats.
using Wide = std::vector<std::uint64_t>;

inline Wide wide(const ConstView& view) {
    Wide result;
    result.reserve(static_cast<std::size_t>(view.rows * view.cols));
    for (std::int64_t i = 0; i < view.rows; ++i) {
        for (std::int64_t j = 0; j < view.cols; ++j) {
            result.push_back(static_cast<std::uint64_t>(get_integer(view.type, element_pointer(view, i, j))));
        }
    }
    return result;
}

/// The product by its definition.
inline void set_expected(const Case& x, const Wide& a, const Wide& b, GuardedMatrix& c) {
    const auto alpha = static_cast<std::uint64_t>(static_cast<std::int64_t>(x.alpha));
    const auto beta = static_cast<std::uint64_t>(static_cast<std::int64_t>(x.beta));
    const auto at = [](std::int64_t i, std::int64_t cols, std::int64_t j) {
        return static_cast<std::size_t>(i * cols + j);
    };
    Wide row(static_cast<std::size_t>(x.n));
    for (std::int64_t i = 0; i < x.m; ++i) {
        std::fill(row.begin(), row.end(), 0);
        for (std::int64_t q = 0; q < x.k; ++q) {
            const std::uint64_t factor = a[at(i, x.k, q)];
            for (std::int64_t j = 0; j < x.n; ++j) {
                row[static_cast<std::size_t>(j)] += factor * b[at(q, x.n, j)];
            }
        }
        for (std::int64_t j = 0; j < x.n; ++j) {
            std::byte* const entry = element_pointer(c.view(), i, j);
            const auto old = static_cast<std::uint64_t>(x.beta != 0 ? get_integer(x.type, entry) : 0);
            std::uint64_t sum = alpha * row[static_cast<std::size_t>(j)] + beta * old;
            if (x.type == Type::boolean) {
                sum = sum > 0 ? 1 : 0;
            } else if (x.type == Type::gf2) {
                sum &= 1;
            } else if (x.type == Type::i32) {
                sum = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(sum)});
            }
            set_integer(x.type, entry, static_cast<std::int64_t>(sum));
        }
    }
}

/// Every value on the way is an integer that the significand holds.
inline bool is_exact(const Case& x, const ProductPlan& plan) {
    double significand = 0;
    switch (x.type) {
        case Type::f64:
            significand = 0x1p53;
            break;
        case Type::f32:
            significand = 0x1p24;
            break;
        case Type::tf32:  // a device rounds the operands of products
            significand = x.options.device == "cuda" ? 0x1p11 : 0x1p24;
            break;
        case Type::f16:
            significand = 0x1p11;
            break;
        case Type::bf16:
            significand = 0x1p8;
            break;
        default:
            return true;
    }
    for (const LevelPlan& level : plan.levels) {
        if (find_algorithm(level.algorithm).algorithm.ring != Ring::integers) {
            return false;
        }
    }
    // The bound in units of the roundoff is at least the growth of all levels times the inner size of the leaf.
    const double grown = plan.levels.empty() ? static_cast<double>(x.k) : plan.error_bound / unit_roundoff(x.type);
    const double products = std::max(1.0, std::abs(x.alpha)) * grown * x.largest * x.largest;
    return products + std::abs(x.beta) * x.largest < significand;
}

struct Counts {
    int products = 0, with_levels = 0, exact = 0, four_levels = 0;
};

/// The three matrices of a product, and how A and B are meant.
struct CaseOperands {
    GuardedMatrix &a, &b, &c;
    bool transpose_a = false, transpose_b = false;
};
inline ConstView meant(const View& view, bool transpose) {
    return transpose ? transposed(ConstView(view)) : ConstView(view);
}

/// Who is tested: how it plans, and how it multiplies. The matrices are in host memory; what is written there is
/// judged.
struct Contestant {
    std::function<ProductPlan(const Case&, const Options&, const ProductContext&)> plan;
    std::function<RunReport(const Case&, const CaseOperands&, const Options&, const ProductContext&)> multiply;
};

/// One product; an empty sentence if it is right.
inline std::string objection(const Contestant& contestant, const Case& x, Random& random, Counts& counts) {
    GuardedMatrix a(x.type, x.transpose_a ? x.k : x.m, x.transpose_a ? x.m : x.k, x.a);
    GuardedMatrix b(x.type, x.transpose_b ? x.n : x.k, x.transpose_b ? x.k : x.n, x.b);
    GuardedMatrix c(x.type, x.m, x.n, x.c);
    fill(a, x.type, x.largest, random);
    fill(b, x.type, x.largest, random);
    if (x.beta != 0) {
        fill(c, x.type, x.largest, random);  // otherwise C holds NaN, which must not be read
    }
    const ConstView a_view = meant(a.view(), x.transpose_a);
    const ConstView b_view = meant(b.view(), x.transpose_b);
    ProductContext context;
    context.threads = x.threads;
    Options options = x.options;
    options.accumulate = x.beta != 0;
    options.accuracy = Accuracy::fast;  // those levels, whatever the data is like
    const ProductPlan plan = contestant.plan(x, options, context);
    const GuardedMatrix old_a = a;
    const GuardedMatrix old_b = b;
    GuardedMatrix expected = c;
    set_expected(x, wide(a_view), wide(b_view), expected);
    const RunReport report = contestant.multiply(x, {a, b, c, x.transpose_a, x.transpose_b}, options, context);
    counts.products += 1;
    counts.with_levels += plan.levels.empty() ? 0 : 1;
    counts.four_levels += plan.levels.size() == 4 ? 1 : 0;
    if (!a.equals_byte_for_byte(old_a) || !b.equals_byte_for_byte(old_b)) {
        return "an operand was written";
    }
    if (report.fell_back || report.workspace_used_bytes > plan.workspace_bytes) {
        return "it fell back, or used more workspace than told";
    }
    if (is_exact(x, plan)) {
        counts.exact += 1;
        return c.equals(expected) ? "" : "it is not exact";
    }
    const double u = unit_roundoff(x.type);
    double size_c = 0;
    for (std::int64_t i = 0; i < x.m; ++i) {
        for (std::int64_t j = 0; j < x.n; ++j) {
            size_c = std::max(size_c, std::abs(expected.get(i, j)));
        }
    }
    const double allowed = std::max(1.0, std::abs(x.alpha)) * plan.error_bound * x.largest * x.largest +
                           8 * u * (size_c + std::abs(x.beta) * x.largest);
    for (std::int64_t i = 0; i < x.m; ++i) {
        for (std::int64_t j = 0; j < x.n; ++j) {
            if (!(std::abs(c.get(i, j) - expected.get(i, j)) <= allowed)) {
                return fmt::format("({}, {}) is {} and should be {} within {}", i, j, c.get(i, j), expected.get(i, j),
                                   allowed);
            }
            expected.set(i, j, c.get(i, j));
        }
    }
    return c.equals(expected) ? "" : "a guard was written";
}

using Adjust = std::function<void(Case&, Random&)>;

/// `count` random products of a type; stops at the first wrong one. `adjust` may change a case before it is run.
inline Counts check_products(const Contestant& contestant, Type type, int count, unsigned seed,
                             const Adjust& adjust = {}) {
    const std::vector<std::string> names = algorithms_for(type);
    Random random(seed);
    Counts counts;
    for (int i = 0; i < count / kShorter; ++i) {
        Case x = random_case(type, names, random);
        if (adjust) {
            adjust(x, random);
        }
        std::string why;
        try {
            why = objection(contestant, x, random, counts);
        } catch (const std::exception& error) {
            why = error.what();
        }
        if (!why.empty()) {
            ADD_FAILURE() << "case " << i << " of seed " << seed << ": " << x.text() << ": " << why;
            break;
        }
    }
    testing::Test::RecordProperty("products", counts.products);
    testing::Test::RecordProperty("with_levels", counts.with_levels);
    testing::Test::RecordProperty("bit_for_bit", counts.exact);
    return counts;
}

}  // namespace heptad::test
