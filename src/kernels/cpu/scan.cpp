// Largest |x| of rows and columns by the order of bit patterns: see scan_bits.hpp.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

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

template <class Bits, class ToDouble>
ScanResult scan_patterns(const ConstView& view, MaxBits<Bits> max_bits, ToDouble to_double) {
    const bool turned = !is_row_contiguous(view) &&
                        (is_column_contiguous(view) || std::abs(view.row_stride) < std::abs(view.col_stride));
    const ConstView v = turned ? transposed(view) : view;
    std::vector<Bits> rows(static_cast<std::size_t>(v.rows)), cols(static_cast<std::size_t>(v.cols));
    const auto* data = static_cast<const Bits*>(v.data);
    if (is_row_contiguous(v)) {
        max_bits(data, v.row_stride, v.rows, v.cols, rows.data(), cols.data());
    } else {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            for (std::size_t j = 0; j < cols.size(); ++j) {
                const Bits pattern =
                    data[static_cast<std::int64_t>(i) * v.row_stride + static_cast<std::int64_t>(j) * v.col_stride];
                const auto bits = static_cast<Bits>(pattern & std::numeric_limits<Bits>::max());
                rows[i] = std::max(rows[i], bits);
                cols[j] = std::max(cols[j], bits);
            }
        }
    }
    const auto values = [&](const std::vector<Bits>& patterns) {
        std::vector<double> result(patterns.size());
        std::transform(patterns.begin(), patterns.end(), result.begin(), to_double);
        return result;
    };
    const Bits most = rows.empty() ? Bits{0} : *std::ranges::max_element(rows);
    ScanResult result{to_double(most), values(rows), values(cols)};
    if (turned) {
        result.rows.swap(result.cols);
    }
    return result;
}

}  // namespace

ScanResult scan_view(const ConstView& view, InstructionSet set) {
    const KernelTable& kernels = kernel_table_of(set);
    switch (view.type) {
        case Type::f64:
            return scan_patterns(view, kernels.max_bits_64, [](std::int64_t x) { return std::bit_cast<double>(x); });
        case Type::f32:
        case Type::tf32:
            return scan_patterns(view, kernels.max_bits_32,
                                 [](std::int32_t x) { return static_cast<double>(std::bit_cast<float>(x)); });
        case Type::bf16:
            return scan_patterns(view, kernels.max_bits_16, [](std::int16_t x) {
                return static_cast<double>(to_float(bf16{static_cast<std::uint16_t>(x)}));
            });
        case Type::f16:
            return scan_patterns(view, kernels.max_bits_16, [](std::int16_t x) {
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
    }
    return all;
}

}  // namespace heptad::cpu
