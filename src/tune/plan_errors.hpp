// How large the errors of plans are beside their times, measured on the operands they were timed with: the largest
//
//     |C - A B|_ij / (|A| |B|)_ij
//
// over sampled entries, of a plan and of the library's product. What one is over the other is the plan's growth. The
// sample is 64 rows of A and 8 times 64 columns of B, so that every block of three levels has its share.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/thread_pool.hpp"
#include "base/view.hpp"
#include "check/double_double.hpp"

namespace heptad {

class PlanErrors {
public:
    /// Copies a window of a matrix, wherever it lies, to the host; its rows one after another.
    using CopyWindow = std::function<void(const ConstView& window, void* to)>;

    /// Computes the sample in a finer arithmetic: double, for f64 double-double. Float types only.
    PlanErrors(const ConstView& a, const ConstView& b, CopyWindow copy, ThreadPool& pool);

    /// Of a C that was computed from these A and B.
    double of(const ConstView& c) const;

private:
    CopyWindow copy_;
    std::vector<std::int64_t> rows_, first_columns_;
    std::int64_t width_;  // columns of each window
    std::vector<check::DoubleDouble> exact_;
    std::vector<double> magnitude_;
};

/// Of matrices in memory.
void copy_host_window(const ConstView& window, void* to);

/// Growth of errors over the library's; a product of few terms may be exact, so less than one rounding counts
/// as that.
double error_growth(double plan_error, double library_error, Type type);

}  // namespace heptad
