// How far the entries of an f32 matrix are from the same ones in f64: the largest and the mean absolute difference.
#pragma once

#include <cstdint>

#include "base/view.hpp"

namespace heptad {

struct Difference {
    double max_abs = 0;  ///< NaN if any difference is
    double sum_abs = 0;
    std::int64_t entries = 0;
    double mean_abs() const { return entries > 0 ? sum_abs / static_cast<double>(entries) : 0; }
    /// The difference of two parts of a matrix together.
    void add(const Difference& part);
};

/// Any strides; `threads` 0: all cores this process may use. The same value however many there are. Throws Error(input)
/// unless the shapes are equal and the types f32 and f64.
Difference difference(const ConstView& f32, const ConstView& f64, int threads = 0);

}  // namespace heptad
