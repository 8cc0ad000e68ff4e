// P4's products of blocks. Rank id of p computes C[id], its rows of C, in blocks of x x z.
//
// pegmm (figure 1 on every rank, after the distribution of figure 2): for every block (i, j) of C[id]
//
//   DR   reads A[id](i, h) and B(h, j), h = 1 ... k/y     a thread
//   M2G  brings them to the device, if there is one       a thread
//   MM   C(i, j) += A[id](i, h) * B(h, j)                 a thread
//   DW   writes C(i, j)                                   a thread
//
// mod-pegmm (figure 6): round q = 1 ... p works on B[s] of rank s = (id + q - 1) mod p, and passes the own B[id] on to
// rank r = (id - (q - 1)) mod p. The printed figure has q in place of q - 1, which would leave out the next neighbour
// and end with the rank itself; and it receives a block of B[s] again for every row i of blocks. Here the blocks of C
// in one column stay in memory, so that a block of B crosses the network once: for every column j of blocks of B[s]
//
//   DR   reads the own B[id](h, j), and A[id](i, h) for all i      two threads
//   NR   sends B[id](h, j), receives B[s](h, j)                    the main thread
//   M2G  brings them to the device, if there is one                a thread
//   MM   C(i, s, j) += A[id](i, h) * B[s](h, j) for all i          a thread
//   DW   writes the column of C                                    a thread
//
// What an earlier job has finished of C is left out: a block (i, j) of pegmm, a column of mod-pegmm, whose blocks of B
// are not sent to that rank again.
#include <algorithm>
#include <utility>

#include "base/size.hpp"
#include "product/cluster/node_blocks.hpp"
#include "product/cluster/rank_work.hpp"

namespace heptad {
namespace {

/// Blocks of A, B or C on their way from one stage to the next, in host memory and where they are multiplied.
struct Block {
    Window window;
    HostBlock elements;
};
struct Operand {
    Window window;
    NodeBlock block;
};

/// The blocks of A[id] as views on their order of use, and what both algorithms share.
class RankBlockProduct {
public:
    explicit RankBlockProduct(const RankWork& work)
        : work_(work),
          plan_(work.plan),
          rank_(work.ranks.rank()),
          held_(held_windows(plan_, rank_)),
          result_(result_window(plan_, rank_)),
          units_(result_units(plan_, rank_)),
          down_(ceil_div(result_.rows, plan_.rank->block.x)),
          deep_(ceil_div(plan_.k, plan_.rank->block.y)),
          blocks_(work.node, plan_.type, work.trace, work.failure),
          written_(work.failure, 1) {}

protected:
    Block read(const WindowSource& source, const std::vector<Window>& windows, std::int64_t index) {
        const Window& window = windows.at(static_cast<std::size_t>(index));
        Block block{window, blocks_.take(window.rows, window.cols)};
        work_.trace.time(Stage::disk_read,
                         [&] { source.read(static_cast<std::size_t>(index), block.elements.data()); });
        return block;
    }
    Block read_a(std::int64_t i, std::int64_t h) { return read(work_.a, held_.a, i * deep_ + h); }

    Operand bring(Block block) { return {block.window, blocks_.bring(std::move(block.elements))}; }

    /// A block of C before its first product, and the factor of what it holds.
    Operand fresh_result(const Window& window) {
        HostBlock host = blocks_.take(window.rows, window.cols);
        const bool adds = work_.node.beta != 0.0;
        if (adds) {
            work_.trace.time(Stage::disk_read, [&] { work_.c0->read(window, host.data()); });
        }
        return {window, blocks_.begin_result(std::move(host), adds)};
    }
    void hand_over(Operand result) { written_.push({result.window, blocks_.fetch(std::move(result.block))}); }
    Factor beta_of(std::int64_t h) const { return h == 0 ? work_.node.beta : 1; }

    bool is_finished(std::int64_t unit) const { return work_.finished.contains(rank_, unit); }

    void write_results() {
        const auto count = static_cast<std::int64_t>(units_.size());
        for (std::int64_t unit = 0; unit < count; ++unit) {
            if (!is_finished(unit)) {
                Block block = written_.pop();
                if (!work_.node.is_refused()) {
                    work_.result->round(block.elements.data(), block.window.elements());
                    work_.trace.time(Stage::disk_write,
                                     [&] { work_.result->write(block.window, block.elements.data()); });
                    work_.finished.add(unit, block.elements.data(), block.elements.size_bytes());
                }
                blocks_.give_back(std::move(block.elements));
            }
            work_.fraction_done = static_cast<double>(unit + 1) / static_cast<double>(count);
        }
    }

