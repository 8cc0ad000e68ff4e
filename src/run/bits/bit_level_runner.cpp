#include "run/bits/bit_level_runner.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <memory>
#include <mutex>
#include <numeric>

#include "base/thread_pool.hpp"
#include "kernels/bits/word_sums.hpp"
#include "run/bits/deferred_sums.hpp"
#include "run/bits/product_order.hpp"

namespace heptad::bits {
namespace {

/// Words of a block of each operand.
struct BlockWords {
    std::int64_t a, b, c;
};

BlockWords leaf_words(const LeafShape& shape) {
    return {block_stride(shape.m, shape.k), block_stride(shape.k, shape.n), block_stride(shape.m, shape.n)};
}

/// T, S, Q and P of one level whose quarters have `words`; two T and two S where the next ones are made while one is
/// used.
std::int64_t temporaries(const LevelProgram& program, const BlockWords& words, bool beside) {
    return (beside ? 2 : 1) * (words.a + words.b) + (holds_products(program) ? 2 * words.c : 0);
}

/// Temporaries of one branch: those of every level from `levels` down, or of the fused ones together.
std::int64_t branch_words(const BitLaunch& launch, int levels) {
    const BlockWords leaf = leaf_words(launch.shape);
    const int fused = fused_levels(*launch.program, *launch.leaf, levels);
    std::int64_t words = fused > 0 ? leaf.a + kFusedPanelWords : 0;
    for (int level = fused; level < levels; ++level) {
        words += temporaries(*launch.program, leaf, fused > 0) << (2 * level);
    }
    return words;
}

/// Words that additions carry from one to the next while they are in the L1 cache.
constexpr std::int64_t kChunkWords = 512;

/// Sums that are made while products are under way, of every level above the fused ones; the lowest comes first.
using LaterQueues = std::vector<LaterQueue>;

class Branch {
public:
    Branch(const BitLaunch& launch, WorkMeter& meter)
        : launch_(launch),
          meter_(meter),
          leaf_(leaf_words(launch.shape)),
          sum_(word_sum()),
          height_(launch.levels - launch.task_levels),
          fused_levels_(fused_levels(*launch.program, *launch.leaf, height_)),
          fused_(products_with_neighbours(*launch.program, fused_levels_)) {}

    /// The whole branch.
    void product(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* c, std::uint64_t* scratch) const {
        LaterQueues later(static_cast<std::size_t>(fused_levels_ > 0 ? height_ - fused_levels_ : 0));
        product(height_, a, b, c, false, scratch, later);
    }

    void sum(std::uint64_t* to, const std::uint64_t* const* from, int count, std::int64_t words, bool adds) const {
        sum_(to, from, count, words, adds);
    }

private:
    /// Blocks of 4^height leaves.
    void product(int height, const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* c, bool accumulate,
                 std::uint64_t* scratch, LaterQueues& later) const {
        if (height == 0) {
            meter_.stop_if_cancelled();
            launch_.leaf->multiply(launch_.shape, whole(*launch_.leaf, launch_.shape), a, b, c, accumulate);
            meter_.advance(leaf_work(launch_.shape));
        } else if (height == fused_levels_) {
            fused_products(a, b, c, accumulate, scratch, later);
        } else if (fused_levels_ > 0) {
            level_beside_tiles(height, a, b, c, accumulate, scratch, later);
        } else {
            level_by_passes(height, a, b, c, accumulate, scratch, later);
        }
    }

    BlockWords quarter_of(int height) const {
        const int shift = 2 * (height - 1);
        return {leaf_.a << shift, leaf_.b << shift, leaf_.c << shift};
    }

    /// Additions of one of these quarters of C to another: made once more, they cancel what the quarter held before.
    std::vector<Addition> additions_from(unsigned quarters) const {
        std::vector<Addition> found;
        for (const Step& step : launch_.program->steps) {
            std::copy_if(step.additions.begin(), step.additions.end(), std::back_inserter(found),
                         [&](const Addition& addition) {
                             return addition.from < kTemporaryQ && ((quarters >> addition.from) & 1) != 0;
                         });
        }
        return found;
    }

    /// Every sum is a pass over memory of its own.
    void level_by_passes(int height, const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* c, bool accumulate,
                         std::uint64_t* scratch, LaterQueues& later) const {
        const BlockWords quarter = quarter_of(height);
        std::uint64_t* sum_a = scratch;
        std::uint64_t* sum_b = sum_a + quarter.a;
        std::uint64_t* targets[6];
        for (int i = 0; i < 4; ++i) {
            targets[i] = c + i * quarter.c;
        }
        targets[kTemporaryQ] = sum_b + quarter.b;
        targets[kTemporaryP] = targets[kTemporaryQ] + quarter.c;
        std::uint64_t* deeper = scratch + temporaries(*launch_.program, quarter, false);
        unsigned held_a = 0, held_b = 0, written = accumulate ? 0b1111 : 0;
        if (accumulate) {
            add(additions_from(0b1111), targets, quarter.c, written);
        }
        for (const Step& step : launch_.program->steps) {
            const std::uint64_t* left = operand(step.a, held_a, a, quarter.a, sum_a);
            const std::uint64_t* right = operand(step.b, held_b, b, quarter.b, sum_b);
            const bool adds = step.target < kTemporaryQ ? ((written >> step.target) & 1) != 0 : step.adds;
            product(height - 1, left, right, targets[step.target], adds, deeper, later);
            written |= 1U << step.target;
            add(step.additions, targets, quarter.c, written);
        }
    }

