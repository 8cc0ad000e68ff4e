// c = alpha * a * b + beta * c by the blocking of Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication" (2008):
//
//   for each block of columns of B, for each block of depth:      pack B (block_depth x block_cols)
//     for each block of rows of A:                                pack A (block_rows x block_depth), fits L2
//       for each panel of B (fits L1), for each panel of A:       one register tile of C
//
// A C that is contiguous along its columns is computed as the transposed product.
#include <algorithm>

#include "base/error.hpp"
#include "base/size.hpp"
#include "kernels/cpu/cpu_features.hpp"
#include "kernels/cpu/thread_scratch.hpp"
#include "kernels/scalars.hpp"

namespace heptad::cpu {
namespace {

constexpr std::int64_t page_bytes = 4096;
/// Operands up to this size in every dimension may go through the stack.
constexpr std::int64_t copied_side = 32;

template <class T>
const GemmKernels<T>& gemm_kernels_of(InstructionSet set) {
    const KernelTable& table = kernel_table_of(set);
    if constexpr (std::is_same_v<T, float>) {
        return f32_kernels_of(set);
    } else if constexpr (std::is_same_v<T, double>) {
        return table.gemm_f64;
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
        return table.gemm_i64;
    } else {
        return table.gemm_i32;
    }
}

template <class T>
std::int64_t packed_a_bytes(const GemmKernels<T>& kernels) {
    return round_up(kernels.block_rows * kernels.block_depth * kernels.packed_bytes, page_bytes);
}
template <class T>
std::int64_t packed_b_bytes(const GemmKernels<T>& kernels) {
    return round_up(kernels.block_cols * kernels.block_depth * kernels.packed_bytes, page_bytes);
}
template <class T>
std::int64_t packed_bytes(const GemmKernels<T>& kernels) {
    const std::int64_t bytes = packed_a_bytes(kernels) + packed_b_bytes(kernels);
    return kernels.fallback == nullptr ? bytes : std::max(bytes, packed_bytes(*kernels.fallback));
}

/// Where the element of that number is packed, at the beginning of a panel or a chunk.
template <class T>
const T* packed_element(const GemmKernels<T>& kernels, const T* packed, std::int64_t element) {
    return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(packed) + element * kernels.packed_bytes);
}

/// A strided matrix of one type, with unsigned integers for i32 and i64.
template <class T>
struct Matrix {
    T* data;
    std::int64_t row_stride, col_stride;
    T* at(std::int64_t i, std::int64_t j) const { return data + i * row_stride + j * col_stride; }
};

template <class T>
struct TypedProduct {
    std::int64_t m, k, n;
    T alpha;
    Matrix<const T> a, b;
    T beta;
    Matrix<T> c;
};

template <class T>
TypedProduct<T> transposed_product(const TypedProduct<T>& p) {
    return {p.n,
            p.k,
            p.m,
            p.alpha,
            {p.b.data, p.b.col_stride, p.b.row_stride},
            {p.a.data, p.a.col_stride, p.a.row_stride},
            p.beta,
            {p.c.data, p.c.col_stride, p.c.row_stride}};
}

/// rows x cols of c from sums in a full tile: edges, and any strides of c.
template <class T>
void update_from_tile(const T* tile, int tile_cols, std::int64_t rows, std::int64_t cols, T alpha, T beta,
                      const Matrix<T>& c) {
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < cols; ++j) {
            const T product = alpha * tile[i * tile_cols + j];
            T& target = *c.at(i, j);
            target = beta != T{0} ? product + beta * target : product;
        }
    }
}

// The roundings of a sum grow with what it has come to, so long sums of floats go to C in parts. Parts of 256 instead
// of 512 take a third of the error away, which is as much as OpenBLAS makes then, and cost 1 % of the time (f32, side
// 1024 and 2048, Sapphire Rapids); parts of 128 take another third, and cost 5 %. Tiny products have no longer sums, so
// they agree. OpenBLAS adds up less at once in f64 on ARM, and what levels lose counts beside what it makes.
template <class T>
constexpr std::int64_t longest_sum = 256;
#if defined(__aarch64__)
template <>
constexpr std::int64_t longest_sum<double> = 128;
#endif

template <class T>
void multiply_tile_part(const GemmKernels<T>& kernels, std::int64_t used_rows, std::int64_t depth,
                        std::int64_t used_cols, T alpha, const T* a, const T* b, T beta, const Matrix<T>& c) {
    if (c.col_stride == 1 && used_rows == kernels.tile_rows && used_cols == kernels.tile_cols) {
        kernels.tile(depth, a, b, alpha, beta, c.data, c.row_stride);
        return;
    }
    constexpr std::int64_t largest_tile = 1024;
    alignas(64) T sums[largest_tile];
    kernels.tile(depth, a, b, T{1}, T{0}, sums, kernels.tile_cols);
    update_from_tile(sums, kernels.tile_cols, used_rows, used_cols, alpha, beta, c);
}

