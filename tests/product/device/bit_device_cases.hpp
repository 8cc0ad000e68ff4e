// Products of bit matrices as a device is asked for them, with the answers by definition: shared by the test in host
// memory and the one on a device.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/size.hpp"
#include "kernels/bits/bit_test_matrices.hpp"
#include "product/device/bit_device_product.hpp"

namespace heptad::test {

/// Rows of words with any number of words between them, all of them random. Views of a device begin at bit 0.
struct WordMatrix {
    std::int64_t rows, cols, row_words;
    std::vector<std::uint64_t> words;

    WordMatrix(std::int64_t row_count, std::int64_t col_count, std::int64_t gap, std::mt19937_64& random,
               double density)
        : rows(row_count), cols(col_count), row_words(ceil_div(col_count, 64) + gap) {
        const BitMatrix bits = BitMatrix::random(rows, row_words * 64, random(), density);
        words.resize(static_cast<std::size_t>(rows * row_words));
        for (std::int64_t i = 0; i < rows; ++i) {
            std::copy_n(bits.view().words + i * bits.stride(), row_words, words.begin() + i * row_words);
        }
    }
    ConstBitView view() const { return {words.data(), rows, cols, row_words, 0}; }
};

struct BitDeviceCase {
    ProblemSize size;
    cuda::BitOperation operation = cuda::BitOperation::parity;
    BitDeviceOptions options;
    bool accumulate = false;
    std::int64_t gap_a = 0, gap_b = 0, gap_c = 0;  // words between rows that belong to nobody

    std::string text() const {
        return fmt::format(
            "{} x {} x {} operation {} algorithm {} levels {} serial {} leaf {} accumulate {} gaps {} {} {}", size.m,
            size.k, size.n, static_cast<int>(operation), options.algorithm, options.levels, options.serial_levels,
            options.leaf, accumulate, gap_a, gap_b, gap_c);
    }
};

/// The operands of a case, and what its result must be: words between rows of C and bits beyond its last column are as
/// they were.
struct BitDeviceData {
    WordMatrix a, b;
    std::vector<std::uint64_t> c, wanted;  // bits
    std::vector<std::int32_t> counts, wanted_counts;
    std::int64_t c_row_stride = 0;

    BitDeviceData(const BitDeviceCase& x, std::mt19937_64& random)
        : a(x.size.m, x.size.k, x.gap_a, random, density(x)), b(x.size.k, x.size.n, x.gap_b, random, density(x)) {
        const std::int64_t n = x.size.n;
        if (x.operation == cuda::BitOperation::count) {
            c_row_stride = n + x.gap_c;
            counts.resize(static_cast<std::size_t>(x.size.m * c_row_stride));
            for (std::int32_t& count : counts) {
                count = static_cast<std::int32_t>(random() % 1000);
            }
            wanted_counts = counts;
            for (std::int64_t i = 0; i < x.size.m; ++i) {
                for (std::int64_t j = 0; j < n; ++j) {
                    std::int32_t sum = 0;
                    for (std::int64_t k = 0; k < x.size.k; ++k) {
                        sum += a.view()(i, k) && b.view()(k, j) ? 1 : 0;
                    }
                    std::int32_t& to = wanted_counts[static_cast<std::size_t>(i * c_row_stride + j)];
                    to = sum + (x.accumulate ? to : 0);
                }
            }
            return;
        }
        const WordMatrix before(x.size.m, n, x.gap_c, random, 0.5);
        c = before.words;
        wanted = c;
        c_row_stride = before.row_words;
        const bool parity = x.operation == cuda::BitOperation::parity;
        const BitMatrix product = product_by_definition(parity ? Type::gf2 : Type::boolean, a.view(), b.view());
        for (std::int64_t i = 0; i < x.size.m; ++i) {
            for (std::int64_t w = 0; w < ceil_div(n, 64); ++w) {
                std::uint64_t& to = wanted[static_cast<std::size_t>(i * c_row_stride + w)];
                const std::uint64_t bits = product.view().words[i * product.stride() + w];
                const std::uint64_t used =
                    n - 64 * w >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (n - 64 * w)) - 1;
                const std::uint64_t result = !x.accumulate ? bits : parity ? to ^ bits : to | bits;
                to = (to & ~used) | (result & used);
            }
        }
    }

private:
    /// Dense Boolean products are all ones.
    static double density(const BitDeviceCase& x) { return x.operation == cuda::BitOperation::any ? 0.06 : 0.5; }
};

/// Sizes at the edges of words, of 16-byte pieces and of tiles.
inline std::int64_t edge_size(std::mt19937_64& random) {
    constexpr std::int64_t kSizes[] = {1, 2, 7, 63, 64, 65, 100, 127, 128, 129, 191, 192, 193, 255, 256, 257, 300};
    return kSizes[random() % std::size(kSizes)];
}

inline BitDeviceCase random_bit_case(std::mt19937_64& random) {
    BitDeviceCase x;
    x.size = {edge_size(random), edge_size(random), edge_size(random)};
    x.accumulate = random() % 2 == 0;
    x.gap_a = static_cast<std::int64_t>(random() % 3);
    x.gap_b = static_cast<std::int64_t>(random() % 3);
    x.gap_c = static_cast<std::int64_t>(random() % 3);
    return x;
}

}  // namespace heptad::test
