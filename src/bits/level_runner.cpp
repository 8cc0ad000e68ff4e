#include "bits/level_runner.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>

#include "base/error.hpp"
#include "bits/word_sums.hpp"

namespace heptad::bits {
namespace {

/// Words of a block of each operand.
struct BlockWords {
    std::int64_t a, b, c;
};

BlockWords leaf_words(const LeafShape& shape) {
    return {block_stride(shape.m, shape.k), block_stride(shape.k, shape.n), block_stride(shape.m, shape.n)};
}

/// T, S, Q and P of one level whose quarters have `words`.
std::int64_t temporaries(const BlockWords& words) {
    return words.a + words.b + 2 * words.c;
}

/// Temporaries of one branch: those of every level from `levels` down, or of the fused ones together.
std::int64_t branch_words(const LevelJob& job, int levels) {
    const BlockWords leaf = leaf_words(job.shape);
    const int fused = fused_levels(*job.program, *job.leaf, levels);
    std::int64_t words = fused > 0 ? leaf.a + kFusedPanelWords : 0;
    for (int level = fused; level < levels; ++level) {
        words += temporaries(leaf) << (2 * level);
    }
    return words;
}

/// Words that additions carry from one to the next while they are in the L1 cache.
constexpr std::int64_t kChunkWords = 512;

/// Every product goes straight to quarters of C: adding it to each of them costs no more than the program does.
bool results_go_to_c_alone(const LevelProgram& program) {
    return std::all_of(program.steps.begin(), program.steps.end(), [](const Step& step) {
        const bool to_q = step.target == kTemporaryQ && !step.adds;
        return (step.target < kTemporaryQ && step.additions.empty()) ||
               (to_q && std::all_of(step.additions.begin(), step.additions.end(),
                                    [](const Addition& addition) { return addition.to < kTemporaryQ; }));
    });
}

/// The blocks that are marked at every level: the Kronecker product of the marks. masks[0] is the topmost level's.
std::vector<std::int64_t> marked_blocks(const std::vector<unsigned>& masks) {
    std::vector<std::int64_t> blocks{0};
    for (const unsigned mask : masks) {
        std::vector<std::int64_t> next;
        for (const std::int64_t block : blocks) {
            for (int i = 0; i < 4; ++i) {
                if (((mask >> i) & 1) != 0) {
                    next.push_back(4 * block + i);
                }
            }
        }
        blocks = std::move(next);
    }
    return blocks;
}

/// One of the products of several levels at once: blocks of A and of B that are summed, blocks of C it is added to.
struct ProductBlocks {
    std::vector<std::int64_t> a, b, c;
};

std::int64_t product_count(const LevelProgram& program, int levels) {
    std::int64_t count = 1;
    for (int level = 0; level < levels; ++level) {
        count *= static_cast<std::int64_t>(program.steps.size());
    }
    return count;
}

ProductBlocks product_blocks(const LevelProgram& program, int levels, std::int64_t number) {
    const auto products = static_cast<std::int64_t>(program.steps.size());
    std::vector<unsigned> of_a, of_b, of_c;
    for (std::int64_t unit = product_count(program, levels) / products; unit > 0; unit /= products) {
        const auto step = static_cast<std::size_t>(number / unit % products);
        of_a.push_back(program.steps[step].a);
        of_b.push_back(program.steps[step].b);
        of_c.push_back(destinations(program, step));
    }
    return {marked_blocks(of_a), marked_blocks(of_b), marked_blocks(of_c)};
}

class Branch {
public:
    explicit Branch(const LevelJob& job)
        : job_(job),
          leaf_(leaf_words(job.shape)),
          sum_(word_sum()),
          fused_levels_(fused_levels(*job.program, *job.leaf, job.levels - job.task_levels)) {
        for (std::int64_t i = 0; fused_levels_ > 0 && i < product_count(*job.program, fused_levels_); ++i) {
            fused_.push_back(product_blocks(*job.program, fused_levels_, i));
        }
    }

