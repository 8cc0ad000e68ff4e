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
#include <string>

#include "plan/model/cuts.hpp"
#include "plan/search/file_layout.hpp"

namespace heptad {

const char* kept_name(Kept kept);

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
};

struct FilePlan {
    std::int64_t m = 0, k = 0, n = 0;
    Type type = Type::f32;
    bool adds = false;
    std::int64_t memory_bytes = 0;
    Kept kept = Kept::c;
    bool mirrored = false;  ///< carried out transposed; the sizes below are those of the product that is carried out
    std::int64_t tile_m = 0, tile_n = 0;      ///< of C
    std::int64_t depth = 0, first_depth = 0;  ///< of panels along k; the first one ends on a block of the file
    std::int64_t strip_m = 0;                 ///< rows multiplied, and written, at a time
    std::int64_t panel_buffers = 2;           ///< of the right matrix; 1: a panel is read when the one before was used
    std::int64_t a_block = 1, b_block = 1, c_block = 1;  ///< of the files A, B, C; 1: read or written through the cache

    std::int64_t tile_bytes = 0, panel_bytes = 0, workspace_bytes = 0;  ///< memory; panels of A and B together
    std::int64_t check_bytes = 0;                                       ///< likewise, to verify
    std::int64_t read_a_bytes = 0, read_b_bytes = 0, read_c0_bytes = 0, written_bytes = 0;  ///< as issued
    double multiply_s = 0;                                                                  ///< predicted

    std::int64_t moved_bytes() const { return read_a_bytes + read_b_bytes + read_c0_bytes + written_bytes; }
    std::int64_t used_bytes() const { return tile_bytes + panel_bytes + workspace_bytes + check_bytes; }
    bool operator==(const FilePlan&) const = default;
};

/// The product of a strip and a panel, and what lies beside it.
struct StageProduct {
    std::int64_t m = 0, k = 0, n = 0;
    bool accumulate = false;
    std::int64_t workspace_limit_bytes = 0;
    std::int64_t tile_bytes = 0, panel_bytes = 0;  ///< the buffers of the plan; a device may hold copies of them
    double outer_growth = 1;                       ///< of errors, by levels around it: what is left of an accuracy word
};
/// What it would take, with at most so much workspace.
struct StagePrediction {
    double seconds = 0;
    std::int64_t workspace_bytes = 0;
};
using PredictStage = std::function<StagePrediction(const StageProduct& product)>;

/// The plan with the fewest bytes, and of those the one with the shortest predicted run; or the latter of all, where
/// the problem says so. Throws Error(resource), naming what is needed and what there is, where the memory is too small
/// for any.
FilePlan plan_files(const FileProblem& problem, const PredictStage& predict);

/// Memory that checking takes with the cuts of a plan; `line_bytes` as in FileProblem.
std::int64_t check_bytes_of(const FilePlan& plan, std::int64_t line_bytes);

/// Seconds of the whole run: the products with what they wait for at the start, between panels and at the end, or the
/// disk with the product that is left when everything was read.
double predicted_wall_s(const FileProblem& problem, const FilePlan& plan);

/// q|A| + p|B| + |C| (+ |C0|) for the best whole numbers p and q whose tiles of C fit 90 % of the memory, or the better
/// with A or B kept instead.
std::int64_t reference_bytes(const FileProblem& problem);
/// max(|A| + |B|, 2 sqrt(|A| |B| |C| / M)) + |C| (+ |C0|): what the classical order cannot go below, leading term.
std::int64_t lower_bound_bytes(const FileProblem& problem);

/// One line, and back. Throws Error(input) for anything else.
std::string to_string(const FilePlan& plan);
FilePlan parse_file_plan(const std::string& text);

}  // namespace heptad
