// Largest |x| of rows and columns by the order of bit patterns, and sums of them: see scan_bits.hpp.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/cpu/combine_arithmetic.hpp"
#include "kernels/cpu/cpu_features.hpp"

namespace heptad::cpu {
namespace {

/// NaN if either is, otherwise the larger one.
double larger(double x, double y) {
    return std::isnan(x) || !(x < y || std::isnan(y)) ? x : y;
}

void raise(std::vector<double>& to, const std::vector<double>& from) {
    std::transform(to.begin(), to.end(), from.begin(), to.begin(), larger);
}

/// What is known of the lines of a matrix whose rows lie side by side or not at all.
template <class Bits>
struct LineScan {
    std::vector<Bits> rows, cols;
    std::vector<double> row_sums, col_sums;

    LineScan(std::int64_t row_count, std::int64_t col_count)
        : rows(static_cast<std::size_t>(row_count)),
          cols(static_cast<std::size_t>(col_count)),
          row_sums(rows.size()),
          col_sums(cols.size()) {}
};

void add_to(double* sums, const auto& more, std::int64_t count) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        sums[i] += static_cast<double>(more[i]);
    }
}

/// A block of the matrix as the kernel reads it.
template <class Value>
struct Rows {
    const Value* data;
    std::int64_t stride;
};

/// `block_at(row, col, rows, cols)` gives Rows; none is so large that sums of it, in the type of the values, are off by
/// much.
template <class Value, class Bits, class BlockAt>
void scan_blocks(const ConstView& v, std::int64_t most_rows, std::int64_t most_cols, ScanKernel<Value, Bits> kernel,
                 BlockAt&& block_at, LineScan<Bits>& lines) {
    std::vector<Value> row_sums, col_sums;
    for (std::int64_t col = 0; col < v.cols; col += most_cols) {
        for (std::int64_t row = 0; row < v.rows; row += most_rows) {
            const std::int64_t rows = std::min(most_rows, v.rows - row), cols = std::min(most_cols, v.cols - col);
            row_sums.assign(static_cast<std::size_t>(rows), 0);
            col_sums.assign(static_cast<std::size_t>(cols), 0);
            const Rows<Value> from = block_at(row, col, rows, cols);
            kernel(from.data, from.stride, rows, cols, lines.rows.data() + row, lines.cols.data() + col,
                   row_sums.data(), col_sums.data());
            add_to(lines.row_sums.data() + row, row_sums, rows);
            add_to(lines.col_sums.data() + col, col_sums, cols);
        }
    }
}

/// `Stored` values are copied by `gather` where they do not lie as the kernel reads them.
template <class Stored, class Value, class Bits>
ScanResult scan_values(const ConstView& view, const KernelTable& kernels, ScanKernel<Value, Bits> kernel,
                       Gather<Value> gather) {
    const bool turned = !is_row_contiguous(view) &&
                        (is_column_contiguous(view) || std::abs(view.row_stride) < std::abs(view.col_stride));
    const ConstView v = turned ? transposed(view) : view;
    const auto* const data = static_cast<const Stored*>(v.data);
    LineScan<Bits> lines(v.rows, v.cols);
    const auto at = [&](std::int64_t row, std::int64_t col) { return data + row * v.row_stride + col * v.col_stride; };
    if (std::is_same_v<Stored, Value> && is_row_contiguous(v)) {
        constexpr std::int64_t kMostRows = 1 << 12, kMostCols = 1 << 18;
        scan_blocks<Value, Bits>(
            v, kMostRows, kMostCols, kernel,
            [&](std::int64_t row, std::int64_t col, std::int64_t, std::int64_t) {
                return Rows<Value>{reinterpret_cast<const Value*>(at(row, col)), v.row_stride};
            },
            lines);
    } else {
        constexpr std::int64_t kMostRows = 16, kMostCols = 1 << 10;  // in a cache
        std::vector<Value> copy(static_cast<std::size_t>(kMostRows * std::min(kMostCols, v.cols)));
        scan_blocks<Value, Bits>(
            v, kMostRows, kMostCols, kernel,
            [&](std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols) {
                for (std::int64_t i = 0; i < rows; ++i) {
                    gather(kernels, at(row + i, col), v.col_stride, copy.data() + i * cols, cols);
                }
                return Rows<Value>{copy.data(), cols};
            },
            lines);
    }
    const auto value = [](Bits bits) { return static_cast<double>(std::bit_cast<Value>(bits)); };
    const auto values = [&](const std::vector<Bits>& patterns) {
        std::vector<double> result(patterns.size());
        std::transform(patterns.begin(), patterns.end(), result.begin(), value);
        return result;
    };
    const Bits most = lines.rows.empty() ? Bits{0} : *std::ranges::max_element(lines.rows);
    ScanResult result{value(most), values(lines.rows), values(lines.cols), std::move(lines.row_sums),
                      std::move(lines.col_sums)};
    if (turned) {
        result.rows.swap(result.cols);
        result.row_sums.swap(result.col_sums);
    }
    return result;
}

}  // namespace

ScanResult scan_view(const ConstView& view, InstructionSet set) {
    const KernelTable& kernels = kernel_table_of(set);
    switch (view.type) {
        case Type::f64:
            return scan_values<double>(view, kernels, kernels.scan_f64, gather_same<double>);
        case Type::f32:
        case Type::tf32:
            return scan_values<float>(view, kernels, kernels.scan_f32, gather_same<float>);
        case Type::bf16:
            return scan_values<std::uint16_t>(view, kernels, kernels.scan_f32, gather_half<&KernelTable::widen_bf16>);
        case Type::f16:
            return scan_values<std::uint16_t>(view, kernels, kernels.scan_f32, gather_half<&KernelTable::widen_f16>);
        default:
            return {};
    }
}

ScanResult merge_scans(const std::vector<ScanResult>& bands, bool by_rows) {
    ScanResult all;
    for (const ScanResult& band : bands) {
        all.max_abs = larger(all.max_abs, band.max_abs);
        std::vector<double>& along = by_rows ? all.rows : all.cols;
        std::vector<double>& across = by_rows ? all.cols : all.rows;
        const std::vector<double>& next = by_rows ? band.rows : band.cols;
        const std::vector<double>& over = by_rows ? band.cols : band.rows;
        along.insert(along.end(), next.begin(), next.end());
        if (across.empty()) {
            across = over;
        } else {
            raise(across, over);
        }
        std::vector<double>& sums_along = by_rows ? all.row_sums : all.col_sums;
        std::vector<double>& sums_across = by_rows ? all.col_sums : all.row_sums;
        const std::vector<double>& next_sums = by_rows ? band.row_sums : band.col_sums;
        const std::vector<double>& sums_over = by_rows ? band.col_sums : band.row_sums;
        sums_along.insert(sums_along.end(), next_sums.begin(), next_sums.end());
        sums_across.resize(sums_over.size());
        std::transform(sums_across.begin(), sums_across.end(), sums_over.begin(), sums_across.begin(), std::plus());
    }
    return all;
}

}  // namespace heptad::cpu