    /// Blocks of 4^height leaves.
    void product(int height, const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* c, bool accumulate,
                 std::uint64_t* scratch) const {
        if (height == 0) {
            job_.meter->stop_if_cancelled();
            job_.leaf->multiply(job_.shape, whole(*job_.leaf, job_.shape), a, b, c, accumulate);
            job_.meter->advance(leaf_work(job_.shape));
            return;
        }
        if (height == fused_levels_) {
            fused_products(a, b, c, accumulate, scratch);
            return;
        }
        const int shift = 2 * (height - 1);
        const BlockWords quarter{leaf_.a << shift, leaf_.b << shift, leaf_.c << shift};
        std::uint64_t* sum_a = scratch;
        std::uint64_t* sum_b = sum_a + quarter.a;
        std::uint64_t* targets[6];
        for (int i = 0; i < 4; ++i) {
            targets[i] = c + i * quarter.c;
        }
        targets[kTemporaryQ] = sum_b + quarter.b;
        targets[kTemporaryP] = targets[kTemporaryQ] + quarter.c;
        std::uint64_t* deeper = targets[kTemporaryP] + quarter.c;
        unsigned held_a = 0, held_b = 0, written = accumulate ? 0b1111 : 0;
        for (const Step& step : job_.program->steps) {
            const std::uint64_t* left = operand(step.a, held_a, a, quarter.a, sum_a);
            const std::uint64_t* right = operand(step.b, held_b, b, quarter.b, sum_b);
            const bool adds = step.target < kTemporaryQ ? ((written >> step.target) & 1) != 0 : step.adds;
            product(height - 1, left, right, targets[step.target], adds, deeper);
            written |= 1U << step.target;
            add(step.additions, targets, quarter.c, written);
        }
    }

    void sum(std::uint64_t* to, const std::uint64_t* const* from, int count, std::int64_t words, bool adds) const {
        sum_(to, from, count, words, adds);
    }

private:
    /// The last levels, with their sums inside the leaf.
    void fused_products(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* c, bool accumulate,
                        std::uint64_t* scratch) const {
        const std::uint64_t* from_a[2][kMostFused];
        const std::uint64_t* from_b[2][kMostFused];
        const auto gather = [&](std::size_t number) {
            const ProductBlocks& blocks = fused_[number];
            const auto place_a = [&](std::int64_t block) { return a + block * leaf_.a; };
            const auto place_b = [&](std::int64_t block) { return b + block * leaf_.b; };
            std::transform(blocks.a.begin(), blocks.a.end(), from_a[number % 2], place_a);
            std::transform(blocks.b.begin(), blocks.b.end(), from_b[number % 2], place_b);
        };
        std::uint64_t written = accumulate ? ~std::uint64_t{0} : 0;
        gather(0);
        for (std::size_t number = 0; number < fused_.size(); ++number) {
            job_.meter->stop_if_cancelled();
            const ProductBlocks& blocks = fused_[number];
            std::uint64_t* to[kMostFused];
            FusedOperands operands;
            for (std::size_t i = 0; i < blocks.c.size(); ++i) {
                to[i] = c + blocks.c[i] * leaf_.c;
                operands.adds |= static_cast<unsigned>((written >> blocks.c[i]) & 1) << i;
                written |= std::uint64_t{1} << blocks.c[i];
            }
            operands.a = {from_a[number % 2], blocks.a.size()};
            operands.b = {from_b[number % 2], blocks.b.size()};
            operands.c = {to, blocks.c.size()};
            operands.scratch = scratch;
            if (number + 1 < fused_.size()) {
                gather(number + 1);
                operands.next_a = {from_a[(number + 1) % 2], fused_[number + 1].a.size()};
                operands.next_b = {from_b[(number + 1) % 2], fused_[number + 1].b.size()};
            }
            job_.leaf->multiply_fused(job_.shape, operands);
            job_.meter->advance(leaf_work(job_.shape));
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
            for (const Addition& addition : additions) {
                const std::uint64_t* source = targets[addition.from] + from;
                sum_(targets[addition.to] + from, &source, 1, count, ((known >> addition.to) & 1) != 0);
                known |= 1U << addition.to;
            }
        }
        for (const Addition& addition : additions) {
            written |= 1U << addition.to;
        }
    }