/// One tile of c, where used_rows x used_cols of it exist.
template <class T>
void multiply_tile(const GemmKernels<T>& kernels, std::int64_t used_rows, std::int64_t depth, std::int64_t used_cols,
                   T alpha, const T* a, const T* b, T beta, const Matrix<T>& c) {
    const std::int64_t parts = std::is_floating_point_v<T> ? ceil_div(depth, longest_sum<T>) : 1;
    std::int64_t begin = 0;
    for (std::int64_t part = 1; part <= parts; ++part) {
        const std::int64_t end = depth * part / parts;
        multiply_tile_part(kernels, used_rows, end - begin, used_cols, alpha,
                           packed_element(kernels, a, begin * kernels.tile_rows),
                           packed_element(kernels, b, begin * kernels.tile_cols), begin == 0 ? beta : T{1}, c);
        begin = end;
    }
}

/// The inner loops: packed block of A (rows x depth) times packed block of B (depth x cols). A few panels of B stay in
/// L1 while the panels of A come by, so that each of those is fetched from L2 once for all of them.
template <class T>
void multiply_blocks(const GemmKernels<T>& kernels, std::int64_t rows, std::int64_t depth, std::int64_t cols, T alpha,
                     const T* packed_a, const T* packed_b, T beta, const Matrix<T>& c) {
    const std::int64_t group_cols = kernels.panels_in_l1 * kernels.tile_cols;
    for (std::int64_t group = 0; group < cols; group += group_cols) {
        const std::int64_t group_end = std::min(group + group_cols, cols);
        for (std::int64_t i = 0; i < rows; i += kernels.tile_rows) {
            const std::int64_t used_rows = std::min<std::int64_t>(kernels.tile_rows, rows - i);
            for (std::int64_t j = group; j < group_end; j += kernels.tile_cols) {
                const std::int64_t used_cols = std::min<std::int64_t>(kernels.tile_cols, cols - j);
                multiply_tile(kernels, used_rows, depth, used_cols, alpha, packed_element(kernels, packed_a, i * depth),
                              packed_element(kernels, packed_b, j * depth), beta,
                              {c.at(i, j), c.row_stride, c.col_stride});
            }
        }
    }
}

template <class T>
void multiply_packed(const TypedProduct<T>& p, InstructionSet set) {
    const GemmKernels<T>& of_set = gemm_kernels_of<T>(set);
    const GemmKernels<T>& kernels = p.k < of_set.least_depth ? *of_set.fallback : of_set;
    struct PackedPanels;
    std::byte* scratch = thread_scratch<PackedPanels>(gemm_scratch_bytes(set));
    T* packed_a = reinterpret_cast<T*>(scratch);
    T* packed_b = reinterpret_cast<T*>(scratch + packed_a_bytes(kernels));
    // Blocks of equal size: no thin last one.
    const auto even_block = [](std::int64_t size, std::int64_t block, std::int64_t unit) {
        return std::min(block, round_up(ceil_div(size, ceil_div(size, block)), unit));
    };
    const std::int64_t block_cols = even_block(p.n, kernels.block_cols, kernels.tile_cols);
    const std::int64_t block_depth =
        even_block(p.k, kernels.block_depth, std::max<std::int64_t>(4, kernels.depth_unit));
    const std::int64_t block_rows = even_block(p.m, kernels.block_rows, kernels.tile_rows);
    const TileUse use(kernels);
    for (std::int64_t col = 0; col < p.n; col += block_cols) {
        const std::int64_t cols = std::min(block_cols, p.n - col);
        for (std::int64_t begin = 0; begin < p.k; begin += block_depth) {
            const std::int64_t depth = std::min(block_depth, p.k - begin);
            const T beta = begin == 0 ? p.beta : T{1};
            const auto pack_b = [&](const GemmKernels<T>& by) {
                return by.pack_b(cols, depth, p.b.at(begin, col), p.b.col_stride, p.b.row_stride, packed_b);
            };
            const Magnitudes of_b = pack_b(kernels);
            const GemmKernels<T>* packed_by = &kernels;
            for (std::int64_t row = 0; row < p.m; row += block_rows) {
                const std::int64_t rows = std::min(block_rows, p.m - row);
                const auto pack_a = [&](const GemmKernels<T>& by) {
                    return by.pack_a(rows, depth, p.a.at(row, begin), p.a.row_stride, p.a.col_stride, packed_a);
                };
                const Magnitudes of_a = pack_a(kernels);
                const bool taken = kernels.takes == nullptr || kernels.takes(of_a, of_b);
                const GemmKernels<T>& by = taken ? kernels : *kernels.fallback;
                if (!taken) {
                    pack_a(by);
                }
                if (packed_by != &by) {
                    pack_b(by);
                    packed_by = &by;
                }
                multiply_blocks(by, rows, round_up(depth, by.depth_unit), cols, p.alpha, packed_a, packed_b, beta,
                                {p.c.at(row, col), p.c.row_stride, p.c.col_stride});
            }
        }
    }
}

