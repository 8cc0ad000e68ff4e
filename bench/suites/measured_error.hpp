// How far a float product is from the exact one: |C - (alpha A B + beta C0)| on sampled rows, against a reference in a
// higher precision (double for f32 and below, double-double for f64). For exact types the error is 0 or 1 per entry.
// Complex products, whose rows lie side by side, are measured as the real ones that they are
// (base/complex_as_real.hpp): by their parts, max|A| as well.
#pragma once

#include <cstdint>
#include <optional>

#include "base/view.hpp"

namespace heptad {

struct ErrorOptions {
    double alpha = 1;
    double beta = 0;
    std::optional<ConstView> c0;  ///< the C that beta multiplied; needed when beta != 0
    std::int64_t rows = 32;       ///< rows measured, spread evenly; all where the matrix has no more or is small
    int threads = 0;              ///< 0: all cores this process may use
    CancelToken cancel;
};

struct ErrorMeasure {
    double max_abs = 0;  ///< max |C - exact|; NaN if C is not finite where the exact result is
    double rms = 0;
    /// max_abs / (max|A| * max|B|): the form of a plan's error bound. 0 where A or B is zero and C is right.
    double normalised = 0;
    /// max over entries of |C - exact| / (|alpha| |A| |B| + |beta| |C0|), entry by entry.
    double relative_to_product = 0;
    std::int64_t rows_measured = 0;
};

/// Complex: without beta and c0. Throws Error(input) for shapes or types that do not match.
ErrorMeasure measure_error(const ConstView& a, const ConstView& b, const ConstView& c,
                           const ErrorOptions& options = {});

}  // namespace heptad
