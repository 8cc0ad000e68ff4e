// The yardstick of growth: the error of classical products that add up in the type itself, by vectors. Our kernel that
// makes f32 of bf16 is three times as accurate.
#pragma once

#include <algorithm>
#include <limits>

#include "base/thread_pool.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/cpu_features.hpp"
#include "kernels/cpu/vendor_blas.hpp"
#include "product/data_families.hpp"

namespace heptad::testing_data {

/// The best of this machine that makes products of f32 by vectors of f32.
inline cpu::InstructionSet set_of_vectors() {
    const auto& sets = cpu::available_instruction_sets();
    return *std::ranges::find_if(
        sets, [](cpu::InstructionSet set) { return &cpu::f32_kernels_of(set) == &cpu::kernel_table_of(set).gemm_f32; });
}

/// Of our vectors and of every library that a plan may leave a product to, the largest: numbers of few digits are added
/// up without a rounding by some, and not by others. At least u.
template <class T>
double classical_error(const Matrix<T>& a, const Matrix<T>& b) {
    Matrix<T> x = a, y = b, c(a.rows, b.cols);
    const Product product{1, ConstView(View(x.view())), ConstView(View(y.view())), 0, View(c.view())};
    double largest = std::numeric_limits<T>::epsilon() / 2;
    const auto note = [&](const auto& multiply) {
        std::fill(c.data.begin(), c.data.end(), std::numeric_limits<T>::quiet_NaN());
        multiply();
        largest = std::max<double>(largest, worst_error(a, b, c));
    };
    note([&] { cpu::gemm(product, set_of_vectors()); });
    for (const cpu::Vendor vendor : {cpu::Vendor::openblas, cpu::Vendor::blis, cpu::Vendor::mkl}) {
        const cpu::VendorLibrary* const library = cpu::vendor_library(vendor);
        if (library != nullptr && !library->is_slow) {
            note([&] { cpu::CpuBackend(shared_pool(1)).multiply({&product, 1}, cpu::vendor_name(vendor)); });
        }
    }
    return largest;
}

}  // namespace heptad::testing_data
