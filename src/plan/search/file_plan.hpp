// A product from files to a file in a limited memory: which matrix stays there, how C is cut, what the disk moves.
//
//   keep C   C is cut into p x q tiles; one stays while panels of A and B pass   q|A| + p|B| + |C|
//   keep A   A is cut into p blocks of rows; one stays while B passes            |A| + p|B| + |C|
//   keep B   the mirror image, carried out as C^T = B^T A^T                      q|A| + |B| + |C|
//
// A kept A that is cut along k as well would have partial sums of C written and read again. With the same p that is
// never less than keeping C: q cuts cost 2(q - 1)|C| extra, keeping C at most |A||C| / (p M) <= q|C|, and q <= 2(q -
// 1).
//
// Within a tile: panel by panel along k, and for each panel strip by strip of rows. The panel of B stays for its
// strips. The next one is read beside it, or in its place when it was used: that costs the time of reading, and leaves
// memory for faster products. Pure functions: no file is touched.
#pragma once

#include <cstdint>
#include <functional>

#include "plan/model/plan.hpp"
#include "plan/search/file_layout.hpp"

namespace heptad {

struct FileProblem {
    std::int64_t m = 0, k = 0, n = 0;
    Type type = Type::f32;
    bool adds = false;  ///< C0 is read too
    std::int64_t memory_bytes = 0;
    FileLayout a, b,
        c;  ///< op(A), m x k; op(B), k x n; C, m x n. block_bytes: what direct I/O would need, 1: not at all
    /// Memory besides, for each row and column of a tile and twice for those of a strip and a panel: to check them.
    std::int64_t line_bytes = 0;
    double read_bytes_per_s = 2e9, write_bytes_per_s = 1e9;  ///< of the disk; plans for mul always take these
    bool by_time = false;  ///< smaller tiles, which move more and leave more memory for products, may be taken too
    bool whole_k = false;  ///< every number of C is made at once, from a whole row and a whole column
};

/// The product as carried out: mirrored, C^T = B^T A^T.
FileProblem oriented(FileProblem problem, bool mirrored);

/// What a cut takes and moves: made from it and the problem, never stored.
struct FileTraffic {
    std::int64_t tile_bytes = 0, panel_bytes = 0, workspace_bytes = 0;  ///< memory; panels of A and B together
    std::int64_t check_bytes = 0;                                       ///< likewise, to verify
    std::int64_t read_a_bytes = 0, read_b_bytes = 0, read_c0_bytes = 0, written_bytes = 0;  ///< as issued
    double multiply_s = 0;  ///< predicted; 0: nobody asked for it

    std::int64_t read_bytes() const { return read_a_bytes + read_b_bytes + read_c0_bytes; }
    std::int64_t moved_bytes() const { return read_bytes() + written_bytes; }
    std::int64_t used_bytes() const { return tile_bytes + panel_bytes + workspace_bytes + check_bytes; }
    bool operator==(const FileTraffic&) const = default;
};
/// Throws Error(resource) where that does not fit in 64 bits.
FileTraffic file_traffic(const FileProblem& problem, const DiskCut& cut, std::int64_t workspace_bytes);

/// A plan with a cut of files, and what it takes.
struct FileChoice {
    ProductPlan plan;
    FileTraffic traffic;
};
/// The same of a plan that was made before, without outer levels: files that do not allow direct I/O now are read and
/// written through the cache. Throws what the checks below do.
FileChoice file_choice(const FileProblem& problem, ProductPlan plan);

/// Throws Error(input) for a plan of another problem than this one, or without a cut of files.
void check_disk_plan(const FileProblem& problem, const ProductPlan& plan);
/// Throws Error(input) for a cut that does not fit; with outer levels, `problem` is that of one of their products.
void check_disk_cut(const FileProblem& problem, const DiskCut& cut);
/// The cut with direct I/O only where the files allow it.
DiskCut with_fitting_blocks(const FileProblem& problem, const DiskCut& cut);

/// The product of a strip and a panel, and what lies beside it.
struct StageProduct {
    std::int64_t m = 0, k = 0, n = 0;
    bool accumulate = false;
    std::int64_t workspace_limit_bytes = 0;
    std::int64_t tile_bytes = 0, panel_bytes = 0;  ///< the buffers of the plan; a device may hold copies of them
    double outer_growth = 1;                       ///< of errors, by levels around it: what is left of an accuracy word
    bool by_definition = false;                    ///< without levels, as `strict` is
};
/// What it would take, with at most so much workspace.
struct StagePrediction {
    double seconds = 0;
    std::int64_t workspace_bytes = 0;
};
using PredictStage = std::function<StagePrediction(const StageProduct& product)>;

/// The plan, its steps left open, with the fewest bytes, and of those the one with the shortest predicted run; or the
/// latter of all, where the problem says so. Throws Error(resource), naming what is needed and what there is, where the
/// memory is too small for any.
FileChoice plan_files(const FileProblem& problem, const PredictStage& predict);

/// Seconds of the whole run: the products with what they wait for at the start, between panels and at the end, or the
/// disk with the product that is left when everything was read.
double predicted_wall_s(const FileProblem& problem, const DiskCut& cut, const FileTraffic& traffic);

/// q|A| + p|B| + |C| (+ |C0|) for the best whole numbers p and q whose tiles of C fit 90 % of the memory, or the better
/// with A or B kept instead.
std::int64_t reference_bytes(const FileProblem& problem);
/// max(|A| + |B|, 2 sqrt(|A| |B| |C| / M)) + |C| (+ |C0|): what the classical order cannot go below, leading term.
std::int64_t lower_bound_bytes(const FileProblem& problem);

}  // namespace heptad