    /// The sums of this level are made piece by piece beside the tiles of its products: those of A and B for a product
    /// to come, those of C for one that is complete.
    void level_beside_tiles(int height, const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* c,
                            bool accumulate, std::uint64_t* scratch, LaterQueues& later) const {
        const std::vector<Step>& steps = launch_.program->steps;
        const BlockWords quarter = quarter_of(height);
        LaterLevel level(later[static_cast<std::size_t>(height - fused_levels_ - 1)], sum_, c, quarter.c, accumulate);
        LaterOperand left(a, quarter.a, scratch), right(b, quarter.b, scratch + 2 * quarter.a);
        std::uint64_t* deeper = scratch + temporaries(*launch_.program, quarter, true);
        std::vector<std::size_t> order(steps.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        if (accumulate) {
            order = launch_.program->order_onto_c;
            level.add_quarters(additions_from(~(1U << steps[order[0]].target)));
        }
        std::size_t asked = 0;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const Step& step = steps[order[i]];
            for (;
                 asked < order.size() && left.has_room(steps[order[asked]].a) && right.has_room(steps[order[asked]].b);
                 ++asked) {
                left.ask(steps[order[asked]].a, level);
                right.ask(steps[order[asked]].b, level);
            }
            const std::uint64_t* x = left.take(step.a, level);
            const std::uint64_t* y = right.take(step.b, level);
            const bool adds = level.begin_product(step.target);
            product(height - 1, x, y, c + step.target * quarter.c, adds, deeper, later);
            left.give_back(step.a);
            right.give_back(step.b);
            level.end_product(step.target);
            const bool cancels = accumulate && i == 0;
            level.add_quarters(cancels ? additions_from(1U << step.target) : step.additions);
        }
        level.finish();
    }

    /// The last levels, with their sums inside the leaf.
    void fused_products(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* c, bool accumulate,
                        std::uint64_t* scratch, LaterQueues& later) const {
        const std::uint64_t* from_a[kMostFused];
        const std::uint64_t* from_b[2][kMostFused];  // of this product and of the next
        const auto gather = [](const std::vector<BlockTerm>& terms, const std::uint64_t* all, std::int64_t words,
                               const std::uint64_t** to) {
            std::transform(terms.begin(), terms.end(), to,
                           [&](const BlockTerm& term) { return all + term.block * words; });
            return std::span<const std::uint64_t* const>(to, terms.size());
        };
        std::uint64_t written = accumulate ? ~std::uint64_t{0} : 0;
        gather(fused_[0].right, b, leaf_.b, from_b[0]);
        FirstPanel first_panel;
        for (std::size_t number = 0; number < fused_.size(); ++number) {
            meter_.stop_if_cancelled();
            const BlockProduct& product = fused_[number];
            std::uint64_t* to[kMostFused];
            FusedOperands operands;
            for (std::size_t i = 0; i < product.result.size(); ++i) {
                const int block = product.result[i].block;
                to[i] = c + block * leaf_.c;
                operands.adds |= static_cast<unsigned>((written >> block) & 1) << i;
                written |= std::uint64_t{1} << block;
            }
            operands.a = gather(product.left, a, leaf_.a, from_a);
            operands.b = {from_b[number % 2], product.right.size()};
            operands.c = {to, product.result.size()};
            operands.scratch = scratch;
            operands.later = later;
            operands.first_panel = first_panel;
            if (number + 1 < fused_.size()) {
                operands.next_b = gather(fused_[number + 1].right, b, leaf_.b, from_b[(number + 1) % 2]);
            }
            first_panel = launch_.leaf->multiply_fused(launch_.shape, operands);
            meter_.advance(leaf_work(launch_.shape));
        }
    }

    /// A quarter itself, or the sum of several in `sum`, which holds the sum `held` and is changed into the wanted one.
    const std::uint64_t* operand(unsigned wanted, unsigned& held, const std::uint64_t* blocks, std::int64_t words,
                                 std::uint64_t* sum) const {
        if (std::popcount(wanted) == 1) {
            return blocks + std::countr_zero(wanted) * words;
        }
        const SumStep step = sum_step(wanted, held);
        const std::uint64_t* from[4];
        int count = 0;
        for (int i = 0; i < 4; ++i) {
            if (((step.terms >> i) & 1) != 0) {
                from[count++] = blocks + i * words;
            }
        }
        sum_(sum, from, count, words, step.adds);
        held = wanted;
        return sum;
    }

