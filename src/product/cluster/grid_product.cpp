// The product on a grid of ranks. Rank (i, l, j) works through the panels of its inner range, four stages at a time
// (rounded once: one panel, one stage after the other):
//
//   DR   reads the rows of A(i, l) and of B(l, j) that it holds                     a thread
//   NR   gathers the rest of the panel: of A from its row of ranks, of B from its column       the main thread
//   MM   C += A panel * B panel                                                     a thread
//   RS   after the last panel: sends the ranks (i, *, j) their rows of C and adds what they send
//   DW   writes its rows of C
//
// Held rows lie where the gathered panel has them, so nothing is copied. Where an earlier job has finished C(i, j), its
// ranks only send what others need.

#include "product/cluster/node_blocks.hpp"
#include "product/cluster/rank_work.hpp"

namespace heptad {
namespace {

struct Panel {
    HostBlock a, b;
};

class GridProduct {
public:
    explicit GridProduct(const RankWork& work)
        : work_(work),
          plan_(work.plan),
          grid_(plan_.rank->grid),
          place_(place_in_grid(grid_, work.ranks.rank())),
          rows_(split_range(plan_.m, grid_.pm, place_.i)),
          inner_(split_range(plan_.k, grid_.pk, place_.l)),
          cols_(split_range(plan_.n, grid_.pn, place_.j)),
          needs_result_(needs_result(place_)),
          blocks_(work.node, plan_.type, work.trace, work.failure),
          c_block_(blocks_.take(needs_result_ ? rows_.size() : 0, cols_.size())),
          c_(c_block_.elements()),
          read_(work.failure, kPanelsInMemory),
          gathered_(work.failure, kPanelsInMemory),
          free_(work.failure, kPanelsInMemory) {}

    void run() {
        if (!is_needed()) {
            return;
        }
        for (std::int64_t i = 0; i < kPanelsInMemory; ++i) {
            free_.push(std::make_unique<Panel>());
        }
        Stages stages(work_.failure);
        stages.start([&] { read_panels(); });
        if (needs_result_) {
            stages.start([&] { multiply_panels(); });
        }
        stages.run_here_and_finish([&] { gather_panels(); });
        if (!needs_result_) {
            return;
        }
        work_.trace.time(Stage::reduce, [&] { sum_partial_results(); });
        const Window own = result_window(plan_, work_.ranks.rank());
        if (own.elements() > 0 && !work_.node.is_refused()) {
            const View elements = c_rows(place_.l);
            work_.result->round(elements.data, elements.rows * elements.cols);
            work_.trace.time(Stage::disk_write, [&] { work_.result->write(own, elements.data); });
            work_.finished.add(0, elements.data, bytes_of(elements));
        }
    }

private:
    /// Is C(i, j) still to be computed? Its rows are spread over the ranks (i, *, j), which do that together.
    bool needs_result(const GridPlace& place) const {
        for (std::int64_t l = 0; l < grid_.pk; ++l) {
            if (!work_.finished.contains_all(rank_of({place.i, l, place.j}))) {
                return true;
            }
        }
        return false;
    }
    /// By itself or by another rank of its row or column.
    bool is_needed() const {
        for (std::int64_t j = 0; j < grid_.pn; ++j) {
            if (needs_result({place_.i, place_.l, j})) {
                return true;
            }
        }
        for (std::int64_t i = 0; i < grid_.pm; ++i) {
            if (needs_result({i, place_.l, place_.j})) {
                return true;
            }
        }
        return false;
    }

    IndexRange panel_range(std::int64_t s) const { return split_range(inner_, plan_.rank->panels, s); }

    void read_panels() {
        for (std::int64_t s = 0; s < plan_.rank->panels; ++s) {
            std::unique_ptr<Panel> panel = free_.pop();
            const std::int64_t width = panel_range(s).size();
            take(panel->a, rows_.size(), width);
            take(panel->b, width, cols_.size());
            work_.trace.time(Stage::disk_read, [&] {
                const auto index = static_cast<std::size_t>(s);
                work_.a.read(index, rows_of(panel->a.elements(), grid_.pn, place_.j).data);
                work_.b.read(index, rows_of(panel->b.elements(), grid_.pm, place_.i).data);
            });
            read_.push(std::move(panel));
        }
    }

