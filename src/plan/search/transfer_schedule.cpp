#include "plan/search/transfer_schedule.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kLeastSideOfLevel = 8192;
constexpr std::int64_t kLeastTransferPiece = 1024;  // smaller products are poor ones
constexpr std::int64_t kUnit = 256;                 // cuts that levels divide well
constexpr int kLastParts[] = {4, 8, 16};
constexpr int kMostLastParts = 64;
constexpr std::size_t kMostTransferPieces = 64;

double bytes_of(const std::vector<MatrixWindow>& windows, std::int64_t element_bytes) {
    double bytes = 0;
    for (const MatrixWindow& window : windows) {
        bytes += static_cast<double>(window.elements()) * static_cast<double>(element_bytes);
    }
    return bytes;
}

double area(std::int64_t rows, std::int64_t cols) {
    return static_cast<double>(rows) * static_cast<double>(cols);
}

/// Read and written by the sums around the product of a step.
double sum_bytes(const TransferProblem& problem, const TransferStep& step) {
    const auto& [m, k, n] = step.size;
    const auto operand = static_cast<double>(problem.operand_bytes), result = static_cast<double>(problem.result_bytes);
    double bytes = 0;
    if (!step.left_lies_there()) {
        bytes += static_cast<double>(step.left.size() + 1) * area(m, k) * operand;
    }
    if (!step.right_lies_there() && !step.keeps_right_sum) {
        bytes += static_cast<double>(step.right.size() + 1) * area(k, n) * operand;
    }
    if (!step.result_lies_there()) {
        bytes += static_cast<double>(2 * step.result.size() + 1) * area(m, n) * result;
    }
    for (const TransferSpread& spread : step.spreads) {
        bytes += static_cast<double>(spread.to.size() + 1) * area(spread.from.rows, spread.from.cols) * result;
    }
    return bytes;
}

/// What the product of a step takes without looking at the lines that are kept, each number twice, and without making
/// residues of them. Launches that were hidden by that are not any more: on an H200 a tenth of a millisecond of a step.
double seconds_beside_kept(const TransferProblem& problem, const TransferSchedule& schedule, const TransferStep& step,
                           double product_s) {
    if (schedule.kept_moduli == 0) {
        return product_s;
    }
    constexpr double kLaunches_s = 1e-4;
    const auto& [m, k, n] = step.size;
    const double there = area(m, k) + area(k, n) - bytes_of(step.brings_a, 1) - bytes_of(step.brings_b, 1);
    const double bytes = there * static_cast<double>(2 * problem.operand_bytes + schedule.kept_moduli);
    return kLaunches_s + std::max(product_s / 2, product_s - bytes / problem.sum_bytes_per_s);
}

bool lies_there(const std::vector<Term<MatrixWindow>>& terms, std::int64_t rows, std::int64_t cols) {
    return terms.size() == 1 && terms[0].coefficient == 1 && terms[0].block.rows == rows && terms[0].block.cols == cols;
}

/// Parts of a side, in 32nds and on units, and the rest; the whole where one would be small.
std::vector<std::int64_t> cut_by(std::int64_t size, const std::vector<std::int64_t>& parts_of_32) {
    std::vector<std::int64_t> pieces;
    std::int64_t left = size;
    for (const std::int64_t parts : parts_of_32) {
        const std::int64_t piece = round_up(size * parts / 32, kUnit);
        if (piece < kLeastTransferPiece || left - piece < kLeastTransferPiece) {
            return {size};
        }
        pieces.push_back(piece);
        left -= piece;
    }
    pieces.push_back(left);
    return pieces;
}

/// Parts of n in the proportions of those of m, on units; the whole where one would be small.
std::vector<std::int64_t> columns_like(const std::vector<std::int64_t>& panels, const ProblemSize& size) {
    std::vector<std::int64_t> columns;
    std::int64_t rows = 0, begin = 0;
    for (const std::int64_t panel : panels) {
        rows += panel;
        const auto share = static_cast<double>(rows) / static_cast<double>(size.m) * static_cast<double>(size.n);
        const std::int64_t end = rows == size.m ? size.n : round_up(static_cast<std::int64_t>(share), kUnit);
        if (end - begin < kLeastTransferPiece) {
            return {size.n};
        }
        columns.push_back(end - begin);
        begin = end;
    }
    return columns;
}