    void add(const std::vector<Addition>& additions, std::uint64_t* const* targets, std::int64_t words,
             unsigned& written) const {
        for (std::int64_t from = 0; from < words && !additions.empty(); from += kChunkWords) {
            const std::int64_t count = std::min(kChunkWords, words - from);
            unsigned known = written;
            for (auto next = additions.begin(); next != additions.end();) {
                const int to = next->to;
                const std::uint64_t* sources[4];
                int terms = 0;
                for (; next != additions.end() && next->to == to && terms < 4; ++next) {
                    sources[terms++] = targets[next->from] + from;
                }
                sum_(targets[to] + from, sources, terms, count, ((known >> to) & 1) != 0);
                known |= 1U << to;
            }
        }
        for (const Addition& addition : additions) {
            written |= 1U << addition.to;
        }
    }

    const BitLaunch& launch_;
    WorkMeter& meter_;
    BlockWords leaf_;
    WordSum sum_;
    int height_, fused_levels_;
    const std::vector<BlockProduct>& fused_;
};

/// Scratch memory of the tasks that run at one time.
class Slots {
public:
    Slots(std::uint64_t* memory, std::int64_t words, int count) {
        for (int i = 0; i < count; ++i) {
            free_.push_back(memory + i * words);
        }
    }
    std::uint64_t* take() {
        const std::lock_guard lock(mutex_);
        std::uint64_t* slot = free_.back();
        free_.pop_back();
        return slot;
    }
    void give_back(std::uint64_t* slot) {
        const std::lock_guard lock(mutex_);
        free_.push_back(slot);
    }

private:
    std::mutex mutex_;
    std::vector<std::uint64_t*> free_;
};

/// The sum of the blocks: a block itself where it is the only one.
const std::uint64_t* sum_of(const Branch& branch, const std::vector<BlockTerm>& terms, const std::uint64_t* all,
                            std::int64_t words, std::uint64_t* sum) {
    if (terms.size() == 1) {
        return all + terms[0].block * words;
    }
    const std::uint64_t* from[kMostTerms];
    std::transform(terms.begin(), terms.end(), from, [&](const BlockTerm& term) { return all + term.block * words; });
    branch.sum(sum, from, static_cast<int>(terms.size()), words, false);
    return sum;
}

/// Words of T, S, Q of a task and of the branch below it.
std::int64_t task_words(const BitLaunch& launch) {
    const BlockWords leaf = leaf_words(launch.shape);
    const int height = launch.levels - launch.task_levels;
    return ((leaf.a + leaf.b + leaf.c) << (2 * height)) + branch_words(launch, height);
}

void run_tasks(const BitLaunch& launch, const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* c,
               std::uint64_t* scratch, WorkMeter& meter) {
    const Branch branch(launch, meter);
    const int height = launch.levels - launch.task_levels;
    const BlockWords leaf = leaf_words(launch.shape);
    const BlockWords block{leaf.a << (2 * height), leaf.b << (2 * height), leaf.c << (2 * height)};
    const std::int64_t blocks = std::int64_t{1} << (2 * launch.task_levels);
    ThreadPool& pool = shared_pool(launch.threads);
    pool.run(blocks, [&](std::int64_t i) { std::fill_n(c + i * block.c, block.c, 0); });
    Slots slots(scratch, task_words(launch), launch.threads);
    const auto locks = std::make_unique<std::mutex[]>(static_cast<std::size_t>(blocks));
    const std::vector<BlockProduct>& products = products_in_order(*launch.program, launch.task_levels);
    pool.run(static_cast<std::int64_t>(products.size()), [&](std::int64_t task) {
        const BlockProduct& product = products[static_cast<std::size_t>(task)];
        std::uint64_t* slot = slots.take();
        std::uint64_t* sum_b = slot + block.a;
        std::uint64_t* result = sum_b + block.b;
        const std::uint64_t* left = sum_of(branch, product.left, a, block.a, slot);
        const std::uint64_t* right = sum_of(branch, product.right, b, block.b, sum_b);
        branch.product(left, right, result, result + block.c);
        const std::uint64_t* source = result;
        for (const BlockResult& to : product.result) {
            const std::lock_guard lock(locks[static_cast<std::size_t>(to.block)]);
            branch.sum(c + to.block * block.c, &source, 1, block.c, true);
        }
        slots.give_back(slot);
    });
}

}  // namespace

int fused_levels(const LevelProgram& program, const Leaf& leaf, int levels) {
    return holds_products(program) ? 0 : std::min(levels, leaf.fused_levels);
}

std::int64_t BitLaunch::scratch_words() const {
    return levels == 0 ? 0 : task_levels > 0 ? task_words(*this) * threads : branch_words(*this, levels);
}

void run_levels(const BitLaunch& launch, const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* c,
                std::uint64_t* scratch, WorkMeter& meter) {
    if (launch.task_levels > 0) {
        run_tasks(launch, a, b, c, scratch, meter);
    } else {
        Branch(launch, meter).product(a, b, c, scratch);
    }
}

}  // namespace heptad::bits
