// Logarithmic axes of pictures: where a value is drawn, and which values are written beside the axis.
#pragma once

#include <vector>

namespace heptad::cli {

struct LogAxis {
    double low = 1, high = 1;    // values at both ends, more than 0
    double first = 0, last = 1;  // pixels there

    double at(double value) const;
    /// Makes room for a value.
    void take(double value);
    /// A little space on both sides.
    void widen();
    /// Round values, at least so many pixels apart.
    std::vector<double> ticks(double apart) const;
    /// Powers of two, at least so many pixels apart.
    std::vector<double> powers_of_two(double apart) const;
};

}  // namespace heptad::cli