/// Of a side, on units, the last one smaller; fewer where they would have nothing in them.
std::vector<std::int64_t> equal_parts(std::int64_t size, int parts) {
    const std::int64_t part = round_up(std::max<std::int64_t>(ceil_div(size, parts), 1), kUnit);
    std::vector<std::int64_t> pieces;
    for (std::int64_t left = size; left > part; left -= part) {
        pieces.push_back(part);
    }
    pieces.push_back(size - part * static_cast<std::int64_t>(pieces.size()));
    return pieces;
}

/// All that are tried.
std::vector<LevelEnds> ends_of_levels(const ProblemSize& size, int most_levels) {
    const std::int64_t side = std::min({size.m, size.k, size.n});
    while (most_levels > 1 && side >> most_levels < kLeastTransferPiece) {
        --most_levels;
    }
    std::vector<LevelEnds> all;
    for (int opening = 1; opening <= most_levels; ++opening) {
        for (int closing = 1; closing <= most_levels; ++closing) {
            all.push_back({opening, closing, 1});
        }
        for (const int last_parts : kLastParts) {
            if (size.m / 2 / last_parts >= kLeastTransferPiece) {
                all.push_back({opening, 0, last_parts});
            }
        }
    }
    return all;
}

}  // namespace

bool TransferStep::left_lies_there() const {
    return lies_there(left, size.m, size.k);
}
bool TransferStep::right_lies_there() const {
    return lies_there(right, size.k, size.n);
}
bool TransferStep::result_lies_there() const {
    return result.size() == 1 && result[0].block.rows == size.m && result[0].block.cols == size.n;
}

bool overlap(const MatrixWindow& x, const MatrixWindow& y) {
    return x.row < y.row + y.rows && y.row < x.row + x.rows && x.col < y.col + y.cols && y.col < x.col + x.cols;
}

TransferSchedule undivided_transfers(const ProblemSize& size) {
    return transfers_by_pieces(size, {size.k}, {size.m});
}

void settle_arrivals(std::vector<TransferStep>& steps) {
    std::vector<MatrixWindow> there_a, there_b;
    const auto bring = [](const std::vector<Term<MatrixWindow>>& terms, std::vector<MatrixWindow>& there,
                          std::vector<MatrixWindow>& brings) {
        for (const Term<MatrixWindow>& term : terms) {
            const auto holds_it = [&](const MatrixWindow& window) { return overlap(window, term.block); };
            if (std::ranges::none_of(there, holds_it)) {
                there.push_back(term.block);
                brings.push_back(term.block);
            }
        }
    };
    for (TransferStep& step : steps) {
        bring(step.left, there_a, step.brings_a);
        bring(step.right, there_b, step.brings_b);
    }
}

TransferSchedule transfers_by_pieces(const ProblemSize& size, const std::vector<std::int64_t>& depths,
                                     const std::vector<std::int64_t>& panels, const std::vector<std::int64_t>& columns,
                                     int last_parts) {
    struct Range {
        std::int64_t first, count;
    };
    TransferSchedule schedule;
    std::int64_t first = 0;
    int turn = 0;
    const std::size_t count = panels.size();
    const auto add = [&](const Range& rows, const Range& cols, std::int64_t depth) {
        const bool last = first + depth == size.k;
        schedule.steps.push_back({{{{{rows.first, rows.count, first, depth}, 1}},
                                   {{{first, depth, cols.first, cols.count}, 1}},
                                   {{{rows.first, rows.count, cols.first, cols.count}, 1, turn, last}}},
                                  {rows.count, depth, cols.count}});
    };
    for (const std::int64_t depth : depths) {
        const bool is_last = first + depth == size.k;
        Range done{0, 0}, across{0, columns.size() > 1 ? 0 : size.n};  // the corner's rows and columns
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t panel = is_last ? i : count - 1 - i;
            const Range rows{done.count, panels[panel]};
            if (across.count > 0) {
                add(rows, across, depth);
            }
            done.count += panels[panel];
            if (columns.size() > 1) {
                add(done, {across.count, columns[panel]}, depth);
                across.count += columns[panel];
            }
        }
        first += depth;
        ++turn;
    }
    settle_arrivals(schedule.steps);
    cut_last(schedule.steps, equal_parts(schedule.steps.back().size.m, last_parts));
    return schedule;
}

