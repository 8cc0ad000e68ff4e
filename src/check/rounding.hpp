// What rounding does to an entry of a float product: the one scale that all checks judge by (docs/verify.md).
//
// A sum of k products in arithmetic of unit roundoff u is off by a random walk: each addition rounds the sum S_p so
// far, by about 0.4 u |S_p|. So the error that a classical product is expected to have is taken as
//
//   sums:   1/2 u sqrt(sum of S_p^2 + min(k * sum of (a_ip b_pj)^2, |a_i|^2 |b_j|^2))
//
// where the second term stands for sums in another order. It is two to ten times what libraries really do. bf16, f16
// and tf32 are summed in f32, and round values beside: the result, and in tf32 or under levels the factors too:
//
//   values: 1/2 u sqrt(c_ij^2 + sum of (a_ip b_pj)^2), twice the second term for tf32, where both factors round
//
// Levels of fast algorithms multiply both by a growth. An entry that is off by more than kMostOfEntry times that did
// not come from rounding errors that are independent of each other.
#pragma once

#include <cstdint>
#include <string>

#include <heptad/heptad.hpp>

namespace heptad::check {

/// Times the expected error: what an entry, or a random sum of entries, may be off by.
inline constexpr double kMostOfEntry = 8;
/// The same for the root mean square of several draws of signs over one row, which scatters less the more draws and
/// columns there are.
inline constexpr double kMostOfRow = 2;
double most_of_row(std::size_t draws, std::size_t columns);
/// An error so many times larger than that of the median entry, or row, stands alone.
inline constexpr double kAlone = 32, kRowAlone = 16;

/// No growth excuses an error of this share of an entry: it ends where kMostOfEntry * growth * u reaches it.
inline constexpr double kMostOfValue = 0.5;

/// Growth of errors over the classical product's that an accuracy allows.
inline constexpr double kBalancedGrowth = 10, kFastGrowth = 100;

/// What a product was allowed to do.
struct JudgedBy {
    /// strict and balanced are judged row by row; fast by the largest norms of the matrices, since levels mix rows.
    Accuracy accuracy = Accuracy::balanced;
    /// The expected growth of its plan, 1 for a classical one; 0: not known, so what the accuracy allows.
    double planned_growth = 0;
};

/// Squares, alpha and beta included, of one entry or summed over the entries of a random sum.
struct ErrorSources {
    double value = 0;         // c_ij^2 and (beta c0_ij)^2
    double products = 0;      // sum over p of (a_ip b_pj)^2
    double partial_sums = 0;  // sum over p of S_p^2
    double norms = 0;         // |a_i|^2 |b_j|^2
};

/// Norms of what a random sum over a row is made of: of the row of A (times |alpha|), and of the columns of B, the row
/// of C and the row of beta C0 with their weights.
struct SumNorms {
    double a = 0, b = 0, c = 0, c0 = 0;
    double most_c_share = 0;  // the largest c / (a b) of the rows that levels may have mixed with this one
};

/// Of a classical product.
struct ExpectedError {
    double values = 0, sums = 0;
    double both() const;
};

class Rounding {
public:
    /// `value_roundings`: times that C is rounded to its type, where it is summed in several pieces.
    Rounding(Type type, std::int64_t k, const JudgedBy& by, std::int64_t value_roundings = 1);

    ExpectedError expected(const ErrorSources& sources) const;
    /// Of a sum, from norms alone: S_p grows evenly up to c_ij, so the sum of its squares is about k/3 c_ij^2.
    ExpectedError expected_of_sum(const SumNorms& norms) const;
    double growth() const { return growth_; }
    bool by_whole_matrices() const { return by_whole_matrices_; }
    /// Were rows and columns mixed, so that an entry has errors of others too?
    bool may_mix_rows() const { return growth_ > 1; }

    /// What an entry may be off by, and what it could be if all roundings agreed in sign: at most sqrt(k) times more.
    double most(const ExpectedError& error) const { return kMostOfEntry * growth_ * error.both(); }
    double worst(const ExpectedError& error) const;
    /// Of a sum of squares S_p^2 over |a_i|^2 |b_j|^2: what rows with such shares (SumNorms) have of it.
    double mixed_partial_sums(double most_c_share) const;

private:
    double k_, value_unit_, sum_unit_, growth_;
    double factors_rounded_;  // of each product, beside the result
    bool by_whole_matrices_;
};

/// bf16, f16 and tf32 are summed in f32.
bool has_wider_sums(Type type);

/// What an entry may be off by because products and sums underflow.
double underflow_of_entry(Type type, std::int64_t k, double alpha);

/// 2^e with 2^e * norm about 1: weights that keep the small columns of a sum from vanishing beside the large ones. 1
/// for zero.
double weight_of(double norm);

/// "row-wise it is off, but judged by whole matrices as --accuracy fast ...": ends an explanation.
std::string passes_as_fast();

}  // namespace heptad::check
