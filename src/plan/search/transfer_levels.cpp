// Transfers that follow levels of a fast algorithm. A level has an opening product, which needs one block of A and one
// of B, and a closing one, which adds one such product to one block of C. The opening one is made by a level of its
// own, again and again, so that little has to arrive before the first product; and the closing one likewise, so that
// little of C is left when the last product is made.
#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "base/size.hpp"
#include "plan/search/transfer_schedule.hpp"

namespace heptad {
namespace {

/// A part of a matrix cut into equal blocks, row by row; those at the edge are smaller, or have nothing.
struct OperandBlocks {
    MatrixWindow whole;
    std::int64_t block_rows, block_cols;
    int in_row;

    MatrixWindow window(int index) const {
        const std::int64_t row = index / in_row * block_rows, col = index % in_row * block_cols;
        const std::int64_t height = std::clamp<std::int64_t>(whole.rows - row, 0, block_rows);
        const std::int64_t width = std::clamp<std::int64_t>(whole.cols - col, 0, block_cols);
        return height > 0 && width > 0 ? MatrixWindow{whole.row + row, height, whole.col + col, width} : MatrixWindow{};
    }
};

std::vector<Term<MatrixWindow>> terms_inside(const OperandBlocks& blocks, const std::vector<BlockTerm>& terms) {
    std::vector<Term<MatrixWindow>> inside;
    for (const BlockTerm& term : terms) {
        if (const MatrixWindow window = blocks.window(term.block); window.elements() > 0) {
            inside.push_back({window, term.coefficient});
        }
    }
    return inside;
}

bool is_one_block(const std::vector<BlockTerm>& terms) {
    return terms.size() == 1 && terms[0].coefficient == 1;
}

/// One block of A times one of B.
bool is_plain(const BlockProduct& instance) {
    return is_one_block(instance.left) && is_one_block(instance.right);
}

/// And added to one block of C.
bool may_close(const BlockProduct& instance) {
    return is_plain(instance) && instance.result.size() == 1 && instance.result[0].coefficient == 1;
}

/// Always the product that needs the fewest blocks that are not there yet; among equals one that the block of C with
/// the fewest products left waits for. One that may close comes last where that is wanted.
std::vector<const BlockProduct*> order_of_arrival(const HostLayer& layer, bool closes) {
    std::vector<const BlockProduct*> waiting, order;
    const BlockProduct* closing = nullptr;
    for (const BlockProduct& instance : layer.instances) {
        if (closes && closing == nullptr && may_close(instance)) {
            closing = &instance;
        } else {
            waiting.push_back(&instance);
        }
    }
    std::set<int> there_a, there_b;
    const auto missing = [](const std::vector<BlockTerm>& terms, const std::set<int>& there) {
        return std::ranges::count_if(terms, [&](const BlockTerm& term) { return !there.contains(term.block); });
    };
    const auto left_for = [&](int block) {
        return std::ranges::count_if(waiting, [&](const BlockProduct* instance) {
            return std::ranges::any_of(instance->result, [&](const BlockResult& term) { return term.block == block; });
        });
    };
    const auto rank = [&](const BlockProduct* instance) {
        std::pair<std::int64_t, int> nearest{std::numeric_limits<std::int64_t>::max(), 0};  // products left, block
        for (const BlockResult& term : instance->result) {
            nearest = std::min(nearest, {left_for(term.block), term.block});
        }
        return std::tuple(missing(instance->left, there_a) + missing(instance->right, there_b), nearest);
    };
    while (!waiting.empty()) {
        const auto next = std::ranges::min_element(
            waiting, [&](const BlockProduct* x, const BlockProduct* y) { return rank(x) < rank(y); });
        for (const BlockTerm& term : (*next)->left) {
            there_a.insert(term.block);
        }
        for (const BlockTerm& term : (*next)->right) {
            there_b.insert(term.block);
        }
        order.push_back(*next);
        waiting.erase(next);
    }
    if (closing != nullptr) {
        order.push_back(closing);
    }
    return order;
}

/// Which results are the first and the last that are added to their window.
void settle_results(std::vector<TransferStep>& steps) {
    std::vector<ResultTerm<MatrixWindow>*> all;
    for (TransferStep& step : steps) {
        for (ResultTerm<MatrixWindow>& result : step.result) {
            all.push_back(&result);
        }
        for (TransferSpread& spread : step.spreads) {
            for (ResultTerm<MatrixWindow>& result : spread.to) {
                all.push_back(&result);
            }
        }
    }
    for (auto result = all.begin(); result != all.end(); ++result) {
        const auto touches = [&](const ResultTerm<MatrixWindow>* other) {
            return overlap(other->block, (*result)->block);
        };
        (*result)->turn = static_cast<int>(std::count_if(all.begin(), result, touches));
        (*result)->last = std::none_of(result + 1, all.end(), touches);
    }
}

/// Heights of parts of `rows` rows: the last is one of `parts`, and all before are three times as high as what comes
/// after them, so that one is at home when the next is made.
std::vector<std::int64_t> shrinking_parts(std::int64_t rows, int parts) {
    constexpr std::int64_t kUnit = 256;  // cuts that levels divide well
    // Also of fewer rows than parts the last one has something, or else nothing would grow.
    std::vector<std::int64_t> heights{std::min(rows, round_up(ceil_div(rows, parts), kUnit))};
    for (std::int64_t done = heights[0]; done < rows; done += heights.back()) {
        heights.push_back(std::min(3 * done, rows - done));
    }
    std::ranges::reverse(heights);
    return heights;
}

/// Is the first result the product of the first blocks as they are, with nothing left out at an edge?
bool fits_first_result(const TransferStep& step) {
    const MatrixWindow &a = step.left[0].block, &b = step.right[0].block, &c = step.result[0].block;
    return a.rows == c.rows && a.cols == b.rows && b.cols == c.cols && step.result[0].coefficient == 1;
}

/// C += A B, of parts of the matrices.
struct PartProduct {
    MatrixWindow a, b, c;
};

class LevelSteps {
public:
    LevelSteps(const std::string& algorithm, Type type) : layer_(algorithm_layer(algorithm, 1, type)) {}

