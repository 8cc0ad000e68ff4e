// Is C = alpha * A * B + beta * C0? Answered in O((mk + kn + mn) * vectors) operations instead of O(mkn).
//
// i32, i64, gf2: Freivalds' test with 64 random vectors; C x is compared with alpha A (B x) + beta C0 x exactly. A
//   wrong C passes with probability at most 2^-64.
// bool: rows are drawn at random and recomputed exactly; all rows where that is cheap or asked for.
// complex: as the real product it is (base/complex_as_real.hpp).
// floats: random signed sums of columns are compared in a higher precision (double; double-double for f64). The rows
//   that look worst are recomputed entry by entry, and judged against the rounding errors to be expected of each entry
//   (check/rounding.hpp). So a right result does not fail by bad luck.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>

#include "base/view.hpp"
#include "check/rounding.hpp"

namespace heptad {

struct VerifyOptions {
    double alpha = 1;
    double beta = 0;
    double alpha_imaginary = 0, beta_imaginary = 0;  ///< of complex matrices
    std::optional<ConstView> c0;                     ///< the C that beta multiplied; needed when beta != 0

    /// Floats: what the product was allowed to do, and so how far it may be off (check/rounding.hpp).
    check::JudgedBy by = {};
    int rounds = 8;  ///< floats: independent draws of signs

    bool all_rows = false;          ///< bool: recompute every row
    std::int64_t sampled_rows = 0;  ///< bool: so many rows; 0: as many as are cheap

    std::optional<std::uint64_t> seed;  ///< of the random vectors; drawn from the system where absent
    int threads = 0;                    ///< 0: all cores this process may use
    CancelToken cancel;

    bool adds() const { return beta != 0 || beta_imaginary != 0; }
    void set_factors(const std::complex<double>& of_product, const std::complex<double>& of_c0) {
        alpha = of_product.real();
        alpha_imaginary = of_product.imag();
        beta = of_c0.real();
        beta_imaginary = of_c0.imag();
    }
};

enum class Verdict : std::uint8_t {
    passed,
    failed,
    not_verifiable,  ///< e.g. errors that only roundings which all agree could explain; `explanation` says why
};

struct VerifyResult {
    Verdict verdict = Verdict::passed;
    bool passed() const { return verdict == Verdict::passed; }

    /// Probability that a wrong C passes; for floats, that an entry wrong by more than `detectable_error` does.
    double miss_chance = 0;
    /// Ring types: entries of C x that differ. bool: wrong entries in the recomputed rows.
    /// Floats: largest error of a recomputed entry as a multiple of what is allowed; where entries were not recomputed,
    /// the largest random sum likewise.
    double residual = 0;
    double tolerance = 0;  ///< what `residual` was compared with: 0 for exact types, 1 for floats
    /// Floats: an entry that is off by more than so many times its expected error (growth of the accuracy included) is
    /// missed with `miss_chance` at most.
    double threshold = 0;
    double detectable_error = 0;     ///< floats: the same as an absolute error, of the largest rows and columns
    double detectable_fraction = 0;  ///< bool: smallest fraction of wrong rows that is missed with chance <= 2^-60
    std::int64_t rows_recomputed = 0;
    std::int64_t bad_row = -1, bad_col = -1;  ///< a place where C is wrong; bad_col -1 where only the row is known
    std::uint64_t seed = 0;
    std::string explanation;  ///< one sentence for a person
};

/// Throws Error(input) for shapes or types that do not match and Error(usage) for options that cannot be meant.
VerifyResult verify(const ConstView& a, const ConstView& b, const ConstView& c, const VerifyOptions& options = {});

}  // namespace heptad
