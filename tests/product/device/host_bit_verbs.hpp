// The verbs of a bit product in host memory, by the definitions in their headers: slow, plain, without a device.
#pragma once

#include <bit>

#include "kernels/cuda/bits/bit_verbs.hpp"

namespace heptad::test {

class HostBitVerbs final : public cuda::BitVerbs {
public:
    void expand(const cuda::BitExpandLaunch& launch) override {
        const int blocks = 1 << launch.levels, sums = power(cuda::kBitProducts, launch.levels);
        for (std::int64_t matrix = 0; matrix < launch.batch; ++matrix) {
            for (int product = 0; product < sums; ++product) {
                std::uint64_t* const to = launch.target + (matrix * sums + product) * launch.rows * launch.words;
                std::fill(to, to + launch.rows * launch.words, 0);
                for (int row = 0; row < blocks; ++row) {
                    for (int col = 0; col < blocks; ++col) {
                        if (takes_part(launch.masks, launch.levels, product, launch.transposed ? col : row,
                                       launch.transposed ? row : col)) {
                            each_word(launch.rows, launch.words, [&](std::int64_t i, std::int64_t w) {
                                to[i * launch.words + w] ^=
                                    sum(launch.source, matrix, row * launch.rows + i, col * launch.words + w);
                            });
                        }
                    }
                }
            }
        }
    }

    void compress(const cuda::BitCompressLaunch& launch) override {
        const int blocks = 1 << launch.levels, products = power(cuda::kBitProducts, launch.levels);
        for (std::int64_t matrix = 0; matrix < launch.batch; ++matrix) {
            for (int row = 0; row < blocks; ++row) {
                for (int col = 0; col < blocks; ++col) {
                    each_word(launch.rows, launch.words, [&](std::int64_t i, std::int64_t w) {
                        std::uint64_t value = 0;
                        for (int product = 0; product < products; ++product) {
                            if (takes_part(launch.masks, launch.levels, product, row, col)) {
                                value ^=
                                    launch.source[((matrix * products + product) * launch.rows + i) * launch.words + w];
                            }
                        }
                        add(launch.target, matrix, row * launch.rows + i, col * launch.words + w, value);
                    });
                }
            }
        }
    }

    void transpose(const cuda::BitTransposeLaunch& launch) override {
        std::fill(launch.target, launch.target + launch.rows * launch.words, 0);
        for (std::int64_t i = 0; i < 64 * launch.words; ++i) {
            for (std::int64_t w = 0; 64 * w < launch.rows; ++w) {
                const std::uint64_t word = sum(launch.source, 0, i, w);
                for (std::int64_t bit = 0; bit < std::min<std::int64_t>(64, launch.rows - 64 * w); ++bit) {
                    launch.target[(64 * w + bit) * launch.words + i / 64] |= (word >> bit & 1) << (i % 64);
                }
            }
        }
    }

    void multiply(const cuda::BitLeafLaunch& launch) override {
        const std::int64_t words = (launch.k + 63) / 64;
        for (std::int64_t block = 0; block < launch.batch; ++block) {
            for (std::int64_t i = 0; i < launch.m; ++i) {
                const std::uint64_t* const a = launch.a.data + block * launch.a.block_words + i * launch.a.row_words;
                const std::int64_t at = block * launch.c_block_stride + i * launch.c_row_stride;
                for (std::int64_t j = 0; j < launch.n; ++j) {
                    const std::uint64_t* const b =
                        launch.b.data + block * launch.b.block_words + j * launch.b.row_words;
                    std::int32_t count = 0;
                    for (std::int64_t w = 0; w < words; ++w) {
                        count += std::popcount(a[w] & b[w]);
                    }
                    put(launch, at, j, count);
                }
            }
        }
    }

private:
    static int power(int base, int exponent) { return exponent == 0 ? 1 : base * power(base, exponent - 1); }

    template <class Visit>
    static void each_word(std::int64_t rows, std::int64_t words, const Visit& visit) {
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t w = 0; w < words; ++w) {
                visit(i, w);
            }
        }
    }

    /// Digits of `product` to the base 7 and of `row` and `col` to the base 2, the outer level first.
    static bool takes_part(const cuda::BitLevelMasks& masks, int levels, int product, int row, int col) {
        for (int level = 0; level < levels; ++level) {
            const int quarter = 2 * (row >> level & 1) + (col >> level & 1);
            if (masks.of[product % cuda::kBitProducts][quarter] == 0) {
                return false;
            }
            product /= cuda::kBitProducts;
        }
        return true;
    }

    static std::uint64_t mask_of(const cuda::BitWindows& w, std::int64_t word) {
        const std::int64_t bits = w.cols - 64 * word;
        return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    }

    static std::uint64_t sum(const cuda::BitWindows& w, std::int64_t matrix, std::int64_t row, std::int64_t word) {
        std::uint64_t result = 0;
        for (int i = 0; i < w.count; ++i) {
            const std::int64_t r = row + w.corner[i].row, c = word + w.corner[i].word;
            if (r < w.rows && 64 * c < w.cols) {
                result ^= w.data[matrix * w.block_words + r * w.row_words + c] & mask_of(w, c);
            }
        }
        return result;
    }

    static void add(const cuda::BitWindows& w, std::int64_t matrix, std::int64_t row, std::int64_t word,
                    std::uint64_t value) {
        for (int i = 0; i < w.count; ++i) {
            const std::int64_t r = row + w.corner[i].row, c = word + w.corner[i].word;
            if (r < w.rows && 64 * c < w.cols) {
                std::uint64_t& to = w.data[matrix * w.block_words + r * w.row_words + c];
                const std::uint64_t sum = value ^ ((w.assigned >> i & 1) != 0 ? 0 : to);
                to = (to & ~mask_of(w, c)) | (sum & mask_of(w, c));
            }
        }
    }

    static void put(const cuda::BitLeafLaunch& launch, std::int64_t at, std::int64_t j, std::int32_t count) {
        if (launch.operation == cuda::BitOperation::count) {
            std::int32_t& to = static_cast<std::int32_t*>(launch.c)[at + j];
            to = count + (launch.accumulate ? to : 0);
            return;
        }
        std::uint64_t& to = static_cast<std::uint64_t*>(launch.c)[at + j / 64];
        to &= launch.accumulate ? ~std::uint64_t{0} : ~(std::uint64_t{1} << (j % 64));
        const bool bit = launch.operation == cuda::BitOperation::parity ? count % 2 != 0 : count > 0;
        const std::uint64_t mask = std::uint64_t{bit ? 1U : 0U} << (j % 64);
        to = launch.operation == cuda::BitOperation::parity ? to ^ mask : to | mask;
    }
};

}  // namespace heptad::test