    const RankWork& work_;
    const ProductPlan& plan_;
    const std::int64_t rank_;
    const HeldWindows held_;
    const Window result_;
    const std::vector<Window> units_;  // of C[id], in the order in which they are finished
    const std::int64_t down_, deep_;   // blocks of A[id]
    NodeBlocks blocks_;                // before what holds some of them
    Channel<Block> written_;
};

class Pegmm : RankBlockProduct {
public:
    explicit Pegmm(const RankWork& work)
        : RankBlockProduct(work),
          across_(ceil_div(plan_.n, plan_.rank->block.z)),
          read_(work.failure, 1),
          brought_(work.failure, 1) {}

    void run() {
        Stages stages(work_.failure);
        stages.start([&] { read_blocks(); });
        stages.start([&] { bring_blocks(); });
        stages.start([&] { multiply_blocks(); });
        stages.run_here_and_finish([&] { write_results(); });
    }

private:
    struct Pair {
        Block a, b;
    };
    struct Operands {
        Operand a, b;
    };

    template <class Visit>
    void for_each_product(Visit&& visit) const {
        for (std::int64_t i = 0; i < down_; ++i) {
            for (std::int64_t j = 0; j < across_; ++j) {
                for (std::int64_t h = 0; h < deep_ && !is_finished(i * across_ + j); ++h) {
                    visit(i, j, h);
                }
            }
        }
    }

    void read_blocks() {
        for_each_product([&](std::int64_t i, std::int64_t j, std::int64_t h) {
            Block a = read_a(i, h);
            read_.push({std::move(a), read(work_.b, held_.b, j * deep_ + h)});
        });
    }

    void bring_blocks() {
        for_each_product([&](std::int64_t, std::int64_t, std::int64_t) {
            Pair pair = read_.pop();
            Operand a = bring(std::move(pair.a));
            brought_.push({std::move(a), bring(std::move(pair.b))});
        });
    }

    void multiply_blocks() {
        Operand c;
        for_each_product([&](std::int64_t, std::int64_t, std::int64_t h) {
            auto [a, b] = brought_.pop();
            if (h == 0) {
                c = fresh_result({a.window.row, b.window.col, a.window.rows, b.window.cols});
            }
            blocks_.multiply(a.block.view, b.block.view, beta_of(h), c.block.view);
            blocks_.release(std::move(a.block));
            blocks_.release(std::move(b.block));
            if (h + 1 == deep_) {
                hand_over(std::exchange(c, {}));
            }
        });
    }

    const std::int64_t across_;  // blocks of B
    Channel<Pair> read_;
    Channel<Operands> brought_;
};

class ModPegmm : RankBlockProduct {
public:
    explicit ModPegmm(const RankWork& work)
        : RankBlockProduct(work),
          ranks_(plan_.rank->ranks),
          a_read_(work.failure, 1),
          b_read_(work.failure, 1),
          b_arrived_(work.failure, 1),
          a_brought_(work.failure, 1),
          b_brought_(work.failure, 1) {}

    void run() {
        Stages stages(work_.failure);
        stages.start([&] { read_own_blocks_of_b(); });
        stages.start([&] { read_blocks_of_a(); });
        stages.start([&] { bring_blocks(); });
        stages.start([&] { multiply_blocks(); });
        stages.start([&] { write_results(); });
        stages.run_here_and_finish([&] { exchange_blocks_of_b(); });
    }

private:
    std::int64_t source_of(std::int64_t q) const { return (rank_ + q - 1) % ranks_; }
    std::int64_t receiver_in(std::int64_t q) const { return (rank_ + ranks_ - (q - 1)) % ranks_; }
    /// Blocks that B[s] has side by side.
    std::int64_t columns_of(std::int64_t s) const {
        return ceil_div(split_range(plan_.n, ranks_, s).size(), plan_.rank->block.z);
    }
    /// Does a rank still need column j of the blocks that reach it in round q?
    bool needs(std::int64_t rank, std::int64_t q, std::int64_t j) const {
        std::int64_t unit = j;
        for (std::int64_t before = 1; before < q; ++before) {
            unit += columns_of((rank + before - 1) % ranks_);
        }
        return split_range(plan_.m, ranks_, rank).size() > 0 && !work_.finished.contains(rank, unit);
    }
    /// The column of block t of B[s], which lie column by column.
    std::int64_t column_of(std::size_t t) const { return static_cast<std::int64_t>(t) / deep_; }

