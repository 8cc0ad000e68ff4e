// target = sum of coefficient * source over runs that lie in L1, and the conversions of 16-bit floats.
// Only for microkernel_<set>.cpp.
#pragma once

#include "backend/cpu/microkernel_vector.hpp"

namespace heptad::cpu {
namespace {

struct RingSum {
    template <class T, class X>
    static HEPTAD_INLINE X term(X x, T coefficient) {
        return x * coefficient;
    }
    template <class X>
    static HEPTAD_INLINE X add(X x, X y) {
        return x + y;
    }
};
struct XorSum {
    template <class T, class X>
    static HEPTAD_INLINE X term(X x, T) {
        return x;
    }
    template <class X>
    static HEPTAD_INLINE X add(X x, X y) {
        return x ^ y;
    }
};
struct OrSum : XorSum {
    template <class X>
    static HEPTAD_INLINE X add(X x, X y) {
        return x | y;
    }
};

/// One vector (or one element) at offset i.
template <class Sum, class X, class T>
HEPTAD_INLINE void sum_at(int terms, T* target, const T* const* sources, const T* coefficients, std::int64_t i) {
    X sum = Sum::template term<T, X>(load_as<X>(sources[0] + i), coefficients[0]);
    HEPTAD_UNROLL
    for (int t = 1; t < terms; ++t) {
        sum = static_cast<X>(
            Sum::template add<X>(sum, Sum::template term<T, X>(load_as<X>(sources[t] + i), coefficients[t])));
    }
    store(target + i, sum);
}

template <class Sum, int terms, class T>
void sum_fixed(T* target, const T* const* source_list, const T* coefficient_list, std::int64_t count) {
    Array<const T*, terms> sources;
    Array<T, terms> coefficients;
    for (int t = 0; t < terms; ++t) {
        sources[t] = source_list[t];
        coefficients[t] = coefficient_list[t];
    }
    constexpr int width = lanes<T>;
    std::int64_t i = 0;
    for (; i + 4 * width <= count; i += 4 * width) {
        HEPTAD_UNROLL
        for (int v = 0; v < 4; ++v) {
            sum_at<Sum, Vector<T>>(terms, target, sources, coefficients, i + v * width);
        }
    }
    for (; i + width <= count; i += width) {
        sum_at<Sum, Vector<T>>(terms, target, sources, coefficients, i);
    }
    for (; i < count; ++i) {
        sum_at<Sum, T>(terms, target, sources, coefficients, i);
    }
}

template <class Sum, class T>
void sum_many(int terms, T* target, const T* const* sources, const T* coefficients, std::int64_t count) {
    constexpr int width = lanes<T>;
    std::int64_t i = 0;
    for (; i + 4 * width <= count; i += 4 * width) {
        Vector<T> sum[4];
        HEPTAD_UNROLL
        for (int v = 0; v < 4; ++v) {
            sum[v] = Sum::template term<T>(load(sources[0] + i + v * width), coefficients[0]);
        }
        for (int t = 1; t < terms; ++t) {
            HEPTAD_UNROLL
            for (int v = 0; v < 4; ++v) {
                sum[v] = Sum::add(sum[v], Sum::template term<T>(load(sources[t] + i + v * width), coefficients[t]));
            }
        }
        HEPTAD_UNROLL
        for (int v = 0; v < 4; ++v) {
            store(target + i + v * width, sum[v]);
        }
    }
    for (; i < count; ++i) {
        T sum = static_cast<T>(Sum::template term<T>(sources[0][i], coefficients[0]));
        for (int t = 1; t < terms; ++t) {
            sum = static_cast<T>(Sum::add(sum, Sum::template term<T>(sources[t][i], coefficients[t])));
        }
        target[i] = sum;
    }
}

template <class Sum, class T>
void sum_terms(int terms, T* target, const T* const* sources, const T* coefficients, std::int64_t count) {
    switch (terms) {
        case 0:
            __builtin_memset(target, 0, static_cast<std::size_t>(count) * sizeof(T));
            return;
        case 1:
            return sum_fixed<Sum, 1>(target, sources, coefficients, count);
        case 2:
            return sum_fixed<Sum, 2>(target, sources, coefficients, count);
        case 3:
            return sum_fixed<Sum, 3>(target, sources, coefficients, count);
        case 4:
            return sum_fixed<Sum, 4>(target, sources, coefficients, count);
        default:
            return sum_many<Sum>(terms, target, sources, coefficients, count);
    }
}

}  // namespace
}  // namespace heptad::cpu