    void gather_panels() {
        for (std::int64_t s = 0; s < plan_.rank->panels; ++s) {
            std::unique_ptr<Panel> panel = read_.pop();
            work_.trace.time(Stage::receive, [&] {
                gather(panel->a.elements(), grid_.pn, place_.j, [&](std::int64_t j) {
                    return GridPlace{place_.i, place_.l, j};
                });
                gather(panel->b.elements(), grid_.pm, place_.i, [&](std::int64_t i) {
                    return GridPlace{i, place_.l, place_.j};
                });
            });
            (needs_result_ ? gathered_ : free_).push(std::move(panel));
        }
    }

    void multiply_panels() {
        // Partial results are added later, so C0 goes into one of them.
        const bool adds = work_.node.beta != 0.0 && place_.l == 0;
        if (adds) {
            work_.trace.time(Stage::disk_read, [&] {
                work_.c0->read({rows_.begin, cols_.begin, rows_.size(), cols_.size()}, c_.data());
            });
        }
        for (std::int64_t s = 0; s < plan_.rank->panels; ++s) {
            std::unique_ptr<Panel> panel = gathered_.pop();
            const Factor beta = s > 0 ? 1 : adds ? work_.node.beta : 0;
            multiply_on_node(work_, panel->a.elements(), panel->b.elements(), beta, c_.view());
            work_.fraction_done = static_cast<double>(s + 1) / static_cast<double>(plan_.rank->panels);
            free_.push(std::move(panel));
        }
    }

    /// In place of what the panel had, which is used again where the shape is the same. Others, of a wider panel,
    /// go before the new one comes: the plan has counted three panels, and nothing beside them.
    void take(HostBlock& block, std::int64_t rows, std::int64_t cols) {
        if (block.data() == nullptr || block.elements().rows() != rows || block.elements().cols() != cols) {
            block = HostBlock();
            block = blocks_.take(rows, cols);
        }
    }

    /// Part `index` of the rows of a matrix, in `parts` parts.
    static View rows_of(Matrix& matrix, std::int64_t parts, std::int64_t index) {
        const IndexRange rows = split_range(matrix.rows(), parts, index);
        return block(matrix.view(), rows.begin, 0, rows.size(), matrix.cols());
    }
    static std::int64_t bytes_of(const View& rows) {
        return rows.rows * rows.cols * static_cast<std::int64_t>(element_bytes(rows.type));
    }
    View c_rows(std::int64_t l) { return rows_of(c_, grid_.pk, l); }

    int rank_of(const GridPlace& place) const { return static_cast<int>(rank_at(grid_, place)); }

    /// Everybody of a group has one part of the rows and gets the others', in rounds in which each sends to one and
    /// receives from one.
    template <class PlaceOf>
    void gather(Matrix& matrix, std::int64_t parts, std::int64_t own, PlaceOf&& place_of) {
        const View held = rows_of(matrix, parts, own);
        for (std::int64_t round = 1; round < parts; ++round) {
            const std::int64_t to = (own + round) % parts, from = (own - round + parts) % parts;
            const View wanted = rows_of(matrix, parts, from);
            work_.ranks.exchange(needs_result(place_of(to)) ? rank_of(place_of(to)) : -1, held.data, bytes_of(held),
                                 needs_result_ ? rank_of(place_of(from)) : -1, wanted.data, bytes_of(wanted));
        }
    }

    void sum_partial_results() {
        if (grid_.pk == 1) {
            return;
        }
        const View own = c_rows(place_.l);
        Matrix received(plan_.type, own.rows, own.cols);
        for (std::int64_t round = 1; round < grid_.pk; ++round) {
            const std::int64_t to = (place_.l + round) % grid_.pk, from = (place_.l - round + grid_.pk) % grid_.pk;
            const View theirs = c_rows(to);
            work_.ranks.exchange(rank_of({place_.i, to, place_.j}), theirs.data, bytes_of(theirs),
                                 rank_of({place_.i, from, place_.j}), received.data(), bytes_of(own));
            add_partial_sum(own, received.view(), work_.node.threads);
        }
    }

    const RankWork& work_;
    const ProductPlan& plan_;
    const ClusterGrid grid_;
    const GridPlace place_;
    const IndexRange rows_, inner_, cols_;
    const bool needs_result_;
    NodeBlocks blocks_;
    HostBlock c_block_;
    Matrix& c_;
    Channel<std::unique_ptr<Panel>> read_, gathered_, free_;
};

}  // namespace

void multiply_on_grid(const RankWork& work) {
    if (work.ranks.rank() < work.plan.rank->grid.ranks()) {
        GridProduct(work).run();
    }
}

}  // namespace heptad
