// The two forms of every entry, Fortran's and CBLAS's, with 32- or 64-bit integers: what is done with a call.
//
//   small, by one comparison     straight to the real function
//   large                        arguments are looked at, then our product; wrong ones, and all that we do not take,
//                                go to the real function as they came, so that its xerbla_ answers
#pragma once

#include <array>
#include <bit>
#include <cctype>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <vector>

#include "api/blas/fast_product.hpp"
#include "api/blas/real_function.hpp"
#include "api/blas/takeover.hpp"
#include "api/blas/triangle.hpp"
#include "base/timing.hpp"

namespace heptad::blas {

/// CBLAS takes real factors by value and complex ones by address.
template <class T>
using CblasFactor = std::conditional_t<is_complex(TypeOf<T>::value), const T*, T>;
template <class T>
T value_of(const T& factor) {
    return factor;
}
template <class T>
T value_of(const T* factor) {
    return *factor;
}
template <class T>
CblasFactor<T> as_factor(const T& value) {
    if constexpr (is_complex(TypeOf<T>::value)) {
        return &value;
    } else {
        return value;
    }
}

/// An integer of CBLAS's as it came, passed on whole: there are libraries of 64-bit integers with plain names (Debian's
/// libopenblas64). What came from a caller with 32-bit ones has anything in its upper half.
using Word = std::int64_t;

/// An integer of our own for Fortran, of which such libraries may read 64 bits.
template <class Int>
class OwnInteger {
public:
    explicit OwnInteger(std::int64_t value) : value_{static_cast<Int>(value)} {}
    operator const Int*() const { return value_.data(); }  // NOLINT(google-explicit-constructor)

private:
    static_assert(std::endian::native == std::endian::little);
    alignas(std::int64_t) std::array<Int, sizeof(std::int64_t) / sizeof(Int)> value_;  // not negative: zeros follow
};

template <class T, class Int>
using FortranGemm = void (*)(const char* ta, const char* tb, const Int* m, const Int* n, const Int* k, const T* alpha,
                             const T* a, const Int* lda, const T* b, const Int* ldb, const T* beta, T* c,
                             const Int* ldc, std::size_t ta_length, std::size_t tb_length);
template <class T>
using CblasGemm = void (*)(int order, int ta, int tb, Word m, Word n, Word k, CblasFactor<T> alpha, const T* a,
                           Word lda, const T* b, Word ldb, CblasFactor<T> beta, T* c, Word ldc);
/// syrk, or herk where T is complex and its factors are not.
template <class T, class Factor, class Int>
using FortranSyrk = void (*)(const char* uplo, const char* trans, const Int* n, const Int* k, const Factor* alpha,
                             const T* a, const Int* lda, const Factor* beta, T* c, const Int* ldc,
                             std::size_t uplo_length, std::size_t trans_length);
template <class T, class Factor>
using CblasSyrk = void (*)(int order, int uplo, int trans, Word n, Word k, CblasFactor<Factor> alpha, const T* a,
                           Word lda, CblasFactor<Factor> beta, T* c, Word ldc);
template <class T, class Int>
using CblasGemmBatch = void (*)(int order, const int* ta, const int* tb, const Int* m, const Int* n, const Int* k,
                                const T* alpha, const T** a, const Int* lda, const T** b, const Int* ldb, const T* beta,
                                T** c, const Int* ldc, Word groups, const Int* group_size);

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
    GemmCall call{x.alpha, view(x.a, x.ta, x.m, x.k, x.lda), view(x.b, x.tb, x.k, x.n, x.ldb), x.beta,
                  view(x.c, as_is, x.m, x.n, x.ldc)};
    call.a.conjugate = is_complex(type) && x.ta == conjugate_word;
    call.b.conjugate = is_complex(type) && x.tb == conjugate_word;
    return call;
}

