// What a plan promises of errors, for people: what to expect of them, and what no finite data exceeds.
//
// The words of a request are contracts (docs/accuracy.md), and a plan shows which of them it keeps: without levels it
// is `strict`; with levels that are taken for even data only, `balanced`; with levels that are taken always, `fast`.
#pragma once

#include <cstdint>

#include "plan/model/plan.hpp"

namespace heptad {

/// What a bound is a multiple of.
enum class BoundOver : std::uint8_t {
    nothing,   // exact: there is no error
    result,    // |AB|_ij itself, which is rounded once
    entries,   // (|A||B|)_ij
    lines,     // |a_i||b_j|, the 2-norms of row i of A and column j of B
    matrices,  // max|A| max|B|
};
/// As it is written in formulas.
const char* bound_over_text(BoundOver over);

struct ErrorPromise {
    double growth = 1;   // expected: so many times the classical product's error
    double typical = 0;  // expected: the largest error over |a_i||b_j|, on even data; 0: exact
    BoundOver over = BoundOver::nothing;
    double bound = 0;     // guaranteed for AB: |AB - computed|_ij is at most so many times that
    double roundoff = 0;  // of the type
};

/// How large the largest error of a classical product usually is, over |a_i||b_j|. 0 for exact types.
double typical_classical_error(Type type);

/// The built-in figure for levels of every place together (error_bound.hpp).
double expected_growth(const ProductPlan& plan);

/// With errors that grow by `growth`. `for_even_data`: levels outside of those that the plan names a least evenness for
/// are taken for even data only, too.
ErrorPromise promised_error(const ProductPlan& plan, double growth, bool for_even_data);
/// Of a plan that leaves it to ranks how they multiply blocks, the largest of which are multiplied as `block` says.
ErrorPromise promised_error(const ProductPlan& plan, const ProductPlan& block, Accuracy accuracy);
/// Of the classical product in its place.
ErrorPromise classical_promise(const ProductPlan& plan);
/// Of a result that is rounded to another type where it is stored.
ErrorPromise stored_as(Type type, const ProductPlan& plan, ErrorPromise promise);

}  // namespace heptad
