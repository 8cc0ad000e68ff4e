#include "bench/suites/bench_gpu_table.hpp"

#include <fmt/format.h>

#include "cli/text.hpp"
#include "plan/model/plan.hpp"

namespace heptad::cli {
namespace {

std::string joules_text(const std::optional<double>& joules) {
    return joules ? fmt::format("{:.3g}", *joules) : "-";
}

/// The vendor's emulation beside the vendor: its ratio and its error over the vendor's.
std::string emulated_rows(const BenchRecord& record) {
    std::string rows;
    for (const BenchRecord::Emulated& one : record.emulated) {
        rows += fmt::format("{:>6.3f} {:>7.2f}  cuBLAS's own emulation with {} bits: {}, {} J, {}\n",
                            record.vendor_s / one.seconds, one.error / record.vendor_error, one.bits,
                            format_seconds(one.seconds), joules_text(one.joules),
                            one.bits_used > 0 ? fmt::format("{} bits used", one.bits_used) : "not emulated");
    }
    return rows;
}

}  // namespace

std::string gpu_table_head() {
    return fmt::format("{:>6} {:>7}  {:<4} {:>6} {:>6} {:>6} {:>10} {:>10} {:>14} {:>11} {:>9} {:>9}  {}\n", "ratio",
                       "error x", "type", "m", "k", "n", "vendor", "heptad", "effective", "workspace", "vendor J",
                       "heptad J", "plan");
}

std::string gpu_table_row(const BenchRecord& record) {
    return fmt::format("{:>6.3f} {:>7}  {:<4} {:>6} {:>6} {:>6} {:>10} {:>10} {:>14} {:>11} {:>9} {:>9}  {}\n",
                       record.ratio, error_ratio_text(record), type_name(record.type), record.size.m, record.size.k,
                       record.size.n, format_seconds(record.vendor_s), format_seconds(record.heptad_s),
                       format_rate(record.effective_tops * 1e12, record.type), format_bytes(record.workspace_bytes),
                       joules_text(record.vendor_joules), joules_text(record.joules),
                       short_plan(record.plan) + over_uniform_text(record)) +
           emulated_rows(record);
}

std::string short_plan(const std::string& plan) {
    const ProductPlan parsed = parse_plan(plan);
    std::string levels;
    for (const LevelPlan& level : parsed.levels) {
        levels += (levels.empty() ? "" : "+") + level.algorithm;
        levels += level.mode == LevelMode::parallel ? "" : fmt::format(" ({})", mode_name(level.mode));
    }
    if (is_by_residues(parsed)) {
        levels = fmt::format("residues:{}{}{}", parsed.arithmetic.moduli, levels.empty() ? "" : " ", levels);
    } else if (levels.empty()) {
        levels = "classical";
    }
    return fmt::format("{}, {}{}", levels, parsed.leaf, parsed.scaled_sums ? ", sums in f16" : "");
}

}  // namespace heptad::cli
