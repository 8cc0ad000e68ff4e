// Powers of two that make two matrices even, and how even they are then: what decides whether levels keep the digits.
//
// Levels add blocks before they multiply, so their rounding errors are relative to the usual values of A and B
// everywhere; those of the classical product are relative to (|A||B|)_ij, to the very values that meet. With
//
//   A'' = 2^rows(i) a_ik 2^inner(k),   B'' = 2^-inner(k) b_kj 2^cols(j)
//
// (exact, and C = 2^-rows(i) C'' 2^-cols(j)) two matrices are even if no (|A''||B''|)_ij is much smaller than the norms
// of rows and columns let it be. The exponents come from means of logarithms: log|a_ik| = mean + row + column + noise
// is what scaled data looks like, and a huge row or column does not disturb the others. Means, and what follows, are of
// a sample: some lines for the means of the lines across them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/evenness_facts.hpp"
#include "plan/model/plan.hpp"
#include "run/dense/level_sample.hpp"
#include "run/dense/line_sample.hpp"

namespace heptad {

struct Evenness {
    /// A lower estimate of (|A''||B''|)_ij over the product of the rms values of A'' and B'', and of k, for all i and j
    /// together: 0.5 for matrices of 1 and -1, 0.12 uniform, 0.04 to 0.06 normal, 0.025 uniform with rows and columns
    /// over 40 octaves, 0.005 exponential, 0 for two blocks on the diagonal.
    double value = 0;
    /// Without exponents nothing is scaled: the lines are alike already.
    std::vector<std::int32_t> rows, inner, minus_inner, cols;
    int most_inner = 0;  // the largest of them, without sign
    bool scales() const { return !rows.empty(); }
    LineExponents of_a() const { return {unless_zero(rows), unless_zero(inner)}; }
    LineExponents of_b() const { return {unless_zero(minus_inner), unless_zero(cols)}; }
    /// Largest values of A'' and B''.
    double max_a = 0, max_b = 0;
    /// log2 of how many usual products can be added up before the type rounds: negative where numbers fill their type,
    /// 9.6 for whole numbers from 0 to 255 in f32.
    double exact_products = -std::numeric_limits<double>::infinity();

private:
    /// Null: nobody need multiply by one.
    static const std::int32_t* unless_zero(const std::vector<std::int32_t>& exponents) {
        const bool all_zero = std::all_of(exponents.begin(), exponents.end(), [](std::int32_t x) { return x == 0; });
        return all_zero ? nullptr : exponents.data();
    }
};

/// Of the rows of A, of the places along k in A and in B, and of the columns of B.
struct OperandEffects {
    LineEffects a_rows, a_inner, b_inner, b_cols;
};
/// Exponents that take these effects away, where that is worth it or a line is zero. `largest_*`: of the rows of A and
/// the columns of B as they are; infinite where only their effects are known.
Evenness exponents_for(const OperandEffects& effects, const std::vector<double>& largest_of_rows,
                       const std::vector<double>& largest_of_cols);

/// The values that meet, in parts.
struct OperandTails {
    Tails of_a, of_b;
    double weight_a = 0, weight_b = 0;  // InnerSample::total_weight
};
/// Evenness::value, if the largest values with their exponents are so large.
double evenness_of(const OperandTails& tails, const OperandEffects& effects, double max_a, double max_b);
/// Evenness::exact_products of numbers of this type.
double exact_products_of(const OperandTails& tails, const OperandEffects& effects, Type type);
/// Are numbers so short that a classical product of such k is all but exact? Whether levels are is seen by their bits.
bool are_short(const Evenness& even, std::int64_t k);
/// They are, and a product with these levels is not exact?
/// Then no growth over the classical error means much, and levels may lose more than a digit.
bool only_levels_round(const Evenness& even, std::int64_t k, const std::vector<LevelPlan>& levels);
/// Rows of A or columns of B as they are, and with their powers of two: largest values, and sums of absolute values.
struct LineSizes {
    std::int64_t k;
    const std::vector<double>&largest, &sums;
    const std::vector<std::int32_t>& exponents;  // of the lines; empty: none
    double scaled_largest;                       // of all of them, with the powers along k, too
    const std::vector<double>& scaled_sums;
};
/// The promise for all data: error bounds are relative to the norms of the longest row of A'' and column of B'', so no
/// row of A and column of B may be much shorter than those, whatever a sample has seen of them. Zero lines do not count
/// if they are kZeroLine. The norms are bounded by |x|_2^2 <= max|x| |x|_1 and |x|_2 >= max(max|x|, |x|_1 / sqrt(k)).
bool norms_are_in_reach(const LineSizes& of_rows, const LineSizes& of_cols);

/// Samples of two matrices as levels cut them: all, or the outermost of many.
struct MeetingSamples {
    std::vector<LevelPlan> tried;
    double all_by_tried;  // numbers of levels
    LevelSample of_a, of_b;

    MeetingSamples(const ProblemSize& size, const std::vector<LevelPlan>& levels);
    /// How many times the classical error is expected with all levels. Each of those that are not tried is taken to
    /// lose as much as the others.
    double growth() const;
    /// Do the levels lose at most a digit to the classical product there, or that share of one?
    bool keep_the_digit(double share = 1) const;
};

/// Of finite matrices that `a_scan` and `b_scan` are of. `levels`: those that may lose a digit at most, or none if they
/// are taken whatever they lose. `may_scale`: otherwise the matrices are judged as they are. `share`: of that digit.
Evenness judge_evenness(Backend& backend, const ConstView& a, const ScanResult& a_scan, const ConstView& b,
                        const ScanResult& b_scan, const std::vector<LevelPlan>& levels, bool may_scale,
                        double share = 1);

}  // namespace heptad
