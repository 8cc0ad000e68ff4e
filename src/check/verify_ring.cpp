// Freivalds' test over Z/2^32 and GF(2): is D = C - (alpha A B + beta C0) zero? Tested by D X = 0 for a random n x 64
// matrix X, computed as C X - alpha A (B X) - beta C0 X.
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
// A further row that is wrong can only make the chance smaller.
#include <cmath>

#include "base/splitmix.hpp"
#include "check/lanes.hpp"
#include "check/verify_kinds.hpp"
#include "kernels/scalars.hpp"

#include <fmt/format.h>

namespace heptad::check {
namespace {

constexpr int kVectors = 64;

void note(VerifyResult& result, std::int64_t wrong_sums, std::int64_t first_bad_row, Type type) {
    result.residual = static_cast<double>(wrong_sums);
    result.miss_chance = std::ldexp(1.0, -kVectors);
    if (wrong_sums > 0) {
        result.verdict = Verdict::failed;
        result.bad_row = first_bad_row;
        result.explanation =
            fmt::format("C is wrong, certainly: {} of its sums over {} random vectors differ, the first in row {}",
                        wrong_sums, kVectors, first_bad_row);
    } else {
        result.explanation =
            fmt::format("{} random vectors over {} agree; a wrong C would pass with probability at most 2^-{}",
                        kVectors, type_name(type), kVectors);
    }
}

VerifyResult verify_i32(const VerifyProblem& problem) {
    const std::int64_t n = problem.b.cols;
    Lanes<std::uint32_t> x(n, kVectors);
    for (std::int64_t i = 0; i < n * kVectors / 2; ++i) {
        const std::uint64_t word = splitmix_word(problem.seed, i);
        x.data[static_cast<std::size_t>(2 * i)] = static_cast<std::uint32_t>(word);
        x.data[static_cast<std::size_t>(2 * i + 1)] = static_cast<std::uint32_t>(word >> 32);
    }
    Lanes<std::uint32_t> expected(problem.c.rows, kVectors);
    if (problem.uses_product()) {
        const std::uint32_t alpha = residue_mod_2_32(problem.options.alpha);
        expected = multiply_lanes(problem.a, multiply_lanes(problem.b, x, problem.pool), problem.pool);
        for (std::uint32_t& sum : expected.data) {
            sum *= alpha;
        }
        problem.stop_if_cancelled();
    }
    if (problem.uses_c0()) {
        const std::uint32_t beta = residue_mod_2_32(problem.options.beta);
        const Lanes<std::uint32_t> old = multiply_lanes(*problem.options.c0, x, problem.pool);
        for (std::size_t i = 0; i < old.data.size(); ++i) {
            expected.data[i] += beta * old.data[i];
        }
        problem.stop_if_cancelled();
    }
    const Lanes<std::uint32_t> got = multiply_lanes(problem.c, x, problem.pool);
    std::int64_t wrong = 0, first = -1;
    for (std::size_t i = 0; i < got.data.size(); ++i) {
        if (got.data[i] != expected.data[i]) {
            ++wrong;
            first = first < 0 ? static_cast<std::int64_t>(i) / kVectors : first;
        }
    }
    VerifyResult result;
    note(result, wrong, first, Type::i32);
    return result;
}

VerifyResult verify_gf2(const VerifyProblem& problem) {
    Lanes<std::uint64_t> x(problem.b.cols, 1);  // the 64 vectors of a row are the bits of its word
    for (std::size_t j = 0; j < x.data.size(); ++j) {
        x.data[j] = splitmix_word(problem.seed, static_cast<std::int64_t>(j));
    }
    std::vector<std::uint64_t> difference = multiply_lanes(problem.c, x, problem.pool).data;
    problem.stop_if_cancelled();
    const auto add = [&](const Lanes<std::uint64_t>& term) {
        for (std::size_t i = 0; i < difference.size(); ++i) {
            difference[i] ^= term.data[i];
        }
        problem.stop_if_cancelled();
    };
    if (problem.uses_product() && residue_mod_2(problem.options.alpha)) {
        add(multiply_lanes(problem.a, multiply_lanes(problem.b, x, problem.pool), problem.pool));
    }
    if (problem.uses_c0() && residue_mod_2(problem.options.beta)) {
        add(multiply_lanes(*problem.options.c0, x, problem.pool));
    }
    std::int64_t wrong = 0, first = -1;
    for (std::size_t i = 0; i < difference.size(); ++i) {
        if (difference[i] != 0) {
            wrong += std::popcount(difference[i]);
            first = first < 0 ? static_cast<std::int64_t>(i) : first;
        }
    }
    VerifyResult result;
    note(result, wrong, first, Type::gf2);
    return result;
}

}  // namespace

VerifyResult verify_ring(const VerifyProblem& problem) {
    return problem.a.type == Type::i32 ? verify_i32(problem) : verify_gf2(problem);
}

}  // namespace heptad::check