    /// Once to multiply with, and once for every other rank.
    void read_own_blocks_of_b() {
        for (std::int64_t q = 1; q <= ranks_; ++q) {
            for (std::size_t t = 0; t < held_.b.size(); ++t) {
                if (needs(receiver_in(q), q, column_of(t))) {
                    b_read_.push(read(work_.b, held_.b, static_cast<std::int64_t>(t)));
                }
            }
        }
    }

    void exchange_blocks_of_b() {
        for (std::size_t t = 0; t < held_.b.size(); ++t) {
            if (needs(rank_, 1, column_of(t))) {
                b_arrived_.push(b_read_.pop());
            }
        }
        for (std::int64_t q = 2; q <= ranks_; ++q) {
            const std::int64_t s = source_of(q), r = receiver_in(q);
            const std::vector<Window> theirs = held_windows(plan_, s).b;
            for (std::size_t t = 0; t < std::max(theirs.size(), held_.b.size()); ++t) {
                Block sent, received;
                const bool sends = t < held_.b.size() && needs(r, q, column_of(t));
                const bool receives = t < theirs.size() && needs(rank_, q, column_of(t));
                if (sends) {
                    sent = b_read_.pop();
                }
                if (receives) {
                    received = {theirs[t], blocks_.take(theirs[t].rows, theirs[t].cols)};
                }
                work_.trace.time(Stage::receive, [&] {
                    work_.ranks.exchange(sends ? static_cast<int>(r) : -1, sent.elements.data(),
                                         sent.elements.size_bytes(), receives ? static_cast<int>(s) : -1,
                                         received.elements.data(), received.elements.size_bytes());
                });
                blocks_.give_back(std::move(sent.elements));
                if (receives) {
                    b_arrived_.push(std::move(received));
                }
            }
        }
    }

    /// Calls visit(h) for the blocks of B in the order in which they arrive.
    template <class Visit>
    void for_each_block_of_b(Visit&& visit) const {
        for (std::int64_t q = 1; q <= ranks_; ++q) {
            for (std::int64_t j = 0; j < columns_of(source_of(q)); ++j) {
                for (std::int64_t h = 0; h < deep_ && needs(rank_, q, j); ++h) {
                    visit(h);
                }
            }
        }
    }

    void read_blocks_of_a() {
        for_each_block_of_b([&](std::int64_t h) {
            for (std::int64_t i = 0; i < down_; ++i) {
                a_read_.push(read_a(i, h));
            }
        });
    }

    void bring_blocks() {
        for_each_block_of_b([&](std::int64_t) {
            b_brought_.push(bring(b_arrived_.pop()));
            for (std::int64_t i = 0; i < down_; ++i) {
                a_brought_.push(bring(a_read_.pop()));
            }
        });
    }

    void multiply_blocks() {
        Operand column;
        for_each_block_of_b([&](std::int64_t h) {
            Operand b = b_brought_.pop();
            if (h == 0) {
                column = fresh_result({result_.row, b.window.col, result_.rows, b.window.cols});
            }
            for (std::int64_t i = 0; i < down_; ++i) {
                Operand a = a_brought_.pop();
                const View c = block(column.block.view, a.window.row - result_.row, 0, a.window.rows, b.window.cols);
                blocks_.multiply(a.block.view, b.block.view, beta_of(h), c);
                blocks_.release(std::move(a.block));
            }
            blocks_.release(std::move(b.block));
            if (h + 1 == deep_) {
                hand_over(std::exchange(column, {}));
            }
        });
    }

    const std::int64_t ranks_;
    Channel<Block> a_read_, b_read_, b_arrived_;
    Channel<Operand> a_brought_, b_brought_;
};

}  // namespace

void multiply_pegmm(const RankWork& work) {
    Pegmm(work).run();
}

void multiply_mod_pegmm(const RankWork& work) {
    ModPegmm(work).run();
}

}  // namespace heptad
