// Freivalds' test over Z/2^32, Z/2^64 and GF(2): is D = C - (alpha A B + beta C0) zero? Tested by D X = 0 for a random
// n x 64 matrix X, computed as C X - alpha A (B X) - beta C0 X.
//
// The chance that a nonzero D passes, over the choice of X:
//   GF(2)    Take a row d != 0. For one column x of X, d.x is a uniform bit (fix all but one x_j with d_j = 1), so it
//   is
//            0 with probability 1/2; the 64 columns are independent: 2^-64.
//   Z/2^32   Take a row d != 0 and the largest t <= 31 for which 2^t divides all of d: d = 2^t e with some e_j odd.
//   Then
//            d.x = 0 mod 2^32 exactly if e.x = 0 mod 2^(32-t). Multiplication by the odd e_j permutes the residues and
//            x_j is uniform and independent of the others, so e.x is uniform mod 2^(32-t), and 0 with probability
//            2^-(32-t) <= 1/2. Equality for t = 31: entries that are wrong by 2^31, in one bit only. 64 columns: 2^-64.
//   Z/2^64   The same with 64 for 32 and 63 for 31.
// A further row that is wrong can only make the chance smaller.
#include <bit>
#include <cmath>

#include "check/residual.hpp"
#include "check/verify_kinds.hpp"

#include <fmt/format.h>

namespace heptad::check {
namespace {

template <class T>
VerifyResult verify_exactly(const VerifyProblem& problem) {
    constexpr int kLanes = kExactLanes<T>;
    const VerifyOptions& options = problem.options;
    const Lanes<T> x = draw_vectors<T>(problem.seed, 0, problem.b.cols, kLanes, nullptr);
    Residual<T> residual(problem.c.rows, kLanes, {options.alpha, options.beta, problem.a.cols, problem.a.type},
                         problem.pool);
    if (problem.uses_product()) {
        residual.take_a(0, problem.a, multiply_lanes(problem.b, x, problem.pool));
        problem.stop_if_cancelled();
    }
    if (problem.uses_c0()) {
        residual.take_c0(0, *options.c0, x, {});
        problem.stop_if_cancelled();
    }
    residual.take_c(0, problem.c, x, {});
    std::int64_t wrong = 0;
    for (const T sum : residual.sums.data) {
        if constexpr (kLanes == 1) {
            wrong += std::popcount(sum);
        } else {
            wrong += sum != T{} ? 1 : 0;
        }
    }
    VerifyResult result;
    result.residual = static_cast<double>(wrong);
    result.miss_chance = std::ldexp(1.0, -kExactVectors);
    if (wrong > 0) {
        result.verdict = Verdict::failed;
        result.bad_row = residual.first_wrong(0, problem.c.rows);
        result.explanation =
            fmt::format("C is certainly wrong: {} of its sums over {} random vectors differ, the first in row {}",
                        wrong, kExactVectors, result.bad_row);
    } else {
        result.explanation =
            fmt::format("{} random vectors over {} agree; a wrong C would pass with probability at most 2^-{}",
                        kExactVectors, type_name(problem.a.type), kExactVectors);
    }
    return result;
}

}  // namespace

VerifyResult verify_ring(const VerifyProblem& problem) {
    switch (problem.a.type) {
        case Type::i32:
            return verify_exactly<std::uint32_t>(problem);
        case Type::i64:
            return verify_exactly<IntegerMod64>(problem);
        default:
            return verify_exactly<std::uint64_t>(problem);
    }
}

}  // namespace heptad::check
