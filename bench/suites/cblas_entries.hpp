// The C entries of a BLAS as benchmarks call them, of all four types.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>

#include <complex>
#include <type_traits>

#include <heptad/heptad.hpp>

namespace heptad::cli {

/// CBLAS takes real factors by value and complex ones by address.
template <class T>
using CblasFactor = std::conditional_t<std::is_floating_point_v<T>, T, const T*>;
template <class T>
using CblasGemmEntry = void (*)(int, int, int, int, int, int, CblasFactor<T>, const T*, int, const T*, int,
                                CblasFactor<T>, T*, int);
template <class T>
using CblasSyrkEntry = void (*)(int, int, int, int, int, CblasFactor<T>, const T*, int, CblasFactor<T>, T*, int);

template <class T>
CblasFactor<T> cblas_factor(const T& value) {
    if constexpr (std::is_floating_point_v<T>) {
        return value;
    } else {
        return &value;
    }
}

/// cblas_sgemm for f32 and "gemm"; nullptr where the library has none.
template <class Entry>
Entry cblas_entry(void* library, Type type, const char* name) {
    const char letter = type == Type::f32 ? 's' : type == Type::f64 ? 'd' : type == Type::c64 ? 'c' : 'z';
    return reinterpret_cast<Entry>(::dlsym(library, fmt::format("cblas_{}{}", letter, name).c_str()));
}

/// Of a library that is loaded already.
inline void* loaded_library(const std::string& path) {
    return ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
}

}  // namespace heptad::cli
