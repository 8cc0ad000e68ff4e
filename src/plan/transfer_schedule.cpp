#include "plan/transfer_schedule.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/size.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kLeastSideOfLevel = 8192;
constexpr std::int64_t kLeastPiece = 1024;  // smaller products are poor ones
constexpr std::int64_t kUnit = 256;         // cuts that levels divide well
/// Parts of a first product's k and of a last one's rows that are tried, wherever pieces are not too small.
constexpr int kEndParts[] = {1, 4, 8, 16};

/// A matrix cut into equal blocks, row by row; those at the edge are smaller, or have nothing.
struct Blocks {
    std::int64_t rows, cols;  // of the matrix
    std::int64_t block_rows, block_cols;
    int in_row;

    MatrixWindow window(int index) const {
        const std::int64_t row = index / in_row * block_rows, col = index % in_row * block_cols;
        const std::int64_t height = std::clamp<std::int64_t>(rows - row, 0, block_rows);
        const std::int64_t width = std::clamp<std::int64_t>(cols - col, 0, block_cols);
        return height > 0 && width > 0 ? MatrixWindow{row, height, col, width} : MatrixWindow{};
    }
};

std::vector<TransferTerm> terms_inside(const Blocks& blocks, const std::vector<BlockTerm>& terms) {
    std::vector<TransferTerm> inside;
    for (const BlockTerm& term : terms) {
        if (const MatrixWindow window = blocks.window(term.block); window.elements() > 0) {
            inside.push_back({window, term.coefficient});
        }
    }
    return inside;
}

/// Always the product that needs the fewest blocks that are not there yet; among equals one that the block of C with
/// the fewest products left waits for.
std::vector<const SubInstance*> order_of_arrival(const HostLayer& layer) {
    std::vector<const SubInstance*> waiting, order;
    for (const SubInstance& instance : layer.instances) {
        waiting.push_back(&instance);
    }
    std::set<int> there_a, there_b;
    const auto missing = [](const std::vector<BlockTerm>& terms, const std::set<int>& there) {
        return std::count_if(terms.begin(), terms.end(),
                             [&](const BlockTerm& term) { return !there.contains(term.block); });
    };
    const auto left_for = [&](int block) {
        return std::count_if(waiting.begin(), waiting.end(), [&](const SubInstance* instance) {
            return std::any_of(instance->result.begin(), instance->result.end(),
                               [&](const ResultTerm& term) { return term.block == block; });
        });
    };
    const auto rank = [&](const SubInstance* instance) {
        std::pair<std::int64_t, int> nearest{std::numeric_limits<std::int64_t>::max(), 0};  // products left, block
        for (const ResultTerm& term : instance->result) {
            nearest = std::min(nearest, {left_for(term.block), term.block});
        }
        return std::tuple(missing(instance->left, there_a) + missing(instance->right, there_b), nearest);
    };
    while (!waiting.empty()) {
        const auto next =
            std::min_element(waiting.begin(), waiting.end(),
                             [&](const SubInstance* x, const SubInstance* y) { return rank(x) < rank(y); });
        for (const BlockTerm& term : (*next)->left) {
            there_a.insert(term.block);
        }
        for (const BlockTerm& term : (*next)->right) {
            there_b.insert(term.block);
        }
        order.push_back(*next);
        waiting.erase(next);
    }
    return order;
}

/// What each step is the first to need.
void settle_arrivals(std::vector<TransferStep>& steps) {
    std::vector<MatrixWindow> there_a, there_b;
    const auto bring = [](const std::vector<TransferTerm>& terms, std::vector<MatrixWindow>& there,
                          std::vector<MatrixWindow>& brings) {
        for (const TransferTerm& term : terms) {
            if (std::find(there.begin(), there.end(), term.window) == there.end()) {
                there.push_back(term.window);
                brings.push_back(term.window);
            }
        }
    };
    for (TransferStep& step : steps) {
        bring(step.left, there_a, step.brings_a);
        bring(step.right, there_b, step.brings_b);
    }
}

/// Which results are the first and the last that are added to their window.
void settle_results(std::vector<TransferStep>& steps) {
    std::map<std::pair<std::int64_t, std::int64_t>, TransferResult*> latest;  // by the corner of the window
    for (TransferStep& step : steps) {
        for (TransferResult& result : step.results) {
            TransferResult*& before = latest[{result.window.row, result.window.col}];
            result.first = before == nullptr;
            result.last = true;
            if (before != nullptr) {
                before->last = false;
            }
            before = &result;
        }
    }
}

/// Pieces of a side: one of `parts` parts, and then three times as much as came before, again and again.
std::vector<std::int64_t> growing_pieces(std::int64_t size, int parts) {
    // Also of a side shorter than the parts are many the first piece has something, or else nothing would grow.
    std::vector<std::int64_t> pieces{std::min(size, round_up(ceil_div(size, parts), kUnit))};
    for (std::int64_t done = pieces[0]; done < size; done += pieces.back()) {
        pieces.push_back(std::min(3 * done, size - done));
    }
    return pieces;
}