    /// `begins`: nothing was added to C before.
    void add(const PartProduct& product, const LevelEnds& ends, bool begins) {
        if (ends.opening <= 0 && ends.closing <= 0) {
            TransferStep step;
            step.size = {product.c.rows, product.a.cols, product.c.cols};
            step.left = {{product.a, 1}};
            step.right = {{product.b, 1}};
            step.result = {{product.c, 1}};
            steps_.push_back(std::move(step));
            return;
        }
        const BlockGrid& grid = layer_.grid;
        const ProblemSize block{ceil_div(product.c.rows, grid.m), ceil_div(product.a.cols, grid.k),
                                ceil_div(product.c.cols, grid.n)};
        const OperandBlocks a{product.a, block.m, block.k, grid.k}, b{product.b, block.k, block.n, grid.n},
            c{product.c, block.m, block.n, grid.n};
        const bool closes = ends.closing > 0;
        const std::vector<const BlockProduct*> order = order_of_arrival(layer_, closes);
        for (std::size_t i = 0; i < order.size(); ++i) {
            const BlockProduct& instance = *order[i];
            TransferStep step;
            step.size = block;
            step.left = terms_inside(a, instance.left);
            step.right = terms_inside(b, instance.right);
            for (const BlockResult& term : instance.result) {
                if (const MatrixWindow window = c.window(term.block); window.elements() > 0) {
                    step.result.push_back({window, term.coefficient});
                }
            }
            if (step.left.empty() || step.right.empty() || step.result.empty()) {
                continue;
            }
            if (i == 0 && begins && is_plain(instance) && fits_first_result(step)) {
                open(step, ends.opening - 1);
            } else if (i + 1 == order.size() && closes && may_close(instance) && fits_first_result(step)) {
                add({step.left[0].block, step.right[0].block, step.result[0].block}, {0, ends.closing - 1, 1}, false);
            } else {
                steps_.push_back(std::move(step));
            }
        }
    }

    std::vector<TransferStep> settled(int last_parts) && {
        settle_arrivals(steps_);
        settle_results(steps_);
        cut_last(steps_, shrinking_parts(steps_.back().size.m, last_parts));
        return std::move(steps_);
    }

private:
    /// The product is made in the first of the blocks of C that it is added to, and the others begin with what is
    /// there.
    void open(const TransferStep& step, int levels) {
        add({step.left[0].block, step.right[0].block, step.result[0].block}, {levels, 0, 1}, true);
        if (step.result.size() > 1) {
            steps_.back().spreads.push_back({step.result[0].block, {step.result.begin() + 1, step.result.end()}});
        }
    }

    HostLayer layer_;
    std::vector<TransferStep> steps_;
};

}  // namespace

TransferSchedule transfers_by_level(const ProblemSize& size, const std::string& algorithm, Type type,
                                    const LevelEnds& ends) {
    LevelSteps steps(algorithm, type);
    steps.add({{0, size.m, 0, size.k}, {0, size.k, 0, size.n}, {0, size.m, 0, size.n}}, ends, true);
    TransferSchedule schedule;
    schedule.algorithm = algorithm;
    schedule.levels = std::max(ends.opening, ends.closing);
    schedule.steps = std::move(steps).settled(ends.last_parts);
    return schedule;
}

}  // namespace heptad
