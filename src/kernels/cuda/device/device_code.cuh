// What the kernels share: arithmetic types, wide loads and stores, the guard.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "base/evenness_facts.hpp"
#include "kernels/cuda/device/cuda_kernels.hpp"

namespace heptad::cuda {

/// The type in which sums of T are formed.
template <class T>
struct Arithmetic {
    using type = T;
};
template <>
struct Arithmetic<__nv_bfloat16> {
    using type = float;
};
template <>
struct Arithmetic<__half> {
    using type = float;
};
template <>
struct Arithmetic<std::int32_t> {
    using type = std::uint32_t;  // wraps
};
/// An f32 that is only written, for tensor cores that read 19 bits of it: rounded to those, the others zero. Bits that
/// do not toggle cost no power on their way, and power is what limits products of tf32.
struct Tf32 {
    float value;
};
template <>
struct Arithmetic<Tf32> {
    using type = float;
};
template <class T>
using ArithmeticOf = typename Arithmetic<T>::type;

template <class T>
__device__ __forceinline__ ArithmeticOf<T> widen(T x) {
    return static_cast<ArithmeticOf<T>>(x);
}
template <>
__device__ __forceinline__ float widen<__nv_bfloat16>(__nv_bfloat16 x) {
    return __bfloat162float(x);
}
template <>
__device__ __forceinline__ float widen<__half>(__half x) {
    return __half2float(x);
}

template <>
__device__ __forceinline__ float widen<Tf32>(Tf32 x) {
    return x.value;
}

template <class T>
__device__ __forceinline__ T narrow(ArithmeticOf<T> x) {
    return static_cast<T>(x);
}
template <>
__device__ __forceinline__ __nv_bfloat16 narrow<__nv_bfloat16>(float x) {
    return __float2bfloat16_rn(x);
}
template <>
__device__ __forceinline__ __half narrow<__half>(float x) {
    return __float2half_rn(x);
}
template <>
__device__ __forceinline__ Tf32 narrow<Tf32>(float x) {
    std::uint32_t bits = 0;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return {__uint_as_float(bits & 0xffffe000U)};
}

/// A scalar from the host, in the arithmetic of T; integers wrap.
template <class T>
ArithmeticOf<T> scalar_of(double x) {
    if constexpr (sizeof(T) == sizeof(std::int32_t) && ArithmeticOf<T>(-1) > ArithmeticOf<T>(0)) {
        return static_cast<std::uint32_t>(static_cast<std::int64_t>(x));
    } else {
        return static_cast<ArithmeticOf<T>>(x);
    }
}

/// |x| as an integer whose order is the order of the values, with NaN above infinity: in the type's own width while
/// values are compared, as the bits of a double where they are kept. Integers have no maximum worth watching.
__device__ __forceinline__ std::uint32_t magnitude(float x) {
    return __float_as_uint(x) & 0x7fffffffU;
}
__device__ __forceinline__ unsigned long long magnitude(double x) {
    return static_cast<unsigned long long>(__double_as_longlong(x)) & 0x7fffffffffffffffULL;
}
__device__ __forceinline__ std::uint32_t magnitude(std::uint32_t) {
    return 0;
}
__device__ __forceinline__ unsigned long long kept_magnitude(std::uint32_t bits) {
    return static_cast<unsigned long long>(__double_as_longlong(static_cast<double>(__uint_as_float(bits))));
}
__device__ __forceinline__ unsigned long long kept_magnitude(unsigned long long bits) {
    return bits;
}
template <class T>
using MagnitudeOf = decltype(magnitude(ArithmeticOf<T>()));

/// The same where it is kept for a row or column (LineMaxima).
__device__ __forceinline__ std::uint32_t line_magnitude(float x) {
    return magnitude(x);
}
__device__ __forceinline__ std::uint32_t line_magnitude(double x) {
    return static_cast<std::uint32_t>(magnitude(x) >> 32);
}
__device__ __forceinline__ std::uint32_t line_magnitude(std::uint32_t) {
    return 0;
}
/// Most values are no news: looked at first, an atomic is rare. What a cache still has is smaller or right.
__device__ __forceinline__ void raise_line(std::uint32_t* line, std::uint32_t value) {
    if (value > __ldca(line)) {
        atomicMax(line, value);
    }
}

/// The largest of the threads' values goes to *target, one atomic per warp.
template <class Bits>
__device__ __forceinline__ void note_maximum(Bits own, unsigned long long* target) {
    unsigned long long bits = kept_magnitude(own);
    for (int offset = 16; offset > 0; offset /= 2) {
        const unsigned long long other = __shfl_xor_sync(0xffffffffU, bits, offset);
        bits = other > bits ? other : bits;
    }
    // Most values are no news: looked at first, an atomic is rare.
    if (threadIdx.x % 32 == 0 && bits > __ldcg(target)) {
        atomicMax(target, bits);
    }
}

/// x * 2^exponent in two steps of half the exponent, so that the power itself may be beyond the range of the type.
__device__ __forceinline__ float times_power(float x, std::int32_t exponent) {
    constexpr std::int32_t kMost = 252;
    const std::int32_t whole = min(max(exponent, -kMost), kMost), half = whole >> 1;
    return x * __int_as_float((half + 127) << 23) * __int_as_float((whole - half + 127) << 23);
}
__device__ __forceinline__ double times_power(double x, std::int32_t exponent) {
    constexpr std::int32_t kMost = 2044;
    const std::int32_t whole = min(max(exponent, -kMost), kMost), half = whole >> 1;
    return x * __hiloint2double((half + 1023) << 20, 0) * __hiloint2double((whole - half + 1023) << 20, 0);
}
__device__ __forceinline__ std::uint32_t times_power(std::uint32_t x, std::int32_t) {
    return x;
}
/// The exponent of an element.
__device__ __forceinline__ std::int32_t exponent_at(const DeviceLines& lines, std::int64_t row, std::int64_t col) {
    return (lines.rows == nullptr ? 0 : __ldg(lines.rows + row)) +
           (lines.cols == nullptr ? 0 : __ldg(lines.cols + col));
}

__device__ __forceinline__ double kept_value(unsigned long long bits) {
    return __longlong_as_double(static_cast<long long>(bits));
}

/// Are A and B finite, so small that no sum or product overflows, no larger with powers of two beside them than a
/// promise about their rows and columns allows, and far enough above the subnormal numbers for those powers?
__device__ __forceinline__ bool is_within_limits(const Guard& guard) {
    const GuardWords& words = *guard.words;
    const auto smallest = [&](int operand) {
        return fmin(words.least_plain[operand], kept_value(words.max_bits[operand]));
    };
    const double growth = words.inner_growth == 0 ? 1 : words.inner_growth;
    const double a = kept_value(words.max_bits[0]) * growth, b = kept_value(words.max_bits[1]) * growth;
    return a < guard.limit_a && b < guard.limit_b && a * b < guard.limit_product &&  // false for NaN
           kept_value(words.max_bits[kWordOfSums]) < guard.limit_sums &&
           kept_value(words.max_bits[kWordOfResult]) < guard.limit_result &&
           kept_value(words.line_growth[0]) * kept_value(words.line_growth[1]) <= kMostBelow &&
           (words.scaled == 0 || smallest(0) * smallest(1) >= guard.smallest_product);
}

/// Is the evenness of A and B at least so large? One value as large as the largest may lie in any row.
__device__ __forceinline__ bool is_even(const GuardWords& words, double least) {
    if (least == 0 || words.is_judged == 0) {
        return true;
    }
    double squares = least * least;
#pragma unroll
    for (int operand = 0; operand < 2; ++operand) {
        const double outlier = kept_value(words.max_bits[operand]) * words.outlier_weight[operand];
        squares *= words.mean_square[operand] + outlier * outlier;
    }
    return words.least_product * words.least_product >= squares;  // false for NaN
}

/// And are no row of A and column of B too short for sums with the largest values (norms_are_in_reach of
/// run/dense/evenness.hpp)?
__device__ __forceinline__ bool is_even_for_sums(const Guard& guard, double least) {
    const GuardWords& words = *guard.words;
    const bool may_be_small = (least == 0 && words.scaled == 0) || words.is_judged == 0 || guard.smallest_product == 0;
    return is_even(words, least) && (may_be_small || kept_value(words.max_bits[0]) * kept_value(words.max_bits[1]) <=
                                                         kMostBelow * words.least_line[0] * words.least_line[1]);
}

__device__ __forceinline__ bool is_safe(const Guard& guard) {
    return is_within_limits(guard) && is_even_for_sums(guard, guard.least_evenness);
}

__device__ __forceinline__ bool should_run(const Guard& guard) {
    return guard.words == nullptr || is_safe(guard) == guard.run_when_safe;
}

/// e with |x| < 2^e for the value whose bits these are, as far as powers of two around it are normal floats.
__device__ __forceinline__ int exponent_above(unsigned long long bits) {
    const int exponent = static_cast<int>((bits >> 52) & 0x7ffU) - 1022;
    return min(max(exponent, -126), 126);
}
__device__ __forceinline__ float power_of_two(int exponent) {
    return __int_as_float((exponent + 127) << 23);
}

/// What a Scale multiplies by, in two steps so that neither leaves the range of a float by itself.
struct ScaleFactors {
    float first = 1, second = 1;
    __device__ __forceinline__ explicit ScaleFactors(const Scale& scale) {
        if (scale.kind == Scale::Kind::none) {
            return;
        }
        const int a = exponent_above(scale.words->max_bits[0]), b = exponent_above(scale.words->max_bits[1]);
        if (scale.kind == Scale::Kind::sums_to_c) {
            const int half = (a + b) / 2;
            first = scale.factor * power_of_two(half);
            second = power_of_two(a + b - half);
        } else {
            first = power_of_two(scale.kind == Scale::Kind::a_to_sums ? -a : -b);
            second = scale.factor;
        }
    }
    __device__ __forceinline__ float operator()(float x) const { return x * first * second; }
};

/// Calls f with a value of the C++ type behind a Scalar.
template <class F>
DeviceStatus with_type(Scalar scalar, F&& f) {
    switch (scalar) {
        case Scalar::f64:
            return f(double{});
        case Scalar::f32:
            return f(float{});
        case Scalar::bf16:
            return f(__nv_bfloat16{});
        case Scalar::f16:
            return f(__half{});
        default:
            return f(std::int32_t{});
    }
}

}  // namespace heptad::cuda
