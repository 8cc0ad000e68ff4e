// One product's recursion over its levels. Inner half of the runner: sizes divide, nothing overlaps, input is finite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/backend.hpp"
#include "plan/search/level_layout.hpp"
#include "run/dense/arena.hpp"
#include "run/dense/lined_product.hpp"
#include "run/dense/runner.hpp"

namespace heptad {

struct ScheduleBlocks;

/// Counts multiplications of finished leaf products.
inline WorkMeter dense_meter(const RunHooks& hooks, double total) {
    return {hooks, total, "the product was cancelled; C is undefined"};
}

class LevelRunner {
public:
    LevelRunner(const ProductPlan& plan, Backend& backend, Arena& arena, WorkMeter& meter)
        : plan_(plan), backend_(backend), arena_(arena), meter_(meter) {}

    /// From level `depth` down. `operands_die`: a and b may be destroyed.
    void run(std::size_t depth, const LinedProduct& whole, bool operands_die);
    /// The same from the top, with A and B changed to the algorithm's bases first and C changed back at the end.
    void run_in_changed_basis(const LinedProduct& whole);
    /// The outermost level has A and B noted by the backend's guard in the passes that read them anyway.
    void watch_operands() { watches_ = true; }

private:
    void run_parallel(std::size_t depth, const LinedProduct& whole);
    void run_serial(std::size_t depth, const LinedProduct& whole, bool operands_die);
    void run_product(std::size_t depth, const LinedProduct& whole, const ScheduleStep& step, const LevelEntry& entry,
                     ScheduleBlocks& blocks, View& spare);
    /// Passes the block of a symbol through memory once, so that it has these powers beside it.
    void set_lines(ScheduleBlocks& blocks, const Symbol& symbol, Shape shape, const LineExponents& lines);
    void run_batch(std::size_t depth, const std::vector<LinedProduct>& products);
    void run_fused(const std::vector<LinedProduct>& products);
    void combine(CombinePass pass);
    View stored_block(const ConstView& like, std::int64_t rows, std::int64_t cols, Shape shape);
    bool is_padded() const { return level_storage(plan_, 0).padded; }

    const ProductPlan& plan_;
    Backend& backend_;
    Arena& arena_;
    WorkMeter& meter_;
    bool watches_ = false;  // the first passes over A and B note their largest values
};

/// The grid_rows x grid_cols blocks of a view, row by row.
std::vector<View> blocks_of(const View& view, int grid_rows, int grid_cols);
std::vector<View> blocks_of(const ConstView& view, int grid_rows, int grid_cols);
/// A view on memory that is laid out like `like`: by columns if that is, by rows otherwise.
View storage_view(void* memory, const ConstView& like, std::int64_t rows, std::int64_t cols, bool padded);

}  // namespace heptad