/// Is packing not worth its while? Operands must be small enough for the stack, or lie ready: rows of B and C are whole
/// vectors and more, of adjacent elements.
template <class T>
bool is_small(const TypedProduct<T>& p, InstructionSet set) {
    const GemmKernels<T>& kernels = gemm_kernels_of<T>(set);
    const std::int64_t longest = std::max({p.m, p.k, p.n});
    const bool lies_ready = p.b.col_stride == 1 && p.c.col_stride == 1 && p.n >= kernels.vector_elements;
    return longest <= (lies_ready ? kernels.small_side : copied_side);
}

/// A product that is_small(). Operands that lack a unit stride, or are too narrow for a vector, go through the stack.
template <class T>
void multiply_small(const TypedProduct<T>& p, InstructionSet set) {
    const GemmKernels<T>& kernels = gemm_kernels_of<T>(set);
    const std::int64_t width = std::max<std::int64_t>(p.n, kernels.vector_elements);
    const T* b = p.b.data;
    std::int64_t b_row_stride = p.b.row_stride;
    T b_copy[copied_side * copied_side];
    if (p.b.col_stride != 1 || width != p.n) {
        for (std::int64_t q = 0; q < p.k; ++q) {
            for (std::int64_t j = 0; j < width; ++j) {
                b_copy[q * width + j] = j < p.n ? *p.b.at(q, j) : T{0};
            }
        }
        b = b_copy;
        b_row_stride = width;
    }
    if (p.c.col_stride == 1 && width == p.n) {
        kernels.small(p.m, p.k, p.n, p.alpha, p.a.data, p.a.row_stride, p.a.col_stride, b, b_row_stride, p.beta,
                      p.c.data, p.c.row_stride);
        return;
    }
    T sums[copied_side * copied_side];
    kernels.small(p.m, p.k, width, T{1}, p.a.data, p.a.row_stride, p.a.col_stride, b, b_row_stride, T{0}, sums, width);
    update_from_tile(sums, static_cast<int>(width), p.m, p.n, p.alpha, p.beta, p.c);
}

template <class T>
void gemm_typed(const Product& product, T alpha, T beta, InstructionSet set) {
    if (product.a.cols == 0 || alpha == T{0}) {  // decided on the converted alpha: one that underflows is zero
        // not every residue mod 2^64 is a double
        scale_view(std::is_integral_v<T> ? product.beta : static_cast<double>(beta), product.c, set);
        return;
    }
    const auto matrix = [](const ConstView& v) {
        return Matrix<const T>{static_cast<const T*>(v.data), v.row_stride, v.col_stride};
    };
    TypedProduct<T> p{product.c.rows,
                      product.a.cols,
                      product.c.cols,
                      alpha,
                      matrix(product.a),
                      matrix(product.b),
                      beta,
                      {static_cast<T*>(product.c.data), product.c.row_stride, product.c.col_stride}};
    // A single column counts as unit stride either way; a row vector is better computed along its length.
    if (p.n == 1 || (p.c.col_stride != 1 && p.c.row_stride == 1)) {
        p = transposed_product(p);
    }
    if (is_small(p, set)) {
        multiply_small(p, set);
    } else {
        multiply_packed(p, set);
    }
}

}  // namespace

bool gemm_supports(Type type) noexcept {
    return type != Type::gf2 && type != Type::boolean;
}

void gemm(const Product& product, InstructionSet set) {
    if (product.c.rows == 0 || product.c.cols == 0) {
        return;
    }
    switch (product.a.type) {
        case Type::f32:
            return gemm_typed<float>(product, static_cast<float>(product.alpha), static_cast<float>(product.beta), set);
        case Type::f64:
            return gemm_typed<double>(product, product.alpha, product.beta, set);
        case Type::i32:
            return gemm_typed<std::uint32_t>(product, residue_mod_2_32(product.alpha), residue_mod_2_32(product.beta),
                                             set);
        case Type::i64:
            return gemm_typed<std::uint64_t>(product, residue_mod_2_64(product.alpha), residue_mod_2_64(product.beta),
                                             set);
        case Type::tf32:
        case Type::bf16:
        case Type::f16:
            return gemm_short(product, set);
        default:
            fail(ErrorCode::usage,
                 "there is no cpu kernel for products of {}; there are kernels for floats, i32 and i64",
                 type_name(product.a.type));
    }
}

std::int64_t gemm_scratch_bytes(InstructionSet set) {
    const KernelTable& table = kernel_table_of(set);
    return std::max({packed_bytes(f32_kernels_of(set)), packed_bytes(table.gemm_f64), packed_bytes(table.gemm_i32),
                     packed_bytes(table.gemm_i64)});
}

}  // namespace heptad::cpu
