// How far off a product may be, and whether a result is the product at all.
//
//   const heptad::ProductCheck check = heptad::check_product(a, b, c);
//   if (!check.passed) std::puts(check.explanation.c_str());
//
// A check takes O(mk + kn + mn) operations, not O(mkn) (docs/verify.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <heptad/bits.hpp>
#include <heptad/heptad.hpp>

namespace heptad {

/// What a plan says about errors, besides its error_bound().
struct ErrorOutlook {
    double expected_growth = 1;  ///< expected error over the classical product's; 1 for exact types
    double typical_error = 0;    ///< the largest error over |a_i||b_j| (2-norms) on even data; 0 for exact types
    /// Guaranteed: |AB - computed|_ij is at most `bound` times `bound_over`, such as "|a_i||b_j|". Infinite: no known
    /// bound. `bound_over` is empty for exact types.
    double bound = 0;
    std::string bound_over = {};
};
HEPTAD_API ErrorOutlook error_outlook(const Plan& plan);

struct CheckOptions {
    /// Floats: the accuracy that C was computed with. strict and balanced are judged by rows, fast by whole matrices.
    Accuracy accuracy = Accuracy::balanced;
    bool all_rows = false;                   ///< booleans: recompute all rows, not a sample
    std::optional<std::uint64_t> seed = {};  ///< of the random vectors; empty: new ones each time
    int threads = 0;                         ///< 0: as Context::set_threads(0)
    CancelToken cancel = {};
};

struct ProductCheck {
    bool passed = false;
    bool decided = true;          ///< false: it is unknown whether C is right; the explanation says why
    double miss_chance = 0;       ///< chance that a wrong C passes; floats: one wrong by more than `detectable_error`
    double detectable_error = 0;  ///< floats: absolute error of an entry
    double residual = 0;          ///< what was found, to compare with `tolerance`
    double tolerance = 0;         ///< 0 for exact types
    std::int64_t bad_row = -1, bad_col = -1;  ///< a place where C is wrong; -1: not known
    std::string explanation = {};             ///< one sentence
};

/// Is C = A * B? The matrices are in host memory. Throws Error(input) for shapes or types that do not match.
HEPTAD_API ProductCheck check_product(const ConstAnyView& a, const ConstAnyView& b, const ConstAnyView& c,
                                      const CheckOptions& options = {});
/// The same for packed bits; `algebra` is Type::gf2 or Type::boolean.
HEPTAD_API ProductCheck check_product(Type algebra, const ConstBitView& a, const ConstBitView& b, const ConstBitView& c,
                                      const CheckOptions& options = {});

}  // namespace heptad