void cut_last(std::vector<TransferStep>& steps, const std::vector<std::int64_t>& heights) {
    const TransferStep whole = steps.back();
    const auto has_all_rows = [&](const auto& part) { return part.block.rows == whole.size.m; };
    if (heights.size() == 1 || !whole.spreads.empty() || !std::ranges::all_of(whole.left, has_all_rows) ||
        !std::ranges::all_of(whole.result, has_all_rows)) {
        return;
    }
    steps.pop_back();
    std::int64_t first = 0;
    for (const std::int64_t height : heights) {
        TransferStep piece = whole;
        piece.size.m = height;
        const auto narrow = [&](auto& part) {
            part.block.row += first;
            part.block.rows = height;
        };
        std::for_each(piece.left.begin(), piece.left.end(), narrow);
        std::for_each(piece.result.begin(), piece.result.end(), narrow);
        if (first > 0) {
            piece.brings_a.clear();
            piece.brings_b.clear();
            piece.keeps_right_sum = !piece.right_lies_there();
        }
        steps.push_back(piece);
        first += height;
    }
}

TransferSchedule transfers_of(const ProblemSize& size, Type type, const std::optional<TransferCut>& cut) {
    return !cut ? undivided_transfers(size)
           : !cut->algorithm.empty()
               ? transfers_by_level(size, cut->algorithm, type, {cut->opening, cut->closing, cut->last_parts})
               : transfers_by_pieces(size, cut->depths, cut->panels, columns_like(cut->panels, size), cut->last_parts);
}

void check_transfer_cut(const ProblemSize& size, Type type, const TransferCut& cut) {
    const auto require = [](bool right, const char* what) {
        fail_if(!right, ErrorCode::input, "the plan's transfers do not fit together: {}", what);
    };
    require(cut.last_parts >= 1 && cut.last_parts <= kMostLastParts, "the last product is made in 1 to 64 parts");
    if (cut.algorithm.empty()) {
        for (const auto& [parts, side] : {std::pair{&cut.depths, size.k}, {&cut.panels, size.m}}) {
            std::int64_t sum = 0;
            for (const std::int64_t part : *parts) {
                require(part > 0, "its parts have something in them");
                sum = checked_add(sum, part);
            }
            require(sum == side && parts->size() <= kMostTransferPieces, "its parts, 64 at most, are the whole");
        }
        return;
    }
    try {
        algorithm_layer(cut.algorithm, 1, type);
    } catch (const Error& error) {
        require(false, error.what());
    }
    require(std::min({size.m, size.k, size.n}) > 0, "there is nothing to multiply");
    require(cut.opening >= 1 && cut.opening <= kMostTransferLevels && cut.closing >= 0 &&
                cut.closing <= kMostTransferLevels,
            "an opening is made by 1 to 4 levels, and a closing by up to 4");
}

std::int64_t sum_row_stride(std::int64_t cols, std::int64_t element_bytes) {
    return round_up(cols, std::max<std::int64_t>(16 / element_bytes, 1));
}

SumBuffers sum_buffers(const TransferSchedule& schedule, std::int64_t operand_bytes, std::int64_t result_bytes) {
    SumBuffers sums;
    const auto cover = [](ProblemSize& largest, const ProblemSize& size) {
        largest = {std::max(largest.m, size.m), std::max(largest.k, size.k), std::max(largest.n, size.n)};
    };
    for (const TransferStep& step : schedule.steps) {
        if (!step.left_lies_there()) {
            cover(sums.left, step.size);
        }
        if (!step.right_lies_there()) {
            cover(sums.right, step.size);
        }
        if (!step.result_lies_there()) {
            cover(sums.result, step.size);
        }
    }
    const auto bytes = [](std::int64_t rows, std::int64_t cols, std::int64_t element) {
        return checked_mul(checked_mul(rows, sum_row_stride(cols, element)), element);
    };
    sums.left_bytes = bytes(sums.left.m, sums.left.k, operand_bytes);
    sums.right_bytes = bytes(sums.right.k, sums.right.n, operand_bytes);
    sums.result_bytes = bytes(sums.result.m, sums.result.n, result_bytes);
    return sums;
}

std::int64_t sum_bytes_of_level(const TransferProblem& problem) {
    return sum_buffers(transfers_by_level(problem.size, kHalving, problem.type), problem.operand_bytes,
                       problem.result_bytes)
        .bytes();
}

