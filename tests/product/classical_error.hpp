// The yardstick of growth: the error of a classical product that adds up in the type itself, as libraries do. Our
// kernel that makes f32 of bf16 is three times as accurate.
#pragma once

#include <algorithm>
#include <limits>

#include "kernels/cpu/cpu_features.hpp"
#include "product/data_families.hpp"

namespace heptad::testing_data {

/// The best of this machine that makes products of f32 by vectors of f32.
inline cpu::InstructionSet set_of_vectors() {
    const auto& sets = cpu::available_instruction_sets();
    return *std::ranges::find_if(
        sets, [](cpu::InstructionSet set) { return &cpu::f32_kernels_of(set) == &cpu::kernel_table_of(set).gemm_f32; });
}

/// At least u.
template <class T>
double classical_error(const Matrix<T>& a, const Matrix<T>& b) {
    Matrix<T> x = a, y = b, c(a.rows, b.cols);
    std::fill(c.data.begin(), c.data.end(), std::numeric_limits<T>::quiet_NaN());
    cpu::gemm({1, ConstView(View(x.view())), ConstView(View(y.view())), 0, View(c.view())}, set_of_vectors());
    return std::max<double>(worst_error(a, b, c), std::numeric_limits<T>::epsilon() / 2);
}

}  // namespace heptad::testing_data