/// The first step becomes several along its inner side; not where its operands are sums.
void cut_first(std::vector<TransferStep>& steps, int parts) {
    const TransferStep whole = steps.front();
    if (!whole.left_lies_there() || !whole.right_lies_there()) {
        return;
    }
    const bool in_buffer = !whole.result_lies_there();  // then blocks of C are updated once, when it is complete
    std::vector<TransferStep> pieces;
    std::int64_t first = 0;
    for (const std::int64_t depth : growing_pieces(whole.size.k, parts)) {
        TransferStep piece = whole;
        piece.size.k = depth;
        MatrixWindow &left = piece.left[0].window, &right = piece.right[0].window;
        left.col += first;
        right.row += first;
        left.cols = right.rows = depth;
        piece.brings_a = {left};
        piece.brings_b = {right};
        piece.continues_product = in_buffer && first > 0;
        first += depth;
        if (in_buffer && first < whole.size.k) {
            piece.results.clear();
        }
        pieces.push_back(piece);
    }
    steps.erase(steps.begin());
    steps.insert(steps.begin(), pieces.begin(), pieces.end());
}

/// The last step becomes several along its rows, which go home one after another; not where one of its blocks has
/// fewer.
void cut_last(std::vector<TransferStep>& steps, int parts) {
    const TransferStep whole = steps.back();
    const auto has_all_rows = [&](const auto& part) { return part.window.rows == whole.size.m; };
    if (!std::all_of(whole.left.begin(), whole.left.end(), has_all_rows) ||
        !std::all_of(whole.results.begin(), whole.results.end(), has_all_rows)) {
        return;
    }
    std::vector<std::int64_t> heights = growing_pieces(whole.size.m, parts);
    std::reverse(heights.begin(), heights.end());
    steps.pop_back();
    std::int64_t first = 0;
    for (const std::int64_t height : heights) {
        TransferStep piece = whole;
        piece.size.m = height;
        const auto narrow = [&](auto& part) {
            part.window.row += first;
            part.window.rows = height;
        };
        std::for_each(piece.left.begin(), piece.left.end(), narrow);
        std::for_each(piece.results.begin(), piece.results.end(), narrow);
        if (first > 0) {
            piece.brings_a.clear();
            piece.brings_b.clear();
            piece.keeps_right_sum = !piece.right_lies_there();
        }
        steps.push_back(piece);
        first += height;
    }
}

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
        bytes += static_cast<double>(2 * step.results.size() + 1) * area(m, n) * result;
    }
    for (const TransferSpread& spread : step.spreads) {
        bytes += static_cast<double>(spread.to.size() + 1) * area(spread.from.rows, spread.from.cols) * result;
    }
    return bytes;
}

bool lies_there(const std::vector<TransferTerm>& terms, std::int64_t rows, std::int64_t cols) {
    return terms.size() == 1 && terms[0].coefficient == 1 && terms[0].window.rows == rows &&
           terms[0].window.cols == cols;
}

/// Parts of a side, in 32nds and on units, and the rest; the whole where one would be small.
std::vector<std::int64_t> cut_by(std::int64_t size, const std::vector<std::int64_t>& parts_of_32) {
    std::vector<std::int64_t> pieces;
    std::int64_t left = size;
    for (const std::int64_t parts : parts_of_32) {
        const std::int64_t piece = round_up(size * parts / 32, kUnit);
        if (piece < kLeastPiece || left - piece < kLeastPiece) {
            return {size};
        }
        pieces.push_back(piece);
        left -= piece;
    }
    pieces.push_back(left);
    return pieces;
}

}  // namespace

bool TransferStep::left_lies_there() const {
    return lies_there(left, size.m, size.k);
}
bool TransferStep::right_lies_there() const {
    return lies_there(right, size.k, size.n);
}
bool TransferStep::result_lies_there() const {
    return results.size() == 1 && results[0].window.rows == size.m && results[0].window.cols == size.n;
}

TransferSchedule undivided_transfers(const ProblemSize& size) {
    return transfers_by_pieces(size, {size.k}, {size.m});
}

TransferSchedule transfers_by_level(const ProblemSize& size, const std::string& algorithm, Type type,
                                    const EndCuts& ends) {
    const HostLayer layer = algorithm_layer(algorithm, 1, type);
    const BlockGrid& grid = layer.grid;
    const ProblemSize block{ceil_div(size.m, grid.m), ceil_div(size.k, grid.k), ceil_div(size.n, grid.n)};
    const Blocks a{size.m, size.k, block.m, block.k, grid.k}, b{size.k, size.n, block.k, block.n, grid.n},
        c{size.m, size.n, block.m, block.n, grid.n};
    TransferSchedule schedule;
    schedule.algorithm = algorithm;
    schedule.levels = 1;
    for (const SubInstance* instance : order_of_arrival(layer)) {
        TransferStep step{
            block, terms_inside(a, instance->left), terms_inside(b, instance->right), {}, {}, {}, {}, false, false};
        for (const ResultTerm& term : instance->result) {
            if (const MatrixWindow window = c.window(term.block); window.elements() > 0) {
                step.results.push_back({window, term.coefficient, true, true});
            }
        }
        if (!step.left.empty() && !step.right.empty() && !step.results.empty()) {
            schedule.steps.push_back(std::move(step));
        }
    }
    settle_arrivals(schedule.steps);
    cut_first(schedule.steps, ends.first_parts);
    settle_results(schedule.steps);
    cut_last(schedule.steps, ends.last_parts);
    return schedule;
}