double predicted_transfers_s(const TransferProblem& problem, const TransferSchedule& schedule,
                             const ProductSeconds& product_s) {
    double uploaded = 0, computed = 0, downloaded = 0;
    for (const TransferStep& step : schedule.steps) {
        double bytes = bytes_of(step.brings_a, problem.operand_bytes) + bytes_of(step.brings_b, problem.operand_bytes);
        std::vector<MatrixWindow> complete;
        bool accumulates = false;
        for (const ResultTerm<MatrixWindow>& result : step.result) {
            if (problem.adds && result.first()) {
                bytes += bytes_of({result.block}, problem.result_bytes);
            }
            if (result.last) {
                complete.push_back(result.block);
            }
            accumulates = accumulates || (step.result_lies_there() && (problem.adds || !result.first()));
        }
        for (const TransferSpread& spread : step.spreads) {
            for (const ResultTerm<MatrixWindow>& result : spread.to) {
                if (result.last) {
                    complete.push_back(result.block);
                }
            }
        }
        uploaded += bytes / problem.upload_bytes_per_s;
        computed = std::max(computed, uploaded) + sum_bytes(problem, step) / problem.sum_bytes_per_s +
                   seconds_beside_kept(problem, schedule, step, product_s(step.size, accumulates));
        downloaded =
            std::max(downloaded, computed) + bytes_of(complete, problem.result_bytes) / problem.download_bytes_per_s;
    }
    return downloaded;
}

PlannedTransfers plan_transfers(const TransferProblem& problem, const ProductSeconds& product_s) {
    const ProblemSize& size = problem.size;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>, double> known;
    const ProductSeconds remembered = [&](const ProblemSize& block, bool accumulate) {
        const auto [place, is_new] = known.try_emplace({block.m, block.k, block.n, accumulate}, 0);
        if (is_new) {
            place->second = product_s(block, accumulate);
        }
        return place->second;
    };
    PlannedTransfers best;
    const auto consider = [&](const TransferCut& cut) {
        TransferSchedule schedule = transfers_of(size, problem.type, cut);
        schedule.kept_moduli = cut.algorithm.empty() && schedule.steps.size() > 1 ? problem.kept_moduli : 0;
        const double predicted_s = predicted_transfers_s(problem, schedule, remembered);
        if (best.schedule.steps.empty() || predicted_s < best.predicted_s) {
            best = {cut, std::move(schedule), predicted_s};
        }
    };
    // In 32nds, without the last part. One side after another: each is best about where the others are good.
    const std::vector<std::vector<std::int64_t>> of_k{{}, {4}, {8}, {12}, {16}, {4, 10}, {6, 10}, {8, 8}},
        of_m{{16},          {24, 6},      {16, 8},         {14, 10, 6}, {12, 8, 8},   {10, 8, 8, 4},
             {10, 6, 6, 6}, {8, 6, 6, 6}, {6, 6, 6, 6, 4}, {4, 12, 12}, {4, 10, 8, 6}};
    const std::vector<std::int64_t> first_of_m = cut_by(size.m, {12, 8, 8});
    // Sums over parts of k would have to wait for all of a C that is brought.
    for (const auto& parts_of_k : problem.may_cut_k && !problem.adds ? of_k : decltype(of_k){{}}) {
        consider({"", 1, 1, 1, cut_by(size.k, parts_of_k), first_of_m});
    }
    for (const auto& parts_of_m : of_m) {
        consider({"", 1, 1, 1, best.cut->depths, cut_by(size.m, parts_of_m)});
    }
    for (const auto& parts_of_k : best.cut->depths.size() > 1 ? of_k : decltype(of_k){}) {
        consider({"", 1, 1, 1, cut_by(size.k, parts_of_k), best.cut->panels});
    }
    for (const int last_parts : kLastParts) {
        consider({"", 1, 1, last_parts, best.cut->depths, best.cut->panels});
    }
    if (problem.most_levels > 0 && std::min({size.m, size.k, size.n}) >= kLeastSideOfLevel) {
        for (const LevelEnds& ends : ends_of_levels(size, problem.most_levels)) {
            consider({kHalving, ends.opening, ends.closing, ends.last_parts, {}, {}});
        }
    }
    if (best.schedule.steps.size() == 1) {
        best.cut.reset();
    }
    return best;
}

}  // namespace heptad
