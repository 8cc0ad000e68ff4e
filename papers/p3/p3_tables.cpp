#include "papers/p3/p3_tables.hpp"

#include <algorithm>
#include <iterator>

namespace heptad::cli {
namespace {

constexpr P3Line kTable13[] = {
    {1024, 1.07e-4, 9.84e-5, 1.67e-4, 1.51e-4, 1.63e-4, 122.33, 187.30},
    {2048, 2.15e-4, 1.93e-4, 2.72e-4, 2.45e-4, 2.53e-4, 29.92, 37.95},
    {4096, 1.16e-3, 1.30e-3, 1.05e-3, 9.97e-4, 1.01e-3, 25.08, 19.35},
    {8192, 8.28e-3, 7.86e-3, 5.86e-3, 5.55e-3, 5.56e-3, 19.07, 13.46},
    {16384, 5.21e-2, 5.94e-2, 3.97e-2, 3.76e-2, 3.77e-2, 18.02, 11.40},
    {32768, 4.09e-1, 4.69e-1, 2.81e-1, 2.66e-1, 2.66e-1, 17.76, 10.06},
    {65536, 3.28, 3.73, 1.97, 1.87, 1.87, 17.67, 8.85},
    {131072, 2.65e1, 2.98e1, 3.74, 3.33, 3.50, 17.65, 1.97},
    {262144, 6.76e1, 7.51e1, 2.34e1, 1.83e1, 1.83e1, 5.56, 1.36},
    {524288, 2.40e2, 2.71e2, 2.66e2, 1.19e2, 1.37e2, 2.51, 1.09},
    {1048576, 1.88e3, 2.11e3, 2.61e3, 8.21e2, 9.72e2, 2.44, 0.95},
};

constexpr P3Passes kTables6And7[] = {
    {1024, 1.56e-5, 3.28e-5, 3.42e-5},  {2048, 3.69e-5, 4.70e-5, 4.88e-5},   {4096, 1.23e-4, 8.10e-5, 8.80e-5},
    {8192, 4.63e-4, 1.80e-4, 2.09e-4},  {16384, 1.84e-3, 7.15e-4, 8.78e-4},  {32768, 7.45e-3, 2.06e-2, 2.56e-2},
    {65536, 2.98e-2, 9.36e-2, 1.20e-1}, {131072, 1.29e-1, 4.10e-1, 5.30e-1}, {262144, 4.94e-1, 1.81, 2.31},
    {524288, 2.03, 7.82, 1.01e1},       {1048576, 7.99, 3.45e1, 4.41e1},
};

}  // namespace

std::span<const P3Line> p3_table_13() {
    return kTable13;
}

const P3Line* p3_line(std::int64_t n) {
    const auto* const found =
        std::find_if(std::begin(kTable13), std::end(kTable13), [&](const P3Line& line) { return line.n == n; });
    return found == std::end(kTable13) ? nullptr : found;
}

const P3Passes* p3_passes(std::int64_t n) {
    const auto* const found = std::find_if(std::begin(kTables6And7), std::end(kTables6And7),
                                           [&](const P3Passes& line) { return line.n == n; });
    return found == std::end(kTables6And7) ? nullptr : found;
}

}  // namespace heptad::cli