TransferSchedule transfers_by_pieces(const ProblemSize& size, const std::vector<std::int64_t>& depths,
                                     const std::vector<std::int64_t>& panels) {
    TransferSchedule schedule;
    std::int64_t first = 0;
    const auto add = [&](std::int64_t row, std::int64_t rows, std::int64_t depth) {
        const bool last = first + depth == size.k;
        schedule.steps.push_back({{rows, depth, size.n},
                                  {{{row, rows, first, depth}, 1}},
                                  {{{first, depth, 0, size.n}, 1}},
                                  {{{row, rows, 0, size.n}, 1, first == 0, last}},
                                  {},
                                  {},
                                  {},
                                  false,
                                  false});
    };
    for (std::size_t i = 0; i + 1 < depths.size(); ++i) {
        add(0, size.m, depths[i]);
        first += depths[i];
    }
    std::int64_t row = 0;
    for (const std::int64_t rows : panels) {
        add(row, rows, depths.back());
        row += rows;
    }
    settle_arrivals(schedule.steps);
    return schedule;
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
    return sum_buffers(transfers_by_level(problem.size, kTransferAlgorithm, problem.type), problem.operand_bytes,
                       problem.result_bytes)
        .bytes();
}

double predicted_transfers_s(const TransferProblem& problem, const TransferSchedule& schedule,
                             const ProductSeconds& product_s) {
    double uploaded = 0, computed = 0, downloaded = 0;
    for (const TransferStep& step : schedule.steps) {
        double bytes = bytes_of(step.brings_a, problem.operand_bytes) + bytes_of(step.brings_b, problem.operand_bytes);
        std::vector<MatrixWindow> complete;
        bool accumulates = step.continues_product;
        for (const TransferResult& result : step.results) {
            if (problem.adds && result.first) {
                bytes += bytes_of({result.window}, problem.result_bytes);
            }
            if (result.last) {
                complete.push_back(result.window);
            }
            accumulates = accumulates || (step.result_lies_there() && (problem.adds || !result.first));
        }
        for (const TransferSpread& spread : step.spreads) {
            for (const TransferResult& result : spread.to) {
                if (result.last) {
                    complete.push_back(result.window);
                }
            }
        }
        uploaded += bytes / problem.upload_bytes_per_s;
        computed = std::max(computed, uploaded) + sum_bytes(problem, step) / problem.sum_bytes_per_s +
                   product_s(step.size, accumulates);
        downloaded =
            std::max(downloaded, computed) + bytes_of(complete, problem.result_bytes) / problem.download_bytes_per_s;
    }
    return downloaded;
}

TransferSchedule plan_transfers(const TransferProblem& problem, const ProductSeconds& product_s) {
    const ProblemSize& size = problem.size;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>, double> known;
    const ProductSeconds remembered = [&](const ProblemSize& block, bool accumulate) {
        const auto [place, is_new] = known.try_emplace({block.m, block.k, block.n, accumulate}, 0);
        if (is_new) {
            place->second = product_s(block, accumulate);
        }
        return place->second;
    };
    std::vector<TransferSchedule> candidates;
    const std::vector<std::int64_t> whole_k{size.k};
    // Sums over parts of k would have to wait for all of a C that is brought.
    const auto depths = problem.may_cut_k && !problem.adds ? cut_by(size.k, {4}) : whole_k;
    for (const auto& panels : {cut_by(size.m, {16}), cut_by(size.m, {16, 8})}) {
        candidates.push_back(transfers_by_pieces(size, depths, panels));
    }
    if (problem.most_levels > 0 && std::min({size.m, size.k, size.n}) >= kLeastSideOfLevel) {
        for (int opening = 1; opening <= problem.most_levels && std::getenv("HEPTAD_OLD_ENDS") == nullptr; ++opening) {
            for (int closing = 1; closing <= problem.most_levels; ++closing) {
                if (std::min({size.m, size.k, size.n}) >> std::max(opening, closing) >= kLeastPiece) {
                    candidates.push_back(
                        transfers_by_levels(size, kTransferAlgorithm, problem.type, {opening, closing}));
                }
            }
        }
        for (const int first : kEndParts) {
            for (const int last : kEndParts) {
                const bool small = size.k / 2 / first < kLeastPiece || size.m / 2 / last < kLeastPiece;
                if (!small) {
                    candidates.push_back(transfers_by_level(size, kTransferAlgorithm, problem.type, {first, last}));
                }
            }
        }
    }
    for (TransferSchedule& candidate : candidates) {
        candidate.predicted_s = predicted_transfers_s(problem, candidate, remembered);
    }
    return *std::min_element(candidates.begin(), candidates.end(),
                             [](const auto& x, const auto& y) { return x.predicted_s < y.predicted_s; });
}

}  // namespace heptad
