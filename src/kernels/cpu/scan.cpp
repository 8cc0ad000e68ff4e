// Largest |x| of rows and columns by the order of bit patterns, and sums of them: see scan_bits.hpp.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/half.hpp"
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

    LineScan(std::int64_t row_count, std::int64_t col_count, bool sums)
        : rows(static_cast<std::size_t>(row_count)),
          cols(static_cast<std::size_t>(col_count)),
          row_sums(sums ? rows.size() : 0),
          col_sums(sums ? cols.size() : 0) {}
};

void add_to(double* sums, const auto& more, std::int64_t count) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        sums[i] += static_cast<double>(more[i]);
    }
}

/// In blocks so small that sums of them, in the type of the values, are off by little.
template <class Value, class Bits>
void scan_rows(const ConstView& v, ScanKernel<Value, Bits> kernel, LineScan<Bits>& lines) {
    constexpr std::int64_t kMostRows = 1 << 12, kMostCols = 1 << 18;
    const auto* const data = static_cast<const Value*>(v.data);
    std::vector<Value> row_sums, col_sums;
    for (std::int64_t col = 0; col < v.cols; col += kMostCols) {
        for (std::int64_t row = 0; row < v.rows; row += kMostRows) {
            const std::int64_t rows = std::min(kMostRows, v.rows - row), cols = std::min(kMostCols, v.cols - col);
            row_sums.assign(static_cast<std::size_t>(rows), 0);
            col_sums.assign(static_cast<std::size_t>(cols), 0);
            kernel(data + row * v.row_stride + col, v.row_stride, rows, cols, lines.rows.data() + row,
                   lines.cols.data() + col, row_sums.data(), col_sums.data());
            add_to(lines.row_sums.data() + row, row_sums, rows);
            add_to(lines.col_sums.data() + col, col_sums, cols);
        }
    }
}
template <class Bits>
void scan_rows(const ConstView& v, MaxBits<Bits> kernel, LineScan<Bits>& lines) {
    kernel(static_cast<const Bits*>(v.data), v.row_stride, v.rows, v.cols, lines.rows.data(), lines.cols.data());
}

template <class Bits, class Kernel, class ToDouble>
ScanResult scan_patterns(const ConstView& view, Kernel kernel, ToDouble to_double) {
    const bool turned = !is_row_contiguous(view) &&
                        (is_column_contiguous(view) || std::abs(view.row_stride) < std::abs(view.col_stride));
    const ConstView v = turned ? transposed(view) : view;
    constexpr bool sums = !std::is_same_v<Kernel, MaxBits<Bits>>;
    LineScan<Bits> lines(v.rows, v.cols, sums);
    if (is_row_contiguous(v)) {
        scan_rows(v, kernel, lines);
    } else {
        const auto* data = static_cast<const Bits*>(v.data);
        for (std::size_t i = 0; i < lines.rows.size(); ++i) {
            for (std::size_t j = 0; j < lines.cols.size(); ++j) {
                const Bits pattern =
                    data[static_cast<std::int64_t>(i) * v.row_stride + static_cast<std::int64_t>(j) * v.col_stride];
                const auto bits = static_cast<Bits>(pattern & std::numeric_limits<Bits>::max());
                lines.rows[i] = std::max(lines.rows[i], bits);
                lines.cols[j] = std::max(lines.cols[j], bits);
                if constexpr (sums) {
                    lines.row_sums[i] += to_double(bits);
                    lines.col_sums[j] += to_double(bits);
                }
            }
        }
    }
    const auto values = [&](const std::vector<Bits>& patterns) {
        std::vector<double> result(patterns.size());
        std::transform(patterns.begin(), patterns.end(), result.begin(), to_double);
        return result;
    };
    const Bits most = lines.rows.empty() ? Bits{0} : *std::ranges::max_element(lines.rows);
    ScanResult result{to_double(most), values(lines.rows), values(lines.cols), std::move(lines.row_sums),
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
            return scan_patterns<std::int64_t>(view, kernels.scan_f64,
                                               [](std::int64_t x) { return std::bit_cast<double>(x); });
        case Type::f32:
        case Type::tf32:
            return scan_patterns<std::int32_t>(
                view, kernels.scan_f32, [](std::int32_t x) { return static_cast<double>(std::bit_cast<float>(x)); });
        case Type::bf16:
            return scan_patterns<std::int16_t>(view, kernels.max_bits_16, [](std::int16_t x) {
                return static_cast<double>(to_float(bf16{static_cast<std::uint16_t>(x)}));
            });
        case Type::f16:
            return scan_patterns<std::int16_t>(view, kernels.max_bits_16, [](std::int16_t x) {
                return static_cast<double>(to_float(f16{static_cast<std::uint16_t>(x)}));
            });
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
