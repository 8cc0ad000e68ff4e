// The order of a product whose operands lie in host memory, on a device that holds all three matrices: transfers go on
// beside the products. Two ways to cut it:
//
//   by level   a level of a fast algorithm over blocks, and more of them at both ends (transfer_levels.cpp). The first
//              product needs few blocks, the others arrive beside it; a block of C goes home when its last product is
//              added. Products keep the shape of the whole, so all levels that would pay for it still do.
//   by pieces  k is cut into parts. With each a corner of C grows: rows of A and columns of B arrive in turn, and each
//              makes a strip of C possible. With the last part strips are complete, and go home at once; panels are
//              large first and small at the end. In the parts before they come in reverse, so that little has to arrive
//              for the first product. For products that take no sums of blocks.
//
//              A corner of x rows and x columns has x^2 of the work. With all of k at once the device would wait most
//              of the time and be busy at the end; with every part of k for all of C nothing could go home before the
//              end, and C would be read and written as often. What the work of the corner before leaves to do at its
//              end is done while the next corner begins.
//
// The one with the shortest predicted time is taken. Pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan/model/cuts.hpp"
#include "plan/model/problem.hpp"
#include "plan/search/host_layer.hpp"

namespace heptad {

inline constexpr int kMostTransferLevels = 4;  // beyond, ends are too short to gain by

/// A part of a matrix.
struct MatrixWindow {
    std::int64_t row = 0, rows = 0, col = 0, cols = 0;
    std::int64_t elements() const { return rows * cols; }
    bool operator==(const MatrixWindow&) const = default;
};
bool overlap(const MatrixWindow& x, const MatrixWindow& y);

/// What is complete in one part of C by now is where others begin.
struct TransferSpread {
    MatrixWindow from;
    std::vector<ResultTerm<MatrixWindow>> to;  // no larger
};
/// Blocks that are smaller than the product's operand at an edge: the rest is zero, and of C it is left out.
struct TransferStep : ProductTerms<MatrixWindow> {
    ProblemSize size;
    std::vector<TransferSpread> spreads{};
    std::vector<MatrixWindow> brings_a{}, brings_b{};  // what no step before has needed
    bool keeps_right_sum = false;                      // the step before has made the same one

    /// Is that side a part of the matrix as it lies there? Else it is made in a buffer.
    bool left_lies_there() const;
    bool right_lies_there() const;
    bool result_lies_there() const;
};

struct TransferSchedule {
    std::vector<TransferStep> steps;
    std::string algorithm;  // by level; empty: by pieces, or not cut at all
    int levels = 0;         // the most that a step is part of
    int kept_moduli = 0;    // by pieces: residues of A and B are made once for each part of k, so many of each number
};

struct TransferProblem {
    ProblemSize size;
    Type type = Type::f32;
    std::int64_t operand_bytes = 4, result_bytes = 4;  // of an element
    bool adds = false;                                 // C is brought too
    int most_levels = kMostTransferLevels;
    bool may_cut_k = true;
    int kept_moduli = 0;  // of products by residues: bytes of each number that schedules by pieces keep
    double upload_bytes_per_s = 50e9, download_bytes_per_s = 50e9;
    double sum_bytes_per_s = 3e12;  // on the device, read and written
};

/// Seconds of C = A B, or of C += A B, on the device.
using ProductSeconds = std::function<double(const ProblemSize& size, bool accumulate)>;

/// Sets what each step is the first to need. Precondition: of a window and smaller ones inside it, whichever comes
/// later finds all of itself there.
void settle_arrivals(std::vector<TransferStep>& steps);

TransferSchedule undivided_transfers(const ProblemSize& size);
/// What is done at the ends of a level. Its opening product takes one block of A and one of B, its closing one adds
/// such a product to one block of C: each is part of so many levels, of which this one is the first. Without a closing
/// one the products come in the order in which their blocks arrive, and the last is made in parts of its rows: one of
/// `last_parts`, and before it always three times as much as comes after.
struct LevelEnds {
    int opening = 1, closing = 1, last_parts = 1;
};
/// Levels of an algorithm; ends are made so only where that is possible. Carried out only where C is not added to.
TransferSchedule transfers_by_level(const ProblemSize& size, const std::string& algorithm, Type type,
                                    const LevelEnds& ends = {});
/// The parts add up to k, m and n. Columns are none, one, or as many as panels. The last product is made in so many
/// parts of its rows.
TransferSchedule transfers_by_pieces(const ProblemSize& size, const std::vector<std::int64_t>& depths,
                                     const std::vector<std::int64_t>& panels,
                                     const std::vector<std::int64_t>& columns = {}, int last_parts = 1);
/// The last step becomes several along its rows, of these heights, which go home one after another; not where one of
/// its blocks has fewer rows.
void cut_last(std::vector<TransferStep>& steps, const std::vector<std::int64_t>& heights);
/// As a plan's cut says; none: all at once. Precondition: check_transfer_cut().
TransferSchedule transfers_of(const ProblemSize& size, Type type, const std::optional<TransferCut>& cut);
/// Throws Error(input) where that cannot be.
void check_transfer_cut(const ProblemSize& size, Type type, const TransferCut& cut);

/// Memory on the device for the sums of blocks: the largest of each side. Rows begin on boundaries of 16 bytes.
struct SumBuffers {
    ProblemSize left, right, result;  // two of the three sizes count for each
    std::int64_t left_bytes = 0, right_bytes = 0, result_bytes = 0;
    std::int64_t bytes() const { return left_bytes + right_bytes + result_bytes; }
};
SumBuffers sum_buffers(const TransferSchedule& schedule, std::int64_t operand_bytes, std::int64_t result_bytes);
/// The same for the level that plan_transfers may choose.
std::int64_t sum_bytes_of_level(const TransferProblem& problem);
/// Elements from one row of such a buffer to the next.
std::int64_t sum_row_stride(std::int64_t cols, std::int64_t element_bytes);

/// Seconds until the last part of C has arrived.
double predicted_transfers_s(const TransferProblem& problem, const TransferSchedule& schedule,
                             const ProductSeconds& product_s);
struct PlannedTransfers {
    std::optional<TransferCut> cut;  // none: all at once
    TransferSchedule schedule;       // that it means
    double predicted_s = 0;
};
PlannedTransfers plan_transfers(const TransferProblem& problem, const ProductSeconds& product_s);

}  // namespace heptad