    const LevelJob& job_;
    BlockWords leaf_;
    WordSum sum_;
    int fused_levels_;
    std::vector<ProductBlocks> fused_;
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

/// The sum of the marked blocks: a block itself where it is the only one.
const std::uint64_t* sum_of(const Branch& branch, const std::vector<std::int64_t>& blocks, const std::uint64_t* all,
                            std::int64_t words, std::uint64_t* sum) {
    if (blocks.size() == 1) {
        return all + blocks[0] * words;
    }
    const std::uint64_t* from[kMostTerms];
    std::transform(blocks.begin(), blocks.end(), from, [&](std::int64_t block) { return all + block * words; });
    branch.sum(sum, from, static_cast<int>(blocks.size()), words, false);
    return sum;
}

/// Words of T, S, Q of a task and of the branch below it.
std::int64_t task_words(const LevelJob& job) {
    const BlockWords leaf = leaf_words(job.shape);
    const int height = job.levels - job.task_levels;
    return ((leaf.a + leaf.b + leaf.c) << (2 * height)) + branch_words(job, height);
}

void run_tasks(const LevelJob& job, const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* c, bool accumulate,
               std::uint64_t* scratch) {
    const Branch branch(job);
    const int height = job.levels - job.task_levels;
    const BlockWords leaf = leaf_words(job.shape);
    const BlockWords block{leaf.a << (2 * height), leaf.b << (2 * height), leaf.c << (2 * height)};
    const std::int64_t blocks = std::int64_t{1} << (2 * job.task_levels);
    ThreadPool& pool = shared_pool(job.threads);
    if (!accumulate) {
        pool.run(blocks, [&](std::int64_t i) { std::fill_n(c + i * block.c, block.c, 0); });
    }
    Slots slots(scratch, task_words(job), job.threads);
    const auto locks = std::make_unique<std::mutex[]>(static_cast<std::size_t>(blocks));
    pool.run(product_count(*job.program, job.task_levels), [&](std::int64_t task) {
        const ProductBlocks blocks_of = product_blocks(*job.program, job.task_levels, task);
        std::uint64_t* slot = slots.take();
        std::uint64_t* sum_b = slot + block.a;
        std::uint64_t* result = sum_b + block.b;
        const std::uint64_t* left = sum_of(branch, blocks_of.a, a, block.a, slot);
        const std::uint64_t* right = sum_of(branch, blocks_of.b, b, block.b, sum_b);
        branch.product(height, left, right, result, false, result + block.c);
        const std::uint64_t* source = result;
        for (const std::int64_t to : blocks_of.c) {
            const std::lock_guard lock(locks[static_cast<std::size_t>(to)]);
            branch.sum(c + to * block.c, &source, 1, block.c, true);
        }
        slots.give_back(slot);
    });
}

}  // namespace

int fused_levels(const LevelProgram& program, const Leaf& leaf, int levels) {
    return results_go_to_c_alone(program) ? std::min(levels, leaf.fused_levels) : 0;
}

std::int64_t scratch_words(const LevelJob& job) {
    return job.task_levels > 0 ? task_words(job) * job.threads : branch_words(job, job.levels);
}

void run_levels(const LevelJob& job, const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* c, bool accumulate,
                std::uint64_t* scratch) {
    if (job.task_levels > 0) {
        run_tasks(job, a, b, c, accumulate, scratch);
    } else {
        Branch(job).product(job.levels, a, b, c, accumulate, scratch);
    }
}

}  // namespace heptad::bits
