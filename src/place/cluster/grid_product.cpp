// The product on a grid of ranks. Rank (i, l, j) works through the panels of its inner range, four stages at a time:
//
//   DR   reads the rows of A(i, l) and of B(l, j) that it holds                     a thread
//   NR   gathers the rest of the panel: of A from its row of ranks, of B from its column       the main thread
//   MM   C += A panel * B panel                                                     a thread
//   RS   after the last panel: sends the ranks (i, *, j) their rows of C and adds what they send
//   DW   writes its rows of C
//
// Held rows lie where the gathered panel has them, so nothing is copied.
#include <optional>

#include "place/cluster/partial_sum.hpp"
#include "place/cluster/rank_work.hpp"

namespace heptad {
namespace {

constexpr std::size_t kPanelsInMemory = 3;  // being read, gathered and multiplied

struct Panel {
    Matrix a, b;
};

class GridProduct {
public:
    explicit GridProduct(const RankWork& work)
        : work_(work),
          plan_(work.plan),
          grid_(plan_.grid),
          place_(place_in_grid(grid_, work.ranks.rank())),
          rows_(split_range(plan_.m, grid_.pm, place_.i)),
          inner_(split_range(plan_.k, grid_.pk, place_.l)),
          cols_(split_range(plan_.n, grid_.pn, place_.j)),
          c_(plan_.type, rows_.size(), cols_.size()),
          read_(work.failure, kPanelsInMemory),
          gathered_(work.failure, kPanelsInMemory),
          free_(work.failure, kPanelsInMemory) {}

    void run() {
        for (std::size_t i = 0; i < kPanelsInMemory; ++i) {
            free_.push(std::make_unique<Panel>());
        }
        Stages stages(work_.failure);
        stages.start([&] { read_panels(); });
        stages.start([&] { multiply_panels(); });
        stages.run_here_and_finish([&] { gather_panels(); });
        work_.clock.time("RS", [&] { sum_partial_results(); });
        const Window own = result_window(plan_, work_.ranks.rank());
        work_.clock.time("DW", [&] { work_.result->write(own, c_rows(place_.l).data); });
    }

private:
    IndexRange panel_range(std::int64_t s) const { return split_range(inner_, plan_.panels, s); }

    void read_panels() {
        for (std::int64_t s = 0; s < plan_.panels; ++s) {
            std::unique_ptr<Panel> panel = free_.pop();
            const std::int64_t width = panel_range(s).size();
            panel->a = Matrix(plan_.type, rows_.size(), width);
            panel->b = Matrix(plan_.type, width, cols_.size());
            work_.clock.time("DR", [&] {
                const auto index = static_cast<std::size_t>(s);
                work_.a.read(index, rows_of(panel->a, grid_.pn, place_.j).data);
                work_.b.read(index, rows_of(panel->b, grid_.pm, place_.i).data);
            });
            read_.push(std::move(panel));
        }
    }

    void gather_panels() {
        for (std::int64_t s = 0; s < plan_.panels; ++s) {
            std::unique_ptr<Panel> panel = read_.pop();
            work_.clock.time("NR", [&] {
                gather(panel->a, grid_.pn, place_.j, [&](std::int64_t j) { return GridPlace{place_.i, place_.l, j}; });
                gather(panel->b, grid_.pm, place_.i, [&](std::int64_t i) { return GridPlace{i, place_.l, place_.j}; });
            });
            gathered_.push(std::move(panel));
        }
    }

    void multiply_panels() {
        // Partial results are added later, so C0 goes into one of them.
        const bool adds = work_.node.beta != 0 && place_.l == 0;
        if (adds) {
            work_.clock.time("DR", [&] {
                work_.c0->read({rows_.begin, cols_.begin, rows_.size(), cols_.size()}, c_.data());
            });
        }
        for (std::int64_t s = 0; s < plan_.panels; ++s) {
            std::unique_ptr<Panel> panel = gathered_.pop();
            const double beta = s > 0 ? 1 : adds ? work_.node.beta : 0;
            multiply_on_node(work_, panel->a, panel->b, beta, c_.view());
            work_.fraction_done = static_cast<double>(s + 1) / static_cast<double>(plan_.panels);
            free_.push(std::move(panel));
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
            work_.ranks.exchange(rank_of(place_of(to)), held.data, bytes_of(held), rank_of(place_of(from)), wanted.data,
                                 bytes_of(wanted));
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
            add_partial_sum(plan_.type, own.data, received.data(), own.rows * own.cols, work_.node.threads);
        }
    }

    const RankWork& work_;
    const ClusterPlan& plan_;
    const ClusterGrid grid_;
    const GridPlace place_;
    const IndexRange rows_, inner_, cols_;
    Matrix c_;
    Channel<std::unique_ptr<Panel>> read_, gathered_, free_;
};

}  // namespace

void multiply_on_grid(const RankWork& work) {
    if (work.ranks.rank() < work.plan.grid.ranks()) {
        GridProduct(work).run();
    }
}

}  // namespace heptad
