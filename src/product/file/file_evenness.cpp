// The sample of two files by which outer levels are scaled, or refused.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "base/matrix.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "product/file/layered_files.hpp"

namespace heptad {
namespace {

/// Values of some columns of a matrix in a file, of a band of rows at a time.
class FileSample {
public:
    FileSample(const MatrixFile& file, FileLayout layout, IoQueue& queue, std::int64_t band_bytes)
        : file_(file),
          layout_(layout),
          queue_(queue),
          band_bytes_(band_bytes),
          memory_(2 * band_bytes),
          gathered_(band_bytes) {
        layout_.block_bytes = 1;
    }

    /// Neighbours in the file are read together.
    bool reads_runs() const { return !layout_.by_columns; }

    /// visit(view, first): so many rows from row `first` on, and one column for each place.
    template <class Visit>
    void for_each_band(const std::vector<std::int64_t>& places, Visit&& visit) {
        const auto count = static_cast<std::int64_t>(places.size());
        const std::int64_t most =
            std::max<std::int64_t>(1, band_bytes_ / layout_.element_bytes / std::max(count, kRun));
        for (std::int64_t first = 0; first < layout_.rows && count > 0; first += most) {
            const std::int64_t rows = std::min(most, layout_.rows - first);
            for_each_run(places, layout_.cols, [&](std::size_t index, std::int64_t run) {
                take_over({first, rows, places[index], run}, static_cast<std::int64_t>(index), count);
            });
            visit(ConstView(gathered_.data(), file_.type(), rows, count, count, 1), first);
        }
    }

    /// Its rows are the lines that levels add. Of each block those of the sample are read, run by run.
    void note_in(LevelSample& tried, const LineExponents& exponents, double usual) {
        for (std::int64_t block = 0; block < tried.line_blocks * tried.inner_blocks; ++block) {
            const std::int64_t line0 = block / tried.inner_blocks * tried.block_lines;
            const std::int64_t place0 = block % tried.inner_blocks * tried.block_places;
            for_each_run(tried.lines, layout_.rows - line0, [&](std::size_t line, std::int64_t lines) {
                for_each_run(tried.places, layout_.cols - place0, [&](std::size_t place, std::int64_t places) {
                    const FileWindow window{line0 + tried.lines[line], lines, place0 + tried.places[place], places};
                    tried.note(file_.read(queue_, layout_, window, memory_.data()), window.row, window.col,
                               exponents.of_block(window.row, window.col), usual);
                });
            });
        }
    }

private:
    /// visit(index, count) of neighbours among places, as far as they are below `end`.
    template <class Visit>
    static void for_each_run(const std::vector<std::int64_t>& places, std::int64_t end, Visit&& visit) {
        for (std::size_t first = 0; first < places.size() && places[first] < end;) {
            std::size_t next = first + 1;
            while (next < places.size() && places[next] == places[next - 1] + 1) {
                ++next;
            }
            visit(first, std::min(static_cast<std::int64_t>(next - first), end - places[first]));
            first = next;
        }
    }

    void take_over(const FileWindow& window, std::int64_t to_column, std::int64_t columns) {
        const ConstView read = file_.read(queue_, layout_, window, memory_.data());
        const std::int64_t element = layout_.element_bytes;
        const auto* const from = static_cast<const std::byte*>(read.data);
        for (std::int64_t i = 0; i < window.rows; ++i) {
            std::byte* const to = gathered_.data() + (i * columns + to_column) * element;
            for (std::int64_t j = 0; j < window.cols; ++j) {
                std::memcpy(to + j * element, from + (i * read.row_stride + j * read.col_stride) * element,
                            static_cast<std::size_t>(element));
            }
        }
    }

