#include "bench/suites/blocked_loop.hpp"

#include <algorithm>
#include <cstring>

#include "base/thread_pool.hpp"

namespace heptad::cli {
namespace {

// A tile of B of kDepth x kWidth stays in the second-level cache while all rows of the slice pass over it.
constexpr std::int64_t kDepth = 64;
constexpr std::int64_t kWidth = 512;
constexpr std::int64_t kSliceRows = 64;

void multiply_rows(std::int64_t rows, std::int64_t k, std::int64_t n, const std::uint32_t* a, const std::uint32_t* b,
                   std::uint32_t* c) {
    std::memset(c, 0, static_cast<std::size_t>(rows * n) * sizeof(std::uint32_t));
    for (std::int64_t column = 0; column < n; column += kWidth) {
        const std::int64_t width = std::min(kWidth, n - column);
        for (std::int64_t depth = 0; depth < k; depth += kDepth) {
            const std::int64_t depth_end = std::min(depth + kDepth, k);
            for (std::int64_t i = 0; i < rows; ++i) {
                std::uint32_t* __restrict c_row = c + i * n + column;
                for (std::int64_t l = depth; l < depth_end; ++l) {
                    const std::uint32_t factor = a[i * k + l];
                    const std::uint32_t* __restrict b_row = b + l * n + column;
                    for (std::int64_t j = 0; j < width; ++j) {
                        c_row[j] += factor * b_row[j];
                    }
                }
            }
        }
    }
}

}  // namespace

void blocked_loop_i32(std::int64_t m, std::int64_t k, std::int64_t n, const std::int32_t* a, const std::int32_t* b,
                      std::int32_t* c, int threads) {
    // The same bits, read as the unsigned type whose sums wrap.
    const auto* a_bits = reinterpret_cast<const std::uint32_t*>(a);
    const auto* b_bits = reinterpret_cast<const std::uint32_t*>(b);
    auto* c_bits = reinterpret_cast<std::uint32_t*>(c);
    if (threads <= 1) {
        multiply_rows(m, k, n, a_bits, b_bits, c_bits);
        return;
    }
    const std::int64_t slices = (m + kSliceRows - 1) / kSliceRows;
    shared_pool(threads).run(slices, [&](std::int64_t slice) {
        const std::int64_t first = slice * kSliceRows;
        multiply_rows(std::min(kSliceRows, m - first), k, n, a_bits + first * k, b_bits, c_bits + first * n);
    });
}

}  // namespace heptad::cli
