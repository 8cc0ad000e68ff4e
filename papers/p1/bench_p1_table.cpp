#include "papers/p1/bench_p1_table.hpp"

#include <fmt/format.h>

#include "cli/text.hpp"

namespace heptad::cli {

std::string p1_table_head() {
    return fmt::format("{:>6}  {:<4} {:>6} {:>6}  {:<18} {:>10} {:>10} {:>7} {:>11} {:>9} {:>8} {:>7} {:>6} {:>6}\n",
                       "ratio", "type", "n", "levels", "variant", "cublas", "time", "error x", "workspace", "additions",
                       "products", "copies", "bases", "rest");
}

std::string p1_table_row(const BenchRecord& record) {
    std::string shares;
    constexpr int kWidths[] = {9, 8, 7, 6, 6};
    for (std::size_t i = 0; i < record.shares.size() && i < std::size(kWidths); ++i) {
        shares += fmt::format(" {:>{}}", fmt::format("{:.1f}%", 100 * record.shares[i].second), kWidths[i]);
    }
    return fmt::format("{:>6.3f}  {:<4} {:>6} {:>6}  {:<18} {:>10} {:>10} {:>7} {:>11}{}\n", record.ratio,
                       type_name(record.type), record.size.n, record.levels, record.variant,
                       format_seconds(record.vendor_s), format_seconds(record.heptad_s), error_ratio_text(record),
                       format_bytes(record.workspace_bytes), shares);
}

}  // namespace heptad::cli
