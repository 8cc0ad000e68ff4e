// The register tile of a product: c = alpha * (panel of A * panel of B) + beta * c, and the same for tiny products
// straight from the operands. Only for microkernel_<set>.cpp.
//
// Every element of C is the sum over p in order, times alpha, plus beta * c, with the last two steps never fused: so an
// element does not depend on which tile, edge or path computes it.
#pragma once

#include "kernels/cpu/microkernel.hpp"
#include "kernels/cpu/microkernel_vector.hpp"

namespace heptad::cpu {
namespace {

template <class T>
HEPTAD_INLINE void update(T* c, Vector<T> sum, T alpha, T beta) {
    Vector<T> result = sum * alpha;
    if (beta != T{0}) {
        result = result + load(c) * beta;
    }
    store(c, result);
}

// C is needed only at the end of a tile, so its way from memory hides behind the sums. On x86-64 it is asked for so
// many steps before that: asked for at the beginning, its rows, which often lie a power of two apart, have left the L1
// cache again by then (4 % of the time of a product of side 2048 on a Sapphire Rapids).
#if defined(HEPTAD_NEON)
constexpr std::int64_t steps_to_fetch_c = INT64_MAX;
#else
constexpr std::int64_t steps_to_fetch_c = 96;
#endif

// Both panels of a deep block come from the L2 cache. Asking for them so many steps ahead, beside the processor's own
// prefetching, saves 1 to 2 % of the time of a product of side 1024 (Sapphire Rapids). 0: not asked for.
#if defined(HEPTAD_AVX512)
constexpr int steps_to_fetch_panels = 24;
#else
constexpr int steps_to_fetch_panels = 0;
#endif

/// The lines of `bytes` bytes.
HEPTAD_INLINE void fetch_lines(const void* from, int bytes) {
    HEPTAD_UNROLL
    for (int at = 0; at < bytes; at += 64) {
        __builtin_prefetch(static_cast<const char*>(from) + at);
    }
}

template <class T, int rows, int column_vectors>
void gemm_tile(std::int64_t k, const T* __restrict a, const T* __restrict b, T alpha, T beta, T* c,
               std::int64_t c_row_stride) {
    constexpr int width = lanes<T>;
    constexpr int group = scalar_group<T>;
    static_assert(rows % group == 0);
    Array<Array<Vector<T>, column_vectors>, rows> sum = {};
    const auto step = [&]() __attribute__((always_inline)) {
        Array<Vector<T>, column_vectors> y;
        HEPTAD_UNROLL
        for (int j = 0; j < column_vectors; ++j) {
            y[j] = load(b + j * width);
        }
        if constexpr (steps_to_fetch_panels > 0) {
            constexpr int bytes = static_cast<int>(sizeof(T));
            fetch_lines(a + steps_to_fetch_panels * rows, rows * bytes);
            fetch_lines(b + steps_to_fetch_panels * column_vectors * width, column_vectors * width * bytes);
        }
        HEPTAD_UNROLL
        for (int i = 0; i < rows; i += group) {
            const Vector<T> x = load_scalars(a + i);
            HEPTAD_UNROLL
            for (int j = 0; j < column_vectors; ++j) {
                HEPTAD_UNROLL
                for (int lane = 0; lane < group; ++lane) {
                    sum[i + lane][j] = multiply_add_lane<T>(x, lane, y[j], sum[i + lane][j]);
                }
            }
        }
        a += rows;
        b += column_vectors * width;
    };
    std::int64_t p = 0;
    if constexpr (steps_to_fetch_c < INT64_MAX) {
#pragma GCC unroll 4
        for (; p < k - steps_to_fetch_c; ++p) {
            step();
        }
    }
    for (int i = 0; i < rows; ++i) {
        __builtin_prefetch(c + i * c_row_stride, 1);
        __builtin_prefetch(c + i * c_row_stride + column_vectors * width - 1, 1);
    }
#pragma GCC unroll 4
    for (; p < k; ++p) {
        step();
    }
    HEPTAD_UNROLL
    for (int i = 0; i < rows; ++i) {
        HEPTAD_UNROLL
        for (int j = 0; j < column_vectors; ++j) {
            update(c + i * c_row_stride + j * width, sum[i][j], alpha, beta);
        }
    }
}

template <class T>
struct SmallProduct {
    std::int64_t m, k, n;
    T alpha;
    const T* a;
    std::int64_t a_row_stride, a_col_stride;
    const T* b;
    std::int64_t b_row_stride;
    T beta;
    T* c;
    std::int64_t c_row_stride;
};

/// Rows i..i+rows-1, columns j..j+lanes-1, of which the first `skip` were done before.
template <class T, int rows, int column_vectors>
HEPTAD_INLINE void small_tile(const SmallProduct<T>& s, std::int64_t i, std::int64_t j, std::int64_t skip) {
    constexpr int width = lanes<T>;
    Array<Array<Vector<T>, column_vectors>, rows> sum = {};
    const T* a = s.a + i * s.a_row_stride;
    const T* b = s.b + j;
    for (std::int64_t p = 0; p < s.k; ++p) {
        Array<Vector<T>, column_vectors> y;
        HEPTAD_UNROLL
        for (int v = 0; v < column_vectors; ++v) {
            y[v] = load(b + v * width);
        }
        HEPTAD_UNROLL
        for (int r = 0; r < rows; ++r) {
            const T x = a[r * s.a_row_stride];
            HEPTAD_UNROLL
            for (int v = 0; v < column_vectors; ++v) {
                sum[r][v] = multiply_add_scalar<T>(x, y[v], sum[r][v]);
            }
        }
        a += s.a_col_stride;
        b += s.b_row_stride;
    }
    for (int r = 0; r < rows; ++r) {
        T* c = s.c + (i + r) * s.c_row_stride + j;
        if (skip == 0 || s.beta == T{0}) {  // written twice, elements get the same value
            HEPTAD_UNROLL
            for (int v = 0; v < column_vectors; ++v) {
                update(c + v * width, sum[r][v], s.alpha, s.beta);
            }
        } else {
            for (std::int64_t l = skip; l < width; ++l) {
                const T product = s.alpha * sum[r][0][l];
                c[l] = product + s.beta * c[l];
            }
        }
    }
}

template <class T, int rows>
HEPTAD_INLINE void small_rows(const SmallProduct<T>& s, std::int64_t i) {
    constexpr std::int64_t width = lanes<T>;
    std::int64_t j = 0;
    std::int64_t vectors = s.n / width;
    constexpr int wide = vector_registers / (4 * rows);  // one or two rows have few sums otherwise
    if constexpr (wide > 3) {
        for (; vectors >= wide; vectors -= wide, j += wide * width) {
            small_tile<T, rows, wide>(s, i, j, 0);
        }
    }
    // Three at a time, but no single one at the end: its few sums would wait for one another.
    for (; vectors == 3 || vectors >= 5; vectors -= 3, j += 3 * width) {
        small_tile<T, rows, 3>(s, i, j, 0);
    }
    for (; vectors >= 2; vectors -= 2, j += 2 * width) {
        small_tile<T, rows, 2>(s, i, j, 0);
    }
    if (vectors == 1) {
        small_tile<T, rows, 1>(s, i, j, 0);
        j += width;
    }
    if (j < s.n) {  // the last vector overlaps the one before
        small_tile<T, rows, 1>(s, i, s.n - width, j - (s.n - width));
    }
}

template <class T>
void gemm_small(std::int64_t m, std::int64_t k, std::int64_t n, T alpha, const T* a, std::int64_t a_row_stride,
                std::int64_t a_col_stride, const T* b, std::int64_t b_row_stride, T beta, T* c,
                std::int64_t c_row_stride) {
    const SmallProduct<T> s{m, k, n, alpha, a, a_row_stride, a_col_stride, b, b_row_stride, beta, c, c_row_stride};
    constexpr int tall = vector_registers == 32 ? 8 : 4;  // with three vectors of columns: 24 sums, or 12
    std::int64_t i = 0;
    for (; i + tall <= m; i += tall) {
        small_rows<T, tall>(s, i);
    }
    if (tall != 4 && i + 4 <= m) {
        small_rows<T, 4>(s, i);
        i += 4;
    }
    if (i + 2 <= m) {
        small_rows<T, 2>(s, i);
        i += 2;
    }
    for (; i < m; ++i) {
        small_rows<T, 1>(s, i);
    }
}

}  // namespace
}  // namespace heptad::cpu
