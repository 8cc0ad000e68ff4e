#include "bench/suites/bench_gpu_table.hpp"

#include <fmt/format.h>

#include "cli/text.hpp"
#include "plan/model/plan.hpp"

namespace heptad::cli {
namespace {

std::string joules_text(const std::optional<double>& joules) {
    return joules ? fmt::format("{:.3g}", *joules) : "-";
}

}  // namespace

std::string gpu_table_head() {
    return fmt::format("{:>6}  {:<4} {:>6} {:>6} {:>6} {:>10} {:>10} {:>14} {:>7} {:>11} {:>9} {:>9}  {}\n", "ratio",
                       "type", "m", "k", "n", "vendor", "heptad", "effective", "error x", "workspace", "vendor J",
                       "heptad J", "plan");
}

std::string gpu_table_row(const BenchRecord& record) {
    const std::string error_ratio =
        record.vendor_error > 0 ? fmt::format("{:.2f}", record.error / record.vendor_error) : "-";
    return fmt::format("{:>6.3f}  {:<4} {:>6} {:>6} {:>6} {:>10} {:>10} {:>14} {:>7} {:>11} {:>9} {:>9}  {}\n",
                       record.ratio, type_name(record.type), record.size.m, record.size.k, record.size.n,
                       format_seconds(record.vendor_s), format_seconds(record.heptad_s),
                       format_rate(record.effective_tops * 1e12, record.type), error_ratio,
                       format_bytes(record.workspace_bytes), joules_text(record.vendor_joules),
                       joules_text(record.joules), short_plan(record.plan));
}

std::string short_plan(const std::string& plan) {
    const ProductPlan parsed = parse_plan(plan);
    std::string levels;
    for (const LevelPlan& level : parsed.levels) {
        levels += (levels.empty() ? "" : "+") + level.algorithm;
        levels += level.mode == LevelMode::parallel ? "" : fmt::format(" ({})", mode_name(level.mode));
    }
    return fmt::format("{}, {}{}", levels.empty() ? "classical" : levels, parsed.leaf,
                       parsed.scaled_sums ? ", sums in f16" : "");
}

}  // namespace heptad::cli
