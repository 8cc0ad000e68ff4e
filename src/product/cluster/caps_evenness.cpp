// How even A and B are, from what every rank holds of them: sums and largest values are put together, so that all ranks
// come to the same answer. Complex numbers are even where both of their parts are.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/complex_as_real.hpp"
#include "base/types.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/cpu_kernels.hpp"
#include "plan/search/planner.hpp"
#include "product/cluster/rank_work.hpp"
#include "product/cluster/tree_merge.hpp"

namespace heptad {
namespace {

constexpr auto keep_larger = [](double& all, double part) { all = std::max(all, part); };
constexpr auto add_to = [](auto& all, auto part) { all += part; };

void add(std::vector<double>& sums, std::int64_t first, const std::vector<double>& more) {
    const auto to = sums.begin() + first;
    std::transform(more.begin(), more.end(), to, to, std::plus());
}

class HeldOperand {
public:
    HeldOperand(const WindowSource& source, const std::vector<Window>& windows, Type type, std::int64_t m,
                std::int64_t n)
        : rows(m), cols(n), source_(source), windows_(windows), type_(type), rows_(m), cols_(n) {}

    /// visit(window, view, part) of all that this rank holds; of complex numbers one view for each part.
    template <class Visit>
    void for_each_window(Visit&& visit) const {
        for (std::size_t index = 0; index < windows_.size(); ++index) {
            const Window& window = windows_[index];
            if (window.elements() > 0) {
                Matrix part(type_, window.rows, window.cols);
                source_.read(index, part.data());
                int number = 0;
                for (const View& numbers : parts_of(part.view())) {
                    visit(window, numbers, number++);
                }
            }
        }
    }

    /// Of all ranks' windows; a NaN counts as infinity.
    void look(Communicator& ranks, Backend& backend) {
        std::vector<double> largest(static_cast<std::size_t>(rows_ + cols_)), sums(largest.size());
        for_each_window([&](const Window& window, const View& part, int) {
            const ScanResult here = backend.scan(part);
            raise(largest, window.row, here.rows);
            raise(largest, rows_ + window.col, here.cols);
            add(sums, window.row, here.row_sums);
            add(sums, rows_ + window.col, here.col_sums);
            rows.note_rows(backend, part, window.row);
            cols.note_rows(backend, transposed(ConstView(part)), window.col);
        });
        merge_everywhere(ranks, largest, keep_larger);
        merge_everywhere(ranks, sums, add_to);
        scan = {*std::max_element(largest.begin(), largest.end()),
                {largest.begin(), largest.begin() + rows_},
                {largest.begin() + rows_, largest.end()},
                {sums.begin(), sums.begin() + rows_},
                {sums.begin() + rows_, sums.end()}};
        for (std::vector<std::int64_t>* const values : {&rows.sums, &rows.counts, &cols.sums, &cols.counts}) {
            merge_everywhere(ranks, *values, add_to);
        }
    }

    ScanResult scan;
    LineLogs rows, cols;

private:
    static void raise(std::vector<double>& largest, std::int64_t first, const std::vector<double>& values) {
        auto to = largest.begin() + first;
        for (const double value : values) {
            *to = std::max(*to, std::isnan(value) ? std::numeric_limits<double>::infinity() : value);
            ++to;
        }
    }

    const WindowSource& source_;
    const std::vector<Window>& windows_;
    Type type_;
    std::int64_t rows_, cols_;
};

/// What all ranks see of the rows of A'', or of the columns of B''. Every line is counted at the same places as if one
/// had all of it: the piece that a rank holds may be so short that it tells nothing.
struct ScaledLines {
    RowCounts counts;
    std::vector<double> sums;
    double largest = 0;

