// max |x| over a view by the order of bit patterns: see scan_bits.hpp.
#include <bit>
#include <cmath>
#include <limits>

#include "backend/cpu/cpu_features.hpp"
#include "base/half.hpp"

namespace heptad::cpu {
namespace {

template <class Bits>
Bits max_pattern(const ConstView& view, Bits (*max_of_run)(const Bits*, std::int64_t)) {
    ConstView v = view;
    if (!is_row_contiguous(v) && (is_column_contiguous(v) || std::abs(v.row_stride) < std::abs(v.col_stride))) {
        v = transposed(v);
    }
    if (is_row_contiguous(v) && v.row_stride == v.cols) {
        v.cols = v.rows * v.cols;
        v.rows = 1;
    }
    const auto* data = static_cast<const Bits*>(v.data);
    Bits largest = 0;
    for (std::int64_t i = 0; i < v.rows; ++i) {
        const Bits* row = data + i * v.row_stride;
        if (is_row_contiguous(v)) {
            const Bits bits = max_of_run(row, v.cols);
            largest = bits > largest ? bits : largest;
            continue;
        }
        for (std::int64_t j = 0; j < v.cols; ++j) {
            const auto bits = static_cast<Bits>(row[j * v.col_stride] & std::numeric_limits<Bits>::max());
            largest = bits > largest ? bits : largest;
        }
    }
    return largest;
}

}  // namespace

double merge_max_abs(double x, double y) {
    return std::isnan(x) || !(x < y || std::isnan(y)) ? x : y;
}

double scan_max_abs(const ConstView& view, InstructionSet set) {
    const KernelTable& kernels = kernel_table_of(set);
    switch (view.type) {
        case Type::f64:
            return std::bit_cast<double>(max_pattern(view, kernels.max_bits_64));
        case Type::f32:
        case Type::tf32:
            return static_cast<double>(std::bit_cast<float>(max_pattern(view, kernels.max_bits_32)));
        case Type::bf16:
            return static_cast<double>(
                to_float(bf16{static_cast<std::uint16_t>(max_pattern(view, kernels.max_bits_16))}));
        case Type::f16:
            return static_cast<double>(
                to_float(f16{static_cast<std::uint16_t>(max_pattern(view, kernels.max_bits_16))}));
        default:
            return 0;
    }
}

}  // namespace heptad::cpu
