// The classical product in the place of one whose sums cannot be trusted: kernels of ours that ask a guard first,
// because nobody on the host knows yet whether they are needed.
#include <algorithm>
#include <limits>
#include <optional>

#include "kernels/cuda/combine/tensor_product.hpp"
#include "kernels/cuda/device/copied_lines.hpp"
#include "kernels/cuda/device/cuda_backend_state.hpp"
#include "kernels/cuda/fused/fused_product.hpp"

namespace heptad::cuda {
namespace {

constexpr std::int64_t kBoundary_bytes = 16;

/// Entries side by side, in lines that begin and end on boundaries.
bool lies_in_rows(const ConstView& rows) {
    const auto element = static_cast<std::int64_t>(element_bytes(rows.type));
    return rows.col_stride == 1 && rows.cols * element % kBoundary_bytes == 0 &&
           rows.row_stride * element % kBoundary_bytes == 0 && rows.row_stride >= rows.cols &&
           reinterpret_cast<std::uintptr_t>(rows.data) % kBoundary_bytes == 0;
}
bool lies_in_lines(const ConstView& matrix) {
    return lies_in_rows(matrix) || lies_in_rows(transposed(matrix));
}

/// A product of `a` with the columns of B, the rows of `b`, which goes through copies where those do not lie as a
/// kernel wants them. Copies are filled up with zeros to multiples of so many lines and of so much of k.
struct CopiedProduct {
    ConstView a, b;
    View c;
    bool copies_a, copies_b, along_k;  // otherwise copies lie as their originals do
    std::int64_t multiple_of_lines, multiple_of_k;
    Scalar scalar;
    /// Those of a and of b by which a copy may not be needed (tensor_product.hpp); -1: it is.
    int words[2] = {-1, -1};
};

/// A part of A and of B, as they are multiplied and as they were.
struct PartOfProduct {
    ConstView a, b, original_a, original_b;
    View c;
};

/// multiply(part) for parts that fit into `free`. False: it is too small.
template <class Multiply>
bool multiply_in_parts(const CopiedProduct& product, const Guard& guard, std::span<std::byte> free, cudaStream_t stream,
                       Multiply&& multiply) {
    const ConstView &a = product.a, &b = product.b;
    const std::int64_t k = a.cols, whole_k = round_up(std::max<std::int64_t>(k, 1), product.multiple_of_k);
    const std::int64_t line_bytes = whole_k * static_cast<std::int64_t>(element_bytes(a.type));
    const auto whole_lines = [&](const ConstView& rows) { return round_up(rows.rows, product.multiple_of_lines); };
    const std::optional<LinesAtOnce> some =
        lines_at_once({whole_lines(a), product.copies_a}, {whole_lines(b), product.copies_b}, line_bytes,
                      static_cast<std::int64_t>(free.size()));
    if (!some) {
        return false;
    }
    const auto taken = [&](const ConstView& rows, bool copies, int word, std::byte* to) {
        if (!copies) {
            return rows;
        }
        const std::int64_t lines = whole_lines(rows);
        const bool across = !product.along_k && rows.row_stride == 1 && rows.col_stride != 1;
        const View copy =
            across ? View{to, rows.type, whole_k, lines, lines, 1} : View{to, rows.type, lines, whole_k, whole_k, 1};
        check_launch(launch_line_copy(product.scalar, device_matrix(across ? transposed(rows) : rows),
                                      device_matrix(copy), guard, word, stream),
                     "copy rows or columns");
        return ConstView(across ? transposed(copy) : copy);
    };
    std::byte* const memory_b = free.data() + (product.copies_a ? some->a * line_bytes : 0);
    PartOfProduct part;
    for (std::int64_t row = 0; row < a.rows; row += some->a) {
        const std::int64_t rows = std::min(some->a, a.rows - row);
        part.original_a = block(a, row, 0, rows, k);
        part.a = taken(part.original_a, product.copies_a, product.words[0], free.data());
        for (std::int64_t col = 0; col < b.rows; col += some->b) {
            const std::int64_t cols = std::min(some->b, b.rows - col);
            if (row == 0 || some->b < b.rows) {
                part.original_b = block(b, col, 0, cols, k);
                part.b = taken(part.original_b, product.copies_b, product.words[1], memory_b);
            }
            part.c = block(product.c, row, col, rows, cols);
            multiply(part);
        }
    }
    return true;
}

}  // namespace

bool CudaBackend::State::answer_by_tensor_cores(const Product& product, const Guard& unsafe,
                                                std::span<std::byte> free) const {
    const Type type = product.a.type;
    const bool is_short = type == Type::bf16 || type == Type::f16 || type == Type::tf32;
    constexpr std::int64_t kMostBytes = std::numeric_limits<int>::max();
    const auto element = static_cast<std::int64_t>(element_bytes(type));
    const std::int64_t m = product.c.rows, k = product.a.cols, n = product.c.cols;
    // C by columns is its transpose by rows.
    const bool by_columns = product.c.row_stride == 1 && product.c.col_stride != 1;
    const View c = by_columns ? transposed(product.c) : product.c;
    if (!is_short || c.type != type || c.col_stride != 1 || k == 0 ||
        std::max({m, n, k * element}) > kMostBytes - kBoundary_bytes) {
        return false;
    }
    bool available = false;
    check_launch(find_tensor_product(available), "look for a kernel");
    if (!available) {
        return false;
    }
    const ConstView a = by_columns ? transposed(product.b) : product.a;
    const ConstView b = by_columns ? product.a : transposed(product.b);  // the columns of B as rows
    const bool along_k = type == Type::tf32;                             // only 16 bits are read across it
    // What tensor cores would cut off of an f32 is rounded first.
    const auto copies = [&](const ConstView& rows) { return type == Type::tf32 || !lies_in_lines(rows); };
    const std::int64_t boundary = kBoundary_bytes / element;
    // The guard's words are of A and B of the product, which C by columns exchanges.
    const auto word = [&](const ConstView& rows, int operand) {
        const int of_product = by_columns ? 1 - operand : operand;
        return type == Type::tf32 && watched[of_product] && lies_in_rows(rows) ? of_product : -1;
    };
    const CopiedProduct copied{a,
                               b,
                               c,
                               copies(a),
                               copies(b),
                               along_k,
                               boundary,
                               boundary,
                               type == Type::tf32 ? Scalar::rounded_to_tf32 : scalar_type(type),
                               {word(a, 0), word(b, 1)}};
    return multiply_in_parts(copied, unsafe, free, stream, [&](const PartOfProduct& part) {
        const TensorProduct launch{
            scalar_type(type),
            product.alpha,
            device_matrix(part.a),
            device_matrix(part.b),
            product.beta,
            device_matrix(part.c),
            unsafe,
            {{device_matrix(part.original_a), copied.words[0]}, {device_matrix(part.original_b), copied.words[1]}}};
        check_launch(launch_tensor_product(launch, stream), "start the classical product");
    });
}

/// Of f32 and f64 the fused kernels, without sums inside, are the fastest ones that ask a guard first: those of f64 run
/// on tensor cores. What does not lie in lines is copied first, so that it can be read 16 bytes at a time.
void CudaBackend::State::answer(const Product& product, const Guard& unsafe, std::span<std::byte> free) const {
    if (is_complex(product.a.type)) {
        multiply_parts(product, unsafe);
        return;
    }
    if (answer_by_tensor_cores(product, unsafe, free)) {
        return;
    }
    constexpr std::int64_t kMultipleOfLines = 128, kMultipleOfK = 16;  // whole tiles, made of whole slabs
    const Type type = product.a.type;
    const std::int64_t m = product.c.rows, k = product.a.cols, n = product.c.cols;
    if (product.c.type != type || std::max({m, k, n}) > kMostFusedSide - kMultipleOfLines ||
        !fused_available(type, 1, 1, 1)) {
        multiply_classical(product, unsafe);
        return;
    }
    const auto multiply = [&](const ConstView& a, const ConstView& b, const View& c) {
        const FusedProduct one{
            a.rows, a.cols, b.rows, {{a, 1}}, {{transposed(b), 1}}, {{c, product.alpha, product.beta}}};
        launch_fused(stream, nullptr, type, {&one, 1}, FusedOrder::serial, FusedTile::automatic, {unsafe, nullptr}, {});
    };
    const ConstView &a = product.a, b = transposed(product.b);
    const bool lies_well = lies_in_lines(a) && lies_in_lines(b) && (type == Type::f64 || k % kMultipleOfK == 0);
    if (lies_well || !multiply_in_parts(
                         {a, b, product.c, true, true, false, kMultipleOfLines, kMultipleOfK, scalar_type(type)},
                         unsafe, free, stream, [&](const PartOfProduct& part) { multiply(part.a, part.b, part.c); })) {
        multiply(a, b, product.c);
    }
}

}  // namespace heptad::cuda
