// What `heptad bench p0` finds out: a record per product, P0's counts beside its time, and how closely the times follow
// each count over the levels (P0, figures 17 and 18: "speedup most closely follows volume").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/suites/bench_product.hpp"
#include "papers/p0/p0_plan.hpp"

namespace heptad::cli {

/// Arithmetics, memory transactions and bytes moved on the paper's machine, in this order; see device_counts.hpp.
using P0Counts = std::array<std::int64_t, 3>;
inline constexpr std::array<const char*, 3> kP0CountNames{"arithmetics", "transactions", "volume_bytes"};
/// Throws Error(usage) for what the paper does not count: sizes that are no power of two, leaves below 16.
P0Counts p0_counts(std::int64_t n, const std::string& algorithm, const P0Thresholds& thresholds);

/// Absolute errors of f32 over all entries, on one kind of data (P0, figures 19 to 22).
struct P0Errors {
    std::string data;
    double max_error = 0, mean_error = 0, vendor_max_error = 0, vendor_mean_error = 0;
};

struct P0Record {
    BenchRecord product;
    std::string algorithm;
    P0Thresholds thresholds;
    P0Counts counts{}, classical_counts{};
    std::vector<P0Errors> errors;  // empty for integers, whose results are exact

    double time_ratio() const { return product.heptad_s / product.vendor_s; }
    double count_ratio(std::size_t which) const {
        return static_cast<double>(counts[which]) / static_cast<double>(classical_counts[which]);
    }
};

/// Pearson's coefficient; NaN where one of the two does not vary. Precondition: equal lengths.
double correlation(const std::vector<double>& x, const std::vector<double>& y);

/// Times and counts of one type, size and algorithm over its levels, both relative to no level.
struct P0Trend {
    Type type = Type::f32;
    std::int64_t n = 0;
    std::string algorithm;
    int points = 0;                          // levels, the classical product among them
    std::array<double, 3> correlation{};     // of the time ratio with each count's ratio
    std::array<double, 3> rms_difference{};  // of the two ratios: which count foretells the time
};
/// Of records that differ in their levels only; nothing where there are fewer than three points.
std::optional<P0Trend> p0_trend(const std::vector<P0Record>& records);

nlohmann::ordered_json to_json(const P0Record& record);
nlohmann::ordered_json to_json(const P0Trend& trend);

std::string p0_table_head();
std::string p0_table_row(const P0Record& record);
std::string p0_trend_line(const P0Trend& trend);

}  // namespace heptad::cli