    explicit ScaledLines(std::int64_t lines) : counts(lines), sums(static_cast<std::size_t>(lines)) {}
    void note(Backend& backend, const ConstView& pieces, std::int64_t first, const InnerSample& sample, double usual) {
        const ScanResult here = backend.scan(pieces);
        largest = std::max(largest, std::isnan(here.max_abs) ? std::numeric_limits<double>::infinity() : here.max_abs);
        add(sums, first, here.row_sums);
        counts.note_rows(backend, pieces, first, sample, {}, usual);
    }
    void merge(Communicator& ranks) {
        merge_everywhere(ranks, counts.steps, add_to);
        merge_everywhere(ranks, sums, add_to);
        std::vector<double> extremes{largest, -static_cast<double>(counts.unit)};
        merge_everywhere(ranks, extremes, keep_larger);
        largest = extremes.front();
        counts.unit = -static_cast<std::int32_t>(extremes.back());
    }
};

Evenness judge(const HeldOperand& a, const HeldOperand& b, const RankWork& work, const std::vector<LevelPlan>& levels,
               Backend& backend) {
    const Type type = work.plan.type;
    Communicator& ranks = work.ranks;
    const std::int64_t k = problem_size(work.plan).k;
    const int parts = is_complex(type) ? 2 : 1;
    const OperandEffects effects{effects_of(a.rows), effects_of(a.cols), effects_of(b.rows), effects_of(b.cols)};
    Evenness even = exponents_for(effects, a.scan.rows, b.scan.cols);
    const LineExponents of_a = even.scales() ? even.of_a() : LineExponents{};
    const LineExponents of_b = even.scales() ? even.of_b() : LineExponents{};
    const InnerSample sample = inner_sample(effects.a_inner, effects.b_inner, 0, k, false);
    ScaledLines rows(static_cast<std::int64_t>(a.scan.rows.size()));
    ScaledLines cols(static_cast<std::int64_t>(b.scan.cols.size()));
    MeetingSamples samples(problem_size(work.plan), levels);
    a.for_each_window([&](const Window& window, const View& part, int number) {
        cpu::scale_lines(part, of_a.of_block(window.row, window.col));
        samples.of_a.note(part, window.row, window.col, {}, effects.a_rows.mean, number, parts);
        rows.note(backend, part, window.row, part_of(sample, window.col, window.cols), effects.a_rows.mean);
    });
    b.for_each_window([&](const Window& window, const View& part, int number) {
        cpu::scale_lines(part, of_b.of_block(window.row, window.col));
        samples.of_b.note(transposed(ConstView(part)), window.col, window.row, {}, effects.b_cols.mean, number, parts);
        cols.note(backend, transposed(ConstView(part)), window.col, part_of(sample, window.row, window.rows),
                  effects.b_cols.mean);
    });
    rows.merge(ranks);
    cols.merge(ranks);
    merge_everywhere(ranks, samples.of_a.values, add_to);
    merge_everywhere(ranks, samples.of_b.values, add_to);
    samples.of_a.leave_out_zeros(even.rows, problem_size(work.plan).m);
    samples.of_b.leave_out_zeros(even.cols, problem_size(work.plan).n);
    even.max_a = rows.largest;
    even.max_b = cols.largest;
    // A line of complex numbers is one of twice as many reals.
    const std::int64_t reals = k * parts;
    const std::size_t places = sample.places.size() * static_cast<std::size_t>(parts);
    const OperandTails tails{rows.counts.tails(a.scan.rows, places), cols.counts.tails(b.scan.cols, places),
                             sample.total_weight, sample.total_weight};
    even.exact_products = exact_products_of(tails, effects, type);
    if (norms_are_in_reach({reals, a.scan.rows, a.scan.row_sums, even.rows, rows.largest, rows.sums},
                           {reals, b.scan.cols, b.scan.col_sums, even.cols, cols.largest, cols.sums}) &&
        (levels.empty() || are_short(even, k) || samples.keep_the_digit())) {
        even.value = evenness_of(tails, effects, even.max_a, even.max_b);
    }
    return even;
}

}  // namespace

std::optional<Evenness> judge_for_caps(const RankWork& work) {
    const Type type = work.plan.type;
    if (!is_float(type)) {
        return Evenness{};
    }
    ThreadPool& pool = shared_pool(threads_or_default(work.node.threads));
    cpu::CpuBackend backend(pool);
    const HeldWindows held = held_windows(work.plan, work.ranks.rank());
    const auto& [m, k, n] = problem_size(work.plan);
    HeldOperand a(work.a, held.a, type, m, k), b(work.b, held.b, type, k, n);
    a.look(work.ranks, backend);
    b.look(work.ranks, backend);
    Evenness even;
    even.max_a = a.scan.max_abs;
    even.max_b = b.scan.max_abs;
    even.value = 1;
    if (std::isfinite(even.max_a) && std::isfinite(even.max_b) && even.max_a > 0 && even.max_b > 0) {
        const bool balanced = work.node.options.accuracy == Accuracy::balanced;
        const std::vector<LevelPlan> none,
            levels(static_cast<std::size_t>(work.plan.rank->steps), LevelPlan{"strassen", LevelMode::parallel, ""});
        even = judge(a, b, work, balanced ? levels : none, backend);
        const bool too_short = only_levels_round(even, k, levels);
        const bool uneven = !(even.value >= least_evenness_of(levels));  // NaN too
        if (uneven || too_short) {
            if (balanced) {
                work.node.note({.fell_back = true, .uneven = uneven, .short_numbers = !uneven});
                return std::nullopt;
            }
        }
        if (uneven) {
            even = {};  // what no powers make even may be worse with them
            even.max_a = a.scan.max_abs;
            even.max_b = b.scan.max_abs;
        }
    }
    // Sums have at most two terms of A and of B per step, results four.
    const double growth = std::pow(16.0, work.plan.rank->steps);
    const bool is_double = type == Type::f64 || type == Type::c128;
    const double limit =
        is_double ? std::numeric_limits<double>::max() : static_cast<double>(std::numeric_limits<float>::max());
    const double terms = static_cast<double>(k) * (is_complex(type) ? 2 : 1);
    const bool fits =
        even.max_a * growth * std::max(1.0, even.max_b) * terms * std::max(1.0, std::abs(work.node.alpha)) < limit &&
        even.max_b * growth < limit;  // false for NaN
    work.node.note({.fell_back = !fits, .scaled = fits && even.scales()});
    return fits ? std::optional(std::move(even)) : std::nullopt;
}

}  // namespace heptad