    const MatrixFile& file_;
    FileLayout layout_;
    IoQueue& queue_;
    std::int64_t band_bytes_;
    PageBuffer memory_, gathered_;
};

LineLogs logs_of_rows(FileSample& file, std::int64_t rows, const std::vector<std::int64_t>& places, Backend& backend) {
    std::vector<std::int64_t> all(places.size());
    std::iota(all.begin(), all.end(), 0);
    LineLogs logs(rows);
    file.for_each_band(places,
                       [&](const ConstView& band, std::int64_t first) { logs.note_rows(backend, band, first, all); });
    return logs;
}

/// Along k, from whole lines across it.
LineEffects inner_effects(FileSample sample, const FileLayout& across, Backend& backend) {
    return effects_of(logs_of_rows(sample, across.rows, sample_of_line(across.cols, sample.reads_runs()), backend));
}

/// Which lines the sample has found something in, as largest values of 1 or 0.
std::vector<double> seen_in(const LineLogs& logs) {
    std::vector<double> seen;
    for (const std::int64_t count : logs.counts) {
        seen.push_back(count > 0 ? std::numeric_limits<double>::infinity() : 0);  // nobody knows how large
    }
    return seen;
}

/// An operand whose rows are those of A or the columns of B.
struct Side {
    FileSample file;
    InnerSample sample;
    std::vector<double> seen;
    LineEffects rows;
};
Side side_of(FileSample file, const FileLayout& layout, const LineEffects& own_inner, const LineEffects& other_inner,
             Backend& backend) {
    InnerSample sample = inner_sample(own_inner, other_inner, 0, layout.cols, file.reads_runs());
    const LineLogs logs = logs_of_rows(file, layout.rows, sample.places, backend);
    LineEffects rows = effects_of(logs);
    // Places that were chosen by their weight are no usual ones.
    double above = 0;
    for (std::size_t t = 0; t < sample.half_weight.size(); ++t) {
        above += own_inner.of_lines[static_cast<std::size_t>(sample.places[t])];
    }
    rows.mean -= above / static_cast<double>(std::max<std::size_t>(sample.places.size(), 1));
    return {std::move(file), std::move(sample), seen_in(logs), std::move(rows)};
}

Tails tails_of(Side& side, const LineExponents& lines, double usual, Backend& backend) {
    InnerSample gathered = side.sample;
    std::vector<std::int32_t> inner;
    for (std::size_t t = 0; t < gathered.places.size(); ++t) {
        inner.push_back(lines.cols == nullptr ? 0 : lines.cols[gathered.places[t]]);
        gathered.places[t] = static_cast<std::int64_t>(t);
    }
    Tails tails;
    side.file.for_each_band(side.sample.places, [&](const ConstView& band, std::int64_t first) {
        tails.note_rows(backend, band, gathered, {lines.of_block(first, 0).rows, inner.data()}, usual,
                        side.seen.data() + first);
    });
    return tails;
}

/// With what is zero beyond the edges.
ProblemSize whole_blocks(const OuterLaunch& layers) {
    const BlockGrid& grid = layers.layer.grid;
    return {grid.m * layers.a.block_rows, grid.k * layers.a.block_cols, grid.n * layers.b.block_cols};
}

}  // namespace

FileEvenness::FileEvenness(const OuterLaunch& layers, const OpenInputs& inputs, IoQueue& queue)
    : k_(layers.whole.k), samples_(whole_blocks(layers), levels_of(layers.outer)) {
    ThreadPool alone(1);
    cpu::CpuBackend backend(alone);
    const FileLayout &a = layers.a.file, &b = layers.b.file;
    constexpr std::int64_t kLeast = 64 << 10, kMost = 1 << 20;
    const std::int64_t band = std::clamp(layers.a.bounce_bytes, kLeast, kMost);
    effects_.a_inner = inner_effects({inputs.a, transposed(a), queue, band}, transposed(a), backend);
    effects_.b_inner = inner_effects({inputs.b, b, queue, band}, b, backend);
    Side left = side_of({inputs.a, a, queue, band}, a, effects_.a_inner, effects_.b_inner, backend);
    Side right =
        side_of({inputs.b, transposed(b), queue, band}, transposed(b), effects_.b_inner, effects_.a_inner, backend);
    effects_.a_rows = std::move(left.rows);
    effects_.b_cols = std::move(right.rows);
    even_ = exponents_for(effects_, left.seen, right.seen);
    tails_.weight_a = left.sample.total_weight;
    tails_.weight_b = right.sample.total_weight;
    const LineExponents of_a = even_.scales() ? even_.of_a() : LineExponents{};
    const LineExponents of_b = even_.scales() ? even_.of_b() : LineExponents{};
    tails_.of_a = tails_of(left, of_a, effects_.a_rows.mean, backend);
    tails_.of_b = tails_of(right, {of_b.cols, of_b.rows}, effects_.b_cols.mean, backend);
    left.file.note_in(samples_.of_a, of_a, effects_.a_rows.mean);
    right.file.note_in(samples_.of_b, {of_b.cols, of_b.rows}, effects_.b_cols.mean);
    samples_.of_a.leave_out_zeros(even_.rows, layers.whole.m);
    samples_.of_b.leave_out_zeros(even_.cols, layers.whole.n);
    even_.exact_products = exact_products_of(tails_, effects_, layers.whole.type);
    for (LineEffects* const effects : {&effects_.a_rows, &effects_.a_inner, &effects_.b_inner, &effects_.b_cols}) {
        effects->of_lines = {};  // means are all that is asked for later
    }
}

bool FileEvenness::holds(const Seen& of_a, const Seen& of_b, bool scales, double least_evenness) const {
    const double max_a = of_a.scaled.max_abs, max_b = of_b.scaled.max_abs;
    if (max_a == 0 || max_b == 0) {
        return true;
    }
    const std::vector<std::int32_t> none;
    const auto k = static_cast<std::int64_t>(of_a.plain.cols.size());
    return norms_are_in_reach(
               {k, of_a.plain.rows, of_a.plain.row_sums, scales ? even_.rows : none, max_a, of_a.scaled.row_sums},
               {k, of_b.plain.cols, of_b.plain.col_sums, scales ? even_.cols : none, max_b, of_b.scaled.col_sums}) &&
           evenness_of(tails_, effects_, max_a, max_b) >= least_evenness;
}

}  // namespace heptad
