// The classical product in the place of one whose sums cannot be trusted: kernels of ours that ask a guard first,
// because nobody on the host knows yet whether they are needed.
#include <algorithm>
#include <limits>
#include <optional>

#include "kernels/cuda/device/copied_lines.hpp"
#include "kernels/cuda/device/cuda_backend_state.hpp"
#include "kernels/cuda/fused/fused_product.hpp"

namespace heptad::cuda {
namespace {

constexpr std::int64_t kBoundary_bytes = 16;

/// Can the copy engine read these rows as they lie?
bool lies_along_k(const ConstView& rows) {
    const auto element = static_cast<std::int64_t>(element_bytes(rows.type));
    return rows.col_stride == 1 && rows.cols * element % kBoundary_bytes == 0 &&
           rows.row_stride * element % kBoundary_bytes == 0 && rows.row_stride >= rows.cols &&
           reinterpret_cast<std::uintptr_t>(rows.data) % kBoundary_bytes == 0;
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
    if (!is_short || c.type != type || c.col_stride != 1 ||
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
    // What tensor cores would cut off of an f32 is rounded first.
    const bool copies_a = type == Type::tf32 || !lies_along_k(a), copies_b = type == Type::tf32 || !lies_along_k(b);
    const std::int64_t distance = round_up(k * element, kBoundary_bytes) / element;
    const std::optional<LinesAtOnce> some = lines_at_once({a.rows, copies_a}, {b.rows, copies_b}, distance * element,
                                                          static_cast<std::int64_t>(free.size()));
    if (!some) {
        return false;
    }
    const Scalar scalar = scalar_type(type);
    const auto lines_of = [&](const ConstView& rows, bool copies, std::byte* to) {
        if (!copies) {
            return LinesAlongK{const_cast<void*>(rows.data), rows.rows, k, rows.row_stride};
        }
        const LinesAlongK lines{to, rows.rows, k, distance};
        check_launch(launch_line_copy(scalar, device_matrix(rows), lines, unsafe, stream), "copy rows or columns");
        return lines;
    };
    std::byte* const memory_b = free.data() + (copies_a ? some->a * distance * element : 0);
    LinesAlongK right;
    for (std::int64_t row = 0; row < a.rows; row += some->a) {
        const std::int64_t rows = std::min(some->a, a.rows - row);
        const LinesAlongK left = lines_of(block(a, row, 0, rows, k), copies_a, free.data());
        for (std::int64_t col = 0; col < b.rows; col += some->b) {
            const std::int64_t cols = std::min(some->b, b.rows - col);
            if (row == 0 || some->b < b.rows) {
                right = lines_of(block(b, col, 0, cols, k), copies_b, memory_b);
            }
            check_launch(launch_tensor_product({scalar, product.alpha, left, right, product.beta,
                                                device_matrix(block(c, row, col, rows, cols)), unsafe},
                                               stream),
                         "start the classical product");
        }
    }
    return true;
}

/// Of f32 and f64 the fused kernels, without sums inside, are the fastest ones that ask a guard first: those of f64 run
/// on tensor cores.
void CudaBackend::State::answer(const Product& product, const Guard& unsafe, std::span<std::byte> free) const {
    if (is_complex(product.a.type)) {
        multiply_parts(product, unsafe);
        return;
    }
    if (answer_by_tensor_cores(product, unsafe, free)) {
        return;
    }
    const Type type = product.a.type;
    const std::int64_t m = product.c.rows, k = product.a.cols, n = product.c.cols;
    if (product.c.type != type || std::max({m, k, n}) > kMostFusedSide || !fused_available(type, 1, 1, 1)) {
        multiply_classical(product, unsafe);
        return;
    }
    const FusedProduct one{m, k, n, {{product.a, 1}}, {{product.b, 1}}, {{product.c, product.alpha, product.beta}}};
    launch_fused(stream, nullptr, type, {&one, 1}, FusedOrder::serial, FusedTile::automatic, {unsafe, nullptr}, {});
}

}  // namespace heptad::cuda
