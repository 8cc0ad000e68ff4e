#include "run/dense/spread.hpp"

#include <algorithm>

namespace heptad {
namespace {

double largest(const std::vector<double>& values) {
    double result = 0;
    for (const double x : values) {
        result = x <= result ? result : x;  // NaN too
    }
    return result;
}

/// Of values of which one is not zero.
double ratio(const std::vector<double>& values) {
    return largest(values) / *std::min_element(values.begin(), values.end());
}

}  // namespace

double spread_of(const ScanResult& a, const ScanResult& b) {
    if (a.max_abs == 0 || b.max_abs == 0 || a.rows.empty() || b.cols.empty()) {
        return 1;
    }
    const double of_a = largest(a.cols), of_b = largest(b.rows);
    double meeting = 0;
    for (std::size_t k = 0; k < a.cols.size(); ++k) {
        const double here = a.cols[k] / of_a * (b.rows[k] / of_b);
        meeting = here <= meeting ? meeting : here;
    }
    return ratio(a.rows) * ratio(b.cols) / meeting;
}

}  // namespace heptad