/// A large call: true if it was carried out here.
template <class T>
bool take_over(const GemmArguments<T>& x, RealFunction& real, ProbeSeconds probe) {
    return !PassOn::is_on() && wrong_argument(x) == 0 && x.alpha != T(0) && multiply_fast(call_of(x), real, probe);
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
        const OwnInteger<Int> side(kProbeSide);
        const T one = 1, zero = 0;
        real.get<FortranGemm<T, Int>>()("N", "N", side, side, side, &one, a, side, a, side, &zero, c, side, 1, 1);
    });
}
template <class T>
double cblas_probe(RealFunction& real) {
    return probe_seconds<T>([&](const T* a, T* c) {
        const Word side = kProbeSide;
        const T one = 1, zero = 0;
        real.get<CblasGemm<T>>()(row_major, as_is, as_is, side, side, side, as_factor(one), a, side, a, side,
                                 as_factor(zero), c, side);
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
void cblas_gemm(RealFunction& real, int order, int ta, int tb, Word m, Word n, Word k, CblasFactor<T> alpha, const T* a,
                Word lda, const T* b, Word ldb, CblasFactor<T> beta, T* c, Word ldc) {
    const auto library = real.get<CblasGemm<T>>();
    const auto meant = [](Word word) { return static_cast<Int>(word); };
    if (is_small<T>(meant(m), meant(n), meant(k))) [[likely]] {
        return library(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    }
    const GemmArguments<T> x{order, ta,         tb, meant(m),   meant(n),       meant(k), value_of(alpha),
                             a,     meant(lda), b,  meant(ldb), value_of(beta), c,        meant(ldc)};
    if (!take_over(x, real, &cblas_probe<T>)) {
        const PassOn own_calls_of_library;
        library(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    }
}

/// Groups of products of one shape each. The library has them side by side; where one is large, they come one by one.
/// What is not as wide as its name says cannot be read here.
template <class T, class Int>
void cblas_gemm_batch(RealFunction& real, RealFunction& gemm, int order, const int* ta, const int* tb, const Int* m,
                      const Int* n, const Int* k, const T* alpha, const T** a, const Int* lda, const T** b,
                      const Int* ldb, const T* beta, T** c, const Int* ldc, Word groups, const Int* group_size) {
    const auto library = real.get<CblasGemmBatch<T, Int>>();
    bool all_are_small = true;
    const auto meant = static_cast<Int>(groups);
    const bool is_read = sizeof(Int) == sizeof(Word) || !real.counts_in_64_bits();
    for (Int group = 0; group < meant && is_read; ++group) {
        all_are_small = all_are_small && is_small<T>(m[group], n[group], k[group]);
    }
    if (library != nullptr && all_are_small) {
        return library(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, group_size);
    }
    Int next = 0;
    for (Int group = 0; group < meant; ++group) {
        for (Int member = 0; member < group_size[group]; ++member, ++next) {
            cblas_gemm<T, Int>(gemm, order, ta[group], tb[group], m[group], n[group], k[group], as_factor(alpha[group]),
                               a[next], lda[group], b[next], ldb[group], as_factor(beta[group]), c[next], ldc[group]);
        }
    }
}

/// The word for the transpose in a triangle: that of herk is the conjugate.
template <class T, class Factor>
inline constexpr int kTurned = std::is_same_v<T, Factor> ? transposed_word : conjugate_word;

/// A real matrix is its own conjugate. The complex entries know one of the two words.
template <class T, class Factor>
bool is_word_of_triangle(int trans) {
    return trans == as_is || trans == kTurned<T, Factor> || (!is_complex(TypeOf<T>::value) && trans == conjugate_word);
}

/// In column-major words; a matrix by rows is its transpose by columns.
template <class T, class Factor>
std::optional<SyrkCall<T>> checked_syrk(int order, int uplo, int trans, std::int64_t n, std::int64_t k, Factor alpha,
                                        const T* a, std::int64_t lda, T* c, std::int64_t ldc) {
    const bool by_rows = order == row_major;
    const bool words_are_right = (by_rows || order == column_major) && (uplo == upper_word || uplo == lower_word) &&
                                 is_word_of_triangle<T, Factor>(trans);
    const bool transposed = (trans != as_is) != by_rows;
    if (!words_are_right || lda < (transposed ? k : n) || ldc < n || alpha == Factor(0) || PassOn::is_on()) {
        return std::nullopt;
    }
    return SyrkCall<T>{(uplo == upper_word) != by_rows, transposed, n, k, a, lda, c, ldc};
}

template <class T, class Factor, class Int>
void fortran_syrk(RealFunction& real, RealFunction& gemm, const char* uplo, const char* trans, const Int* n,
                  const Int* k, const Factor* alpha, const T* a, const Int* lda, const Factor* beta, T* c,
                  const Int* ldc, std::size_t uplo_length, std::size_t trans_length) {
    const auto library = real.get<FortranSyrk<T, Factor, Int>>();
    if (is_small_in_triangle<T>(*n / 2, *k)) [[likely]] {
        return library(uplo, trans, n, k, alpha, a, lda, beta, c, ldc, uplo_length, trans_length);
    }
    const auto call =
        checked_syrk(column_major, triangle_word(*uplo), transpose_word(*trans), *n, *k, *alpha, a, *lda, c, *ldc);
    if (!call) {
        const PassOn own_calls_of_library;
        return library(uplo, trans, n, k, alpha, a, lda, beta, c, ldc, uplo_length, trans_length);
    }
    const T of_product(*alpha), of_result(*beta);
    const char* const turned = kTurned<T, Factor> == conjugate_word ? "C" : "T";
    update_triangle(
        *call,
        [&](const SyrkCall<T>& part) {
            const OwnInteger<Int> side(part.n);
            const PassOn own_calls_of_library;
            library(uplo, trans, side, k, alpha, part.a, lda, beta, part.c, ldc, uplo_length, trans_length);
        },
        [&](std::int64_t rows, std::int64_t cols, const T* left, const T* right, T* result) {
            const OwnInteger<Int> m(rows), width(cols);
            fortran_gemm<T, Int>(gemm, call->transposed ? turned : "N", call->transposed ? "N" : turned, m, width, k,
                                 &of_product, left, lda, right, lda, &of_result, result, ldc, 1, 1);
        });
}

template <class T, class Factor, class Int>
void cblas_syrk(RealFunction& real, RealFunction& gemm, int order, int uplo, int trans, Word n, Word k,
                CblasFactor<Factor> alpha, const T* a, Word lda, CblasFactor<Factor> beta, T* c, Word ldc) {
    const auto library = real.get<CblasSyrk<T, Factor>>();
    const auto meant = [](Word word) { return static_cast<Int>(word); };
    if (is_small_in_triangle<T>(meant(n) / 2, meant(k))) [[likely]] {
        return library(order, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
    }
    const auto call =
        checked_syrk<T, Factor>(order, uplo, trans, meant(n), meant(k), value_of(alpha), a, meant(lda), c, meant(ldc));
    if (!call) {
        const PassOn own_calls_of_library;
        return library(order, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
    }
    const T of_product(value_of(alpha)), of_result(value_of(beta));
    update_triangle(
        *call,
        [&](const SyrkCall<T>& part) {
            const PassOn own_calls_of_library;
            library(order, uplo, trans, part.n, k, alpha, part.a, lda, beta, part.c, ldc);
        },
        [&](std::int64_t rows, std::int64_t cols, const T* left, const T* right, T* result) {
            cblas_gemm<T, Int>(gemm, column_major, call->transposed ? kTurned<T, Factor> : as_is,
                               call->transposed ? as_is : kTurned<T, Factor>, rows, cols, k, as_factor(of_product),
                               left, lda, right, lda, as_factor(of_result), result, ldc);
        });
}

}  // namespace heptad::blas
