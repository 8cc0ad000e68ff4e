// What combine passes need to know of a type: how its elements are summed, what a coefficient is, and how elements move
// between memory and buffers of the type that sums are computed in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "base/types.hpp"
#include "kernels/cpu/microkernel.hpp"
#include "kernels/scalars.hpp"

namespace heptad::cpu {

/// Moves `count` elements, `stride` apart, between memory and a buffer of the arithmetic type.
template <class T>
using Gather = void (*)(const KernelTable&, const void* from, std::int64_t stride, T* to, std::int64_t count);
template <class T>
using Scatter = void (*)(const KernelTable&, const T* from, void* to, std::int64_t stride, std::int64_t count);

template <class T>
void gather_same(const KernelTable&, const void* from, std::int64_t stride, T* to, std::int64_t count) {
    for (std::int64_t j = 0; j < count; ++j) {
        to[j] = static_cast<const T*>(from)[j * stride];
    }
}
template <class T>
void scatter_same(const KernelTable&, const T* from, void* to, std::int64_t stride, std::int64_t count) {
    for (std::int64_t j = 0; j < count; ++j) {
        static_cast<T*>(to)[j * stride] = from[j];
    }
}

/// Halves that do not lie side by side go through the stack, so many at a time.
inline constexpr std::int64_t kHalvesTogether = 256;

template <auto widen>
void gather_half(const KernelTable& kernels, const void* from, std::int64_t stride, float* to, std::int64_t count) {
    const auto* halves = static_cast<const std::uint16_t*>(from);
    if (stride == 1) {
        (kernels.*widen)(halves, to, count);
        return;
    }
    std::uint16_t side_by_side[kHalvesTogether];
    for (std::int64_t first = 0; first < count; first += kHalvesTogether) {
        const std::int64_t some = std::min(kHalvesTogether, count - first);
        gather_same(kernels, halves + first * stride, stride, side_by_side, some);
        (kernels.*widen)(side_by_side, to + first, some);
    }
}

template <auto narrow>
void scatter_half(const KernelTable& kernels, const float* from, void* to, std::int64_t stride, std::int64_t count) {
    auto* halves = static_cast<std::uint16_t*>(to);
    if (stride == 1) {
        (kernels.*narrow)(from, halves, count);
        return;
    }
    std::uint16_t side_by_side[kHalvesTogether];
    for (std::int64_t first = 0; first < count; first += kHalvesTogether) {
        const std::int64_t some = std::min(kHalvesTogether, count - first);
        (kernels.*narrow)(from + first, side_by_side, some);
        scatter_same<std::uint16_t>(kernels, side_by_side, halves + first * stride, stride, some);
    }
}

/// What a type needs: T is the type that sums are computed in.
template <class T>
struct Arithmetic {
    SumKernelChoice<T> choose_sum = nullptr;
    Gather<T> gather = nullptr;
    Scatter<T> scatter = nullptr;
    T (*coefficient_of)(double) = nullptr;
    bool stored_as_t = true;
    bool drop_zero_coefficients = true;  // not for floats, where 0 * NaN is NaN
};

template <class T>
T float_coefficient(double x) {
    return static_cast<T>(x);
}
inline std::uint8_t gf2_coefficient(double x) {
    return residue_mod_2(x) ? 1 : 0;
}
inline std::uint8_t boolean_coefficient(double x) {
    return x != 0 ? 1 : 0;
}

/// use(Arithmetic<T>) for the T of a type.
template <class Use>
std::invoke_result_t<Use, Arithmetic<float>> with_arithmetic(Type type, const KernelTable& k, Use use) {
    switch (type) {
        case Type::f64:
            return use(Arithmetic<double>{k.sum_f64, gather_same, scatter_same, float_coefficient, true, false});
        case Type::f32:
        case Type::tf32:
            return use(Arithmetic<float>{k.sum_f32, gather_same, scatter_same, float_coefficient, true, false});
        case Type::bf16:
            return use(Arithmetic<float>{k.sum_f32, gather_half<&KernelTable::widen_bf16>,
                                         scatter_half<&KernelTable::narrow_bf16>, float_coefficient, false, false});
        case Type::f16:
            return use(Arithmetic<float>{k.sum_f32, gather_half<&KernelTable::widen_f16>,
                                         scatter_half<&KernelTable::narrow_f16>, float_coefficient, false, false});
        case Type::i32:
            return use(Arithmetic<std::uint32_t>{k.sum_i32, gather_same, scatter_same, residue_mod_2_32, true, true});
        case Type::i64:
            return use(Arithmetic<std::uint64_t>{k.sum_i64, gather_same, scatter_same, residue_mod_2_64, true, true});
        case Type::gf2:
            return use(Arithmetic<std::uint8_t>{k.sum_xor, gather_same, scatter_same, gf2_coefficient, true, true});
        case Type::boolean:
            return use(Arithmetic<std::uint8_t>{k.sum_or, gather_same, scatter_same, boolean_coefficient, true, true});
        case Type::c64:
        case Type::c128:
            break;  // made of products of real numbers
    }
    return {};  // no other type
}

}  // namespace heptad::cpu
