#include "papers/p0/bench_p0_record.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/text.hpp"
#include "papers/p0/c1060.hpp"

namespace heptad::cli {
namespace {

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) {
        sum += value;
    }
    return sum / static_cast<double>(values.size());
}

double rms_difference(const std::vector<double>& x, const std::vector<double>& y) {
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        squares += (x[i] - y[i]) * (x[i] - y[i]);
    }
    return std::sqrt(squares / static_cast<double>(x.size()));
}

std::string times(double ratio) {
    return std::isfinite(ratio) ? fmt::format("{:.3g}x", ratio) : "-";
}

}  // namespace

P0Counts p0_counts(std::int64_t n, const std::string& algorithm, const P0Thresholds& thresholds) {
    const DeviceCounts counts = counts_on_c1060(plan_for_c1060({n, n, n}, algorithm, thresholds));
    const auto whole = [n](const SizePolynomial& count) { return count.at(n).numerator(); };  // the sizes see to that
    return {whole(counts.arithmetics), whole(counts.transactions), whole(counts.volume_bytes)};
}

double correlation(const std::vector<double>& x, const std::vector<double>& y) {
    const double mean_x = mean(x), mean_y = mean(y);
    double both = 0, only_x = 0, only_y = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        both += (x[i] - mean_x) * (y[i] - mean_y);
        only_x += (x[i] - mean_x) * (x[i] - mean_x);
        only_y += (y[i] - mean_y) * (y[i] - mean_y);
    }
    return both / std::sqrt(only_x * only_y);  // 0 / 0 where one does not vary
}

std::optional<P0Trend> p0_trend(const std::vector<P0Record>& records) {
    std::vector<double> time{1};
    std::array<std::vector<double>, 3> counts{{{1}, {1}, {1}}};
    for (const P0Record& record : records) {
        if (record.product.levels == 0) {
            continue;  // the vendor's product stands for it
        }
        time.push_back(record.time_ratio());
        for (std::size_t which = 0; which < counts.size(); ++which) {
            counts[which].push_back(record.count_ratio(which));
        }
    }
    if (time.size() < 3) {
        return std::nullopt;
    }
    P0Trend trend;
    trend.type = records.front().product.type;
    trend.n = records.front().product.size.n;
    trend.algorithm = records.front().algorithm;
    trend.points = static_cast<int>(time.size());
    for (std::size_t which = 0; which < counts.size(); ++which) {
        trend.correlation[which] = correlation(time, counts[which]);
        trend.rms_difference[which] = rms_difference(time, counts[which]);
    }
    return trend;
}

nlohmann::ordered_json to_json(const P0Record& record) {
    nlohmann::ordered_json object = to_json(record.product);
    object["algorithm"] = record.algorithm;
    object["tau1"] = record.thresholds.tau1;
    object["tau2"] = record.thresholds.tau2;
    object["time_ratio"] = record.time_ratio();
    for (std::size_t which = 0; which < kP0CountNames.size(); ++which) {
        object[kP0CountNames[which]] = record.counts[which];
        object[std::string(kP0CountNames[which]) + "_ratio"] = record.count_ratio(which);
    }
    nlohmann::ordered_json errors = nlohmann::ordered_json::object();
    for (const P0Errors& error : record.errors) {
        errors[error.data] = {{"max_error", error.max_error},
                              {"mean_error", error.mean_error},
                              {"vendor_max_error", error.vendor_max_error},
                              {"vendor_mean_error", error.vendor_mean_error}};
    }
    object["errors"] = errors;
    return object;
}

nlohmann::ordered_json to_json(const P0Trend& trend) {
    nlohmann::ordered_json object{
        {"type", type_name(trend.type)}, {"n", trend.n}, {"algorithm", trend.algorithm}, {"points", trend.points}};
    for (std::size_t which = 0; which < kP0CountNames.size(); ++which) {
        object[std::string(kP0CountNames[which]) + "_correlation"] = trend.correlation[which];
        object[std::string(kP0CountNames[which]) + "_rms_difference"] = trend.rms_difference[which];
    }
    return object;
}

std::string p0_table_head() {
    return fmt::format("{:>6}  {:<4} {:>6} {:<9} {:>6} {:>10} {:>10} {:>7} {:>7} {:>7} {:>7}  {}\n", "ratio", "type",
                       "n", "algorithm", "levels", "vendor", "heptad", "time", "arith.", "trans.", "volume",
                       "max and mean error over the vendor's");
}

std::string p0_table_row(const P0Record& record) {
    const BenchRecord& product = record.product;
    std::string errors;
    for (const P0Errors& error : record.errors) {
        errors += fmt::format("{}{} {} {}", errors.empty() ? "" : ", ", error.data,
                              times(error.max_error / error.vendor_max_error),
                              times(error.mean_error / error.vendor_mean_error));
    }
    return fmt::format("{:>6.3f}  {:<4} {:>6} {:<9} {:>6} {:>10} {:>10} {:>7.3f} {:>7.3f} {:>7.3f} {:>7.3f}  {}\n",
                       product.ratio, type_name(product.type), product.size.n, record.algorithm, product.levels,
                       format_seconds(product.vendor_s), format_seconds(product.heptad_s), record.time_ratio(),
                       record.count_ratio(0), record.count_ratio(1), record.count_ratio(2),
                       errors.empty() ? "exact" : errors);
}

std::string p0_trend_line(const P0Trend& trend) {
    return fmt::format(
        "        {} {} {}: correlation of time with arithmetics {:.3f}, transactions {:.3f}, volume {:.3f}; "
        "rms difference {:.3f}, {:.3f}, {:.3f}\n",
        type_name(trend.type), trend.n, trend.algorithm, trend.correlation[0], trend.correlation[1],
        trend.correlation[2], trend.rms_difference[0], trend.rms_difference[1], trend.rms_difference[2]);
}

}  // namespace heptad::cli
