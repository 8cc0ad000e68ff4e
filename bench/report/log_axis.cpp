#include "bench/report/log_axis.hpp"

#include <algorithm>
#include <cmath>

namespace heptad::cli {

double LogAxis::at(double value) const {
    return first + std::log(value / low) / std::log(high / low) * (last - first);
}

void LogAxis::take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
}

void LogAxis::widen() {
    const double margin = std::max(1.02, std::pow(high / low, 0.06));
    low /= margin;
    high *= margin;
}

std::vector<double> LogAxis::ticks(double apart) const {
    std::vector<double> chosen;
    const auto from = static_cast<int>(std::floor(std::log10(low))), to = static_cast<int>(std::ceil(std::log10(high)));
    // The roundest first, 1 before all: the others fill the gaps.
    for (const double digits : {1.0, 2.0, 5.0, 3.0, 1.5, 8.0, 1.25, 4.0, 6.0, 1.1, 9.0}) {
        for (int power = from; power <= to; ++power) {
            const double value = digits * std::pow(10.0, power);
            const bool fits = std::all_of(chosen.begin(), chosen.end(),
                                          [&](double other) { return std::abs(at(value) - at(other)) >= apart; });
            if (value >= low && value <= high && fits) {
                chosen.push_back(value);
            }
        }
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

std::vector<double> LogAxis::powers_of_two(double apart) const {
    const auto from = static_cast<int>(std::ceil(std::log2(low))), to = static_cast<int>(std::floor(std::log2(high)));
    const double octave = std::abs(last - first) / std::log2(high / low);
    const int step = std::max(1, static_cast<int>(std::ceil(apart / octave)));
    std::vector<double> values;
    for (int power = to; power >= from; power -= step) {
        values.push_back(std::exp2(power));
    }
    return values;
}

}  // namespace heptad::cli
