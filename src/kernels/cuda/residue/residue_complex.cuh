// Complex numbers as kernels read them.
#pragma once

#include "kernels/cuda/device/device_code.cuh"

namespace heptad::cuda {

template <class Part>
struct alignas(2 * sizeof(Part)) Complex {
    Part real, imaginary;
};

/// The type of a number's parts, and how many it has.
template <class T>
struct PartsOf {
    using type = T;
    static constexpr int count = 1;
};
template <class Part>
struct PartsOf<Complex<Part>> {
    using type = Part;
    static constexpr int count = 2;
};
template <class T>
using PartOf = typename PartsOf<T>::type;
template <class T>
constexpr bool kIsComplex = PartsOf<T>::count == 2;

/// Through the cache for what nobody writes.
template <class T>
__device__ __forceinline__ T load_constant(const T* at) {
    return __ldg(at);
}
__device__ __forceinline__ Complex<float> load_constant(const Complex<float>* at) {
    const float2 x = __ldg(reinterpret_cast<const float2*>(at));
    return {x.x, x.y};
}
__device__ __forceinline__ Complex<double> load_constant(const Complex<double>* at) {
    const double2 x = __ldg(reinterpret_cast<const double2*>(at));
    return {x.x, x.y};
}

/// For those who judge how even numbers are (combine/line_samples.cuh).
template <class Part>
__device__ __forceinline__ double absolute_value(const Complex<Part>& x) {
    return hypot(static_cast<double>(x.real), static_cast<double>(x.imaginary));
}

/// factor * x. A real factor meets each part alone: an infinite one does not make the other a NaN.
__device__ __forceinline__ Complex<double> times(const Complex<double>& factor, const Complex<double>& x) {
    if (factor.imaginary == 0) {
        return {factor.real * x.real, factor.real * x.imaginary};
    }
    return {factor.real * x.real - factor.imaginary * x.imaginary,
            factor.real * x.imaginary + factor.imaginary * x.real};
}

__device__ __forceinline__ Complex<double> times_power(const Complex<double>& x, std::int32_t exponent) {
    return {times_power(x.real, exponent), times_power(x.imaginary, exponent)};
}

/// Calls f with a complex number whose parts are of that scalar, f32 or f64.
template <class F>
DeviceStatus with_complex_type(Scalar part, F&& f) {
    return part == Scalar::f64 ? f(Complex<double>{}) : f(Complex<float>{});
}

}  // namespace heptad::cuda
