// The two forms of every entry, Fortran's and CBLAS's, with 32- or 64-bit integers: what is done with a call.
//
//   small, by one comparison     straight to the real function
//   large                        arguments are looked at, then our product; wrong ones, and all that we do not take,
//                                go to the real function as they came, so that its xerbla_ answers
#pragma once

#include <cctype>
#include <cstddef>
#include <optional>
#include <vector>

#include "api/blas/fast_product.hpp"
#include "api/blas/real_function.hpp"
#include "api/blas/takeover.hpp"
#include "api/blas/triangle.hpp"
#include "base/timing.hpp"

namespace heptad::blas {

template <class T, class Int>
using FortranGemm = void (*)(const char* ta, const char* tb, const Int* m, const Int* n, const Int* k, const T* alpha,
                             const T* a, const Int* lda, const T* b, const Int* ldb, const T* beta, T* c,
                             const Int* ldc, std::size_t ta_length, std::size_t tb_length);
template <class T, class Int>
using CblasGemm = void (*)(int order, int ta, int tb, Int m, Int n, Int k, T alpha, const T* a, Int lda, const T* b,
                           Int ldb, T beta, T* c, Int ldc);
template <class T, class Int>
using FortranSyrk = void (*)(const char* uplo, const char* trans, const Int* n, const Int* k, const T* alpha,
                             const T* a, const Int* lda, const T* beta, T* c, const Int* ldc, std::size_t uplo_length,
                             std::size_t trans_length);
template <class T, class Int>
using CblasSyrk = void (*)(int order, int uplo, int trans, Int n, Int k, T alpha, const T* a, Int lda, T beta, T* c,
                           Int ldc);

template <class T, class Int>
using CblasGemmBatch = void (*)(int order, const int* ta, const int* tb, const Int* m, const Int* n, const Int* k,
                                const T* alpha, const T** a, const Int* lda, const T** b, const Int* ldb, const T* beta,
                                T** c, const Int* ldc, Int groups, const Int* group_size);

// CBLAS's words.
enum Order : int { row_major = 101, column_major = 102 };
enum Transpose : int { as_is = 111, transposed_word = 112, conjugate_word = 113 };
enum Triangle : int { upper_word = 121, lower_word = 122 };

/// A letter of Fortran's as CBLAS's word; 0: none.
inline int transpose_word(char letter) {
    switch (std::toupper(static_cast<unsigned char>(letter))) {
        case 'N':
            return as_is;
        case 'T':
            return transposed_word;
        case 'C':
            return conjugate_word;
        default:
            return 0;
    }
}
inline int triangle_word(char letter) {
    const int upper = std::toupper(static_cast<unsigned char>(letter));
    return upper == 'U' ? upper_word : upper == 'L' ? lower_word : 0;
}

/// Arguments of a product in 64 bits, in either order.
template <class T>
struct GemmArguments {
    int order, ta, tb;
    std::int64_t m, n, k;
    T alpha;
    const T* a;
    std::int64_t lda;
    const T* b;
    std::int64_t ldb;
    T beta;
    T* c;
    std::int64_t ldc;
};

/// The number of the first wrong argument as Fortran counts them (one more in CBLAS); 0: all are fine; -1: the order.
template <class T>
int wrong_argument(const GemmArguments<T>& x) {
    const bool by_rows = x.order == row_major;
    const auto is_word = [](int word) { return word >= as_is && word <= conjugate_word; };
    const auto length = [&](int word, std::int64_t rows, std::int64_t cols) {
        return std::max<std::int64_t>(1, (word == as_is) == by_rows ? cols : rows);
    };
    return !by_rows && x.order != column_major ? -1
           : !is_word(x.ta)                    ? 1
           : !is_word(x.tb)                    ? 2
           : x.m < 0                           ? 3
           : x.n < 0                           ? 4
           : x.k < 0                           ? 5
           : x.lda < length(x.ta, x.m, x.k)    ? 8
           : x.ldb < length(x.tb, x.k, x.n)    ? 10
           : x.ldc < length(as_is, x.m, x.n)   ? 13
                                               : 0;
}

/// Precondition: the arguments are right.
template <class T>
GemmCall call_of(const GemmArguments<T>& x) {
    constexpr Type type = TypeOf<T>::value;
    const auto view = [&](auto* data, int word, std::int64_t rows, std::int64_t cols, std::int64_t leading) {
        using Data = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(data)>>, ConstView, View>;
        const bool rows_adjoin = (x.order == row_major) == (word == as_is);
        return Data{data, type, rows, cols, rows_adjoin ? leading : 1, rows_adjoin ? 1 : leading};
    };
    return {static_cast<double>(x.alpha), view(x.a, x.ta, x.m, x.k, x.lda), view(x.b, x.tb, x.k, x.n, x.ldb),
            static_cast<double>(x.beta), view(x.c, as_is, x.m, x.n, x.ldc)};
}

/// A large call: true if it was carried out here.
template <class T>
bool take_over(const GemmArguments<T>& x, RealFunction& real, ProbeSeconds probe) {
    return !PassOn::is_on() && wrong_argument(x) == 0 && x.alpha != 0 && multiply_fast(call_of(x), real, probe);
}

/// Of two runs the second: the first one starts the library's threads.
template <class T, class Multiply>
double probe_seconds(const Multiply& multiply) {
    const std::vector<T> operands(std::size_t{kProbeSide} * kProbeSide, T(1));
    std::vector<T> c(operands.size());
    multiply(operands.data(), c.data());
    const auto start = Clock::now();
    multiply(operands.data(), c.data());
    return seconds_since(start);
}

template <class T, class Int>
double fortran_probe(RealFunction& real) {
    return probe_seconds<T>([&](const T* a, T* c) {
        const Int side = kProbeSide;
        const T one = 1, zero = 0;
        real.get<FortranGemm<T, Int>>()("N", "N", &side, &side, &side, &one, a, &side, a, &side, &zero, c, &side, 1, 1);
    });
}
template <class T, class Int>
double cblas_probe(RealFunction& real) {
    return probe_seconds<T>([&](const T* a, T* c) {
        const Int side = kProbeSide;
        real.get<CblasGemm<T, Int>>()(row_major, as_is, as_is, side, side, side, 1, a, side, a, side, 0, c, side);
    });
}

template <class T, class Int>
void fortran_gemm(RealFunction& real, const char* ta, const char* tb, const Int* m, const Int* n, const Int* k,
                  const T* alpha, const T* a, const Int* lda, const T* b, const Int* ldb, const T* beta, T* c,
                  const Int* ldc, std::size_t ta_length, std::size_t tb_length) {
    const auto library = real.get<FortranGemm<T, Int>>();
    if (is_small<T>(*m, *n, *k)) [[likely]] {
        return library(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, ta_length, tb_length);
    }
    const GemmArguments<T> x{
        column_major, transpose_word(*ta), transpose_word(*tb), *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc};
    if (!take_over(x, real, &fortran_probe<T, Int>)) {
        const PassOn own_calls_of_library;
        library(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, ta_length, tb_length);
    }
}

template <class T, class Int>
void cblas_gemm(RealFunction& real, int order, int ta, int tb, Int m, Int n, Int k, T alpha, const T* a, Int lda,
                const T* b, Int ldb, T beta, T* c, Int ldc) {
    const auto library = real.get<CblasGemm<T, Int>>();
    if (is_small<T>(m, n, k)) [[likely]] {
        return library(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    }
    const GemmArguments<T> x{order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc};
    if (!take_over(x, real, &cblas_probe<T, Int>)) {
        const PassOn own_calls_of_library;
        library(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    }
}

/// Groups of products of one shape each. The library has them side by side; where one is large, they come one by one.
template <class T, class Int>
void cblas_gemm_batch(RealFunction& real, RealFunction& gemm, int order, const int* ta, const int* tb, const Int* m,
                      const Int* n, const Int* k, const T* alpha, const T** a, const Int* lda, const T** b,
                      const Int* ldb, const T* beta, T** c, const Int* ldc, Int groups, const Int* group_size) {
    const auto library = real.get<CblasGemmBatch<T, Int>>();
    bool all_are_small = true;
    for (Int group = 0; group < groups; ++group) {
        all_are_small = all_are_small && is_small<T>(m[group], n[group], k[group]);
    }
    if (library != nullptr && all_are_small) {
        return library(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, group_size);
    }
    Int next = 0;
    for (Int group = 0; group < groups; ++group) {
        for (Int member = 0; member < group_size[group]; ++member, ++next) {
            cblas_gemm<T, Int>(gemm, order, ta[group], tb[group], m[group], n[group], k[group], alpha[group], a[next],
                               lda[group], b[next], ldb[group], beta[group], c[next], ldc[group]);
        }
    }
}

/// In column-major words; a matrix by rows is its transpose by columns.
template <class T>
std::optional<SyrkCall<T>> checked_syrk(int order, int uplo, int trans, std::int64_t n, std::int64_t k, T alpha,
                                        const T* a, std::int64_t lda, T beta, T* c, std::int64_t ldc) {
    const bool by_rows = order == row_major;
    const bool words_are_right = (by_rows || order == column_major) && (uplo == upper_word || uplo == lower_word) &&
                                 trans >= as_is && trans <= conjugate_word;
    const bool transposed = (trans != as_is) != by_rows;
    if (!words_are_right || lda < (transposed ? k : n) || ldc < n || alpha == 0 || PassOn::is_on()) {
        return std::nullopt;
    }
    return SyrkCall<T>{(uplo == upper_word) != by_rows, transposed, n, k, alpha, a, lda, beta, c, ldc};
}

template <class T, class Int>
void fortran_syrk(RealFunction& real, RealFunction& gemm, const char* uplo, const char* trans, const Int* n,
                  const Int* k, const T* alpha, const T* a, const Int* lda, const T* beta, T* c, const Int* ldc,
                  std::size_t uplo_length, std::size_t trans_length) {
    const auto library = real.get<FortranSyrk<T, Int>>();
    if (is_small_in_triangle<T>(*n / 2, *k)) [[likely]] {
        return library(uplo, trans, n, k, alpha, a, lda, beta, c, ldc, uplo_length, trans_length);
    }
    const auto call = checked_syrk(column_major, triangle_word(*uplo), transpose_word(*trans), *n, *k, *alpha, a, *lda,
                                   *beta, c, *ldc);
    if (!call) {
        const PassOn own_calls_of_library;
        return library(uplo, trans, n, k, alpha, a, lda, beta, c, ldc, uplo_length, trans_length);
    }
    update_triangle(
        *call,
        [&](const SyrkCall<T>& part) {
            const Int side = static_cast<Int>(part.n);
            const PassOn own_calls_of_library;
            library(uplo, trans, &side, k, alpha, part.a, lda, beta, part.c, ldc, uplo_length, trans_length);
        },
        [&](std::int64_t rows, std::int64_t cols, const T* left, const T* right, T* result) {
            const Int m = static_cast<Int>(rows), width = static_cast<Int>(cols);
            fortran_gemm<T, Int>(gemm, call->transposed ? "T" : "N", call->transposed ? "N" : "T", &m, &width, k, alpha,
                                 left, lda, right, lda, beta, result, ldc, 1, 1);
        });
}

template <class T, class Int>
void cblas_syrk(RealFunction& real, RealFunction& gemm, int order, int uplo, int trans, Int n, Int k, T alpha,
                const T* a, Int lda, T beta, T* c, Int ldc) {
    const auto library = real.get<CblasSyrk<T, Int>>();
    if (is_small_in_triangle<T>(n / 2, k)) [[likely]] {
        return library(order, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
    }
    const auto call = checked_syrk<T>(order, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
    if (!call) {
        const PassOn own_calls_of_library;
        return library(order, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
    }
    update_triangle(
        *call,
        [&](const SyrkCall<T>& part) {
            const PassOn own_calls_of_library;
            library(order, uplo, trans, static_cast<Int>(part.n), k, alpha, part.a, lda, beta, part.c, ldc);
        },
        [&](std::int64_t rows, std::int64_t cols, const T* left, const T* right, T* result) {
            cblas_gemm<T, Int>(gemm, column_major, call->transposed ? transposed_word : as_is,
                               call->transposed ? as_is : transposed_word, static_cast<Int>(rows),
                               static_cast<Int>(cols), k, alpha, left, lda, right, lda, beta, result, ldc);
        });
}

}  // namespace heptad::blas
