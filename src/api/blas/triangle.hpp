// syrk and herk by recursion on gemm: C = alpha * op(A) op(A)^T + beta * C (herk: the conjugate transpose), of which
// one triangle is read and written.
//
//   | C11      |    C11 and C22 are triangles again, half as wide; C21 = alpha * A2 A1^T + beta * C21 is a product
//   | C21  C22 |    (upper: C12 = alpha * A1 A2^T + beta * C12)
//
// Half of the operations are in the first product, a quarter in the next two: where those are large, they are fast
// ones. Triangles that are too narrow for that are the library's.
#pragma once

#include <cstdint>

#include "api/blas/takeover.hpp"

namespace heptad::blas {

/// By columns: op(A) is A (n x k), or its transpose if A is k x n.
template <class T>
struct SyrkCall {
    bool upper, transposed;
    std::int64_t n, k;
    const T* a;
    std::int64_t lda;
    T* c;
    std::int64_t ldc;
};

/// library(part): a triangle. gemm(rows, cols, left, right, result): the rows of op(A) from `left` on times those from
/// `right` on, transposed.
template <class T, class Library, class Gemm>
void update_triangle(const SyrkCall<T>& call, const Library& library, const Gemm& gemm) {
    // Blocks that begin at multiples of this keep the alignment of the whole.
    constexpr std::int64_t kUnit = 64;
    const std::int64_t first = call.n / 2 / kUnit * kUnit, second = call.n - first;
    if (first == 0 || is_small_in_triangle<T>(first, call.k)) {
        return library(call);
    }
    SyrkCall<T> upper_left = call, lower_right = call;
    upper_left.n = first;
    lower_right.n = second;
    lower_right.a += call.transposed ? first * call.lda : first;
    lower_right.c += first * (call.ldc + 1);
    update_triangle(upper_left, library, gemm);
    if (call.upper) {
        gemm(first, second, upper_left.a, lower_right.a, call.c + first * call.ldc);
    } else {
        gemm(second, first, lower_right.a, upper_left.a, call.c + first);
    }
    update_triangle(lower_right, library, gemm);
}

}  // namespace heptad::blas
