// target = sum of coefficient * source over runs that lie in L1, and the conversions of 16-bit floats.
// Only for microkernel_<set>.cpp.
#pragma once

#include "kernels/cpu/microkernel.hpp"
#include "kernels/cpu/microkernel_vector.hpp"

namespace heptad::cpu {
namespace {

/// How terms are added: in a ring with coefficients, in a ring with coefficients 1 and -1 (bit t of `minus_terms` set:
/// term t > 0 is subtracted), by XOR, by OR.
struct RingSum {
    template <class T, class X>
    static HEPTAD_INLINE X first(X x, T coefficient) {
        return x * coefficient;
    }
    template <class T, class X>
    static HEPTAD_INLINE X add(X sum, X x, T coefficient, int) {
        return sum + x * coefficient;
    }
};
template <unsigned minus_terms>
struct SignedSum {
    template <class T, class X>
    static HEPTAD_INLINE X first(X x, T) {
        return x;
    }
    template <class T, class X>
    static HEPTAD_INLINE X add(X sum, X x, T, int term) {
        return (minus_terms >> term & 1U) != 0 ? sum - x : sum + x;
    }
};
struct XorSum {
    template <class T, class X>
    static HEPTAD_INLINE X first(X x, T) {
        return x;
    }
    template <class T, class X>
    static HEPTAD_INLINE X add(X sum, X x, T, int) {
        return static_cast<X>(sum ^ x);
    }
};
struct OrSum : XorSum {
    template <class T, class X>
    static HEPTAD_INLINE X add(X sum, X x, T, int) {
        return static_cast<X>(sum | x);
    }
};

/// Stores one vector or one element.
template <SumStore how, class X, class T>
HEPTAD_INLINE void store_sum(T* to, X sum) {
    if constexpr (how == SumStore::streamed && sizeof(X) == HEPTAD_VECTOR_BYTES) {
        store_past_caches(to, sum);
    } else {
        store(to, sum);
    }
}

/// One vector (or one element) at offset i. The number of terms is a constant wherever this is called.
template <class Sum, SumStore how, class X, class T>
HEPTAD_INLINE void sum_at(int count, const SumTerm<T>* terms, T* target, std::int64_t i) {
    X sum = Sum::template first<T, X>(load_as<X>(terms[0].data + i), terms[0].coefficient);
    HEPTAD_UNROLL
    for (int t = 1; t < count; ++t) {
        sum = Sum::template add<T, X>(sum, load_as<X>(terms[t].data + i), terms[t].coefficient, t);
    }
    store_sum<how>(target + i, sum);
}

template <class Sum, SumStore how, int count, class T>
HEPTAD_INLINE void sum_row(const SumTerm<T>* terms, T* target, std::int64_t cols) {
    constexpr std::int64_t width = lanes<T>;
    std::int64_t i = 0;
    for (; i + 4 * width <= cols; i += 4 * width) {
        HEPTAD_UNROLL
        for (int v = 0; v < 4; ++v) {
            sum_at<Sum, how, Vector<T>>(count, terms, target, i + v * width);
        }
    }
    for (; i + width <= cols; i += width) {
        sum_at<Sum, how, Vector<T>>(count, terms, target, i);
    }
    for (; i < cols; ++i) {
        sum_at<Sum, how, T>(count, terms, target, i);
    }
}

template <class T>
HEPTAD_INLINE bool on_vector_boundary(const T* data) {
    return reinterpret_cast<std::uintptr_t>(data) % HEPTAD_VECTOR_BYTES == 0;
}

template <class Sum, SumStore how, int count, class T>
void sum_fixed(int, const SumTerm<T>* given, T* target, std::int64_t target_stride, std::int64_t rows,
               std::int64_t cols) {
    Array<SumTerm<T>, count> terms;  // a copy that the compiler can keep in registers
    HEPTAD_UNROLL
    for (int t = 0; t < count; ++t) {
        terms[t] = given[t];
    }
    for (std::int64_t r = 0; r < rows; ++r) {
        if (how == SumStore::streamed && on_vector_boundary(target)) {
            sum_row<Sum, SumStore::streamed, count>(terms, target, cols);
        } else {
            sum_row<Sum, SumStore::cached, count>(terms, target, cols);
        }
        target += target_stride;
        HEPTAD_UNROLL
        for (int t = 0; t < count; ++t) {
            terms[t].data += terms[t].row_stride;
        }
    }
}

template <class Sum, class T>
void sum_many(int count, const SumTerm<T>* terms, T* target, std::int64_t target_stride, std::int64_t rows,
              std::int64_t cols) {
    constexpr std::int64_t width = lanes<T>;
    for (std::int64_t r = 0; r < rows; ++r) {
        std::int64_t i = 0;
        for (; i + 4 * width <= cols; i += 4 * width) {
            Vector<T> sum[4];
            HEPTAD_UNROLL
            for (int v = 0; v < 4; ++v) {
                sum[v] = Sum::template first<T>(load(terms[0].data + r * terms[0].row_stride + i + v * width),
                                                terms[0].coefficient);
            }
            for (int t = 1; t < count; ++t) {
                const T* data = terms[t].data + r * terms[t].row_stride + i;
                HEPTAD_UNROLL
                for (int v = 0; v < 4; ++v) {
                    sum[v] = Sum::template add<T>(sum[v], load(data + v * width), terms[t].coefficient, t);
                }
            }
            HEPTAD_UNROLL
            for (int v = 0; v < 4; ++v) {
                store(target + i + v * width, sum[v]);
            }
        }
        for (; i < cols; ++i) {
            T sum = Sum::template first<T, T>(terms[0].data[r * terms[0].row_stride + i], terms[0].coefficient);
            for (int t = 1; t < count; ++t) {
                const T x = terms[t].data[r * terms[t].row_stride + i];
                sum = Sum::template add<T, T>(sum, x, terms[t].coefficient, t);
            }
            target[i] = sum;
        }
        target += target_stride;
    }
}

template <class T>
void sum_of_nothing(int, const SumTerm<T>*, T* target, std::int64_t target_stride, std::int64_t rows,
                    std::int64_t cols) {
    for (std::int64_t r = 0; r < rows; ++r) {
        __builtin_memset(target + r * target_stride, 0, static_cast<std::size_t>(cols) * sizeof(T));
    }
}

template <class Sum, SumStore how, class T>
SumKernel<T> choose_by_count(int count) {
    switch (count) {
        case 0:
            return sum_of_nothing<T>;
        case 1:
            return sum_fixed<Sum, how, 1, T>;
        case 2:
            return sum_fixed<Sum, how, 2, T>;
        case 3:
            return sum_fixed<Sum, how, 3, T>;
        case 4:
            return sum_fixed<Sum, how, 4, T>;
        default:
            return sum_many<Sum, T>;
    }
}

template <SumStore how, class T>
SumKernel<T> choose_signed(int count, unsigned minus_terms) {
    static constexpr SumKernel<T> two[] = {sum_fixed<SignedSum<0>, how, 2, T>, sum_fixed<SignedSum<2>, how, 2, T>};
    static constexpr SumKernel<T> three[] = {sum_fixed<SignedSum<0>, how, 3, T>, sum_fixed<SignedSum<2>, how, 3, T>,
                                             sum_fixed<SignedSum<4>, how, 3, T>, sum_fixed<SignedSum<6>, how, 3, T>};
    static constexpr SumKernel<T> four[] = {sum_fixed<SignedSum<0>, how, 4, T>,  sum_fixed<SignedSum<2>, how, 4, T>,
                                            sum_fixed<SignedSum<4>, how, 4, T>,  sum_fixed<SignedSum<6>, how, 4, T>,
                                            sum_fixed<SignedSum<8>, how, 4, T>,  sum_fixed<SignedSum<10>, how, 4, T>,
                                            sum_fixed<SignedSum<12>, how, 4, T>, sum_fixed<SignedSum<14>, how, 4, T>};
    switch (count) {
        case 1:
            return sum_fixed<SignedSum<0>, how, 1, T>;
        case 2:
            return two[minus_terms / 2];
        case 3:
            return three[minus_terms / 2];
        default:
            return four[minus_terms / 2];
    }
}

template <SumStore how, class T>
SumKernel<T> choose_ring_sum_of(int count, const SumTerm<T>* terms) {
    constexpr T one{1};
    constexpr T minus_one = static_cast<T>(T{0} - one);
    bool signs_only = count >= 1 && count <= 4 && terms[0].coefficient == one;
    unsigned minus_terms = 0;
    for (int t = 1; t < count && signs_only; ++t) {
        signs_only = terms[t].coefficient == one || terms[t].coefficient == minus_one;
        minus_terms |= terms[t].coefficient == minus_one ? 1U << t : 0U;
    }
    return signs_only ? choose_signed<how, T>(count, minus_terms) : choose_by_count<RingSum, how, T>(count);
}

template <class T>
SumKernel<T> choose_ring_sum(int count, const SumTerm<T>* terms, SumStore store) {
    if constexpr (has_streams) {
        if (store == SumStore::streamed) {
            return choose_ring_sum_of<SumStore::streamed, T>(count, terms);
        }
    }
    return choose_ring_sum_of<SumStore::cached, T>(count, terms);
}

template <class Sum>
SumKernel<std::uint8_t> choose_bit_sum(int count, const SumTerm<std::uint8_t>*, SumStore) {
    return choose_by_count<Sum, SumStore::cached, std::uint8_t>(count);
}

}  // namespace
}  // namespace heptad::cpu
