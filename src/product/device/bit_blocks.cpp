#include "product/device/bit_blocks.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "base/over_rows.hpp"
#include "kernels/bits/word_sums.hpp"

namespace heptad {
namespace {

using bits::kWordBits;
using bits::words_of;

constexpr std::int64_t kLineWords = 8;

ConstBitView clipped(const ConstBitView& matrix, const BlockCut& cut, int block) {
    const auto [row, rows, col, cols] = cut.inside(block, matrix.rows, matrix.cols);
    return rows > 0 && cols > 0 ? matrix.block(row, col, rows, cols) : ConstBitView{};
}

/// Words from the start of a row that can be taken as they are, in whole lines; the others need masks or shifts.
std::int64_t plain_words(const ConstBitView& view) {
    return view.offset == 0 ? view.cols / kWordBits / kLineWords * kLineWords : 0;
}

/// One row of the sum of `parts`, whose plain words end at the sorted `edges`.
void sum_row(std::span<const ConstBitView> parts, std::span<const std::int64_t> edges, std::int64_t row,
             std::uint64_t* to) {
    const bits::WordSum sum = bits::word_sum();
    const std::uint64_t* sources[bits::kMostTerms];
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        const std::int64_t begin = edges[i], end = edges[i + 1];
        int count = 0;
        bool adds = false;
        for (const ConstBitView& part : parts) {
            if (row < part.rows && plain_words(part) >= end) {
                if (count == bits::kMostTerms) {
                    sum(to + begin, sources, count, end - begin, adds);
                    adds = true;
                    count = 0;
                }
                sources[count++] = part.words + row * part.stride + begin;
            }
        }
        if (count > 0) {
            sum(to + begin, sources, count, end - begin, adds);
        } else {
            std::memset(to + begin, 0, static_cast<std::size_t>(end - begin) * 8);
        }
    }
    for (const ConstBitView& part : parts) {
        for (std::int64_t w = plain_words(part); row < part.rows && w < words_of(part.cols); ++w) {
            to[w] ^= bits::load_word(part, row, w);
        }
    }
}

template <bits::Store mode>
void update_row(const BitView& target, std::int64_t row, const std::uint64_t* from) {
    const std::int64_t plain = plain_words(target);
    std::uint64_t* to = target.words + row * target.stride;
    if constexpr (mode == bits::Store::assign) {
        std::memcpy(to, from, static_cast<std::size_t>(plain) * 8);
    } else if constexpr (mode == bits::Store::exclusive_or) {
        if (plain > 0) {
            bits::word_sum()(to, &from, 1, plain, true);
        }
    } else {
        for (std::int64_t w = 0; w < plain; ++w) {
            to[w] |= from[w];
        }
    }
    for (std::int64_t w = plain; w < words_of(target.cols); ++w) {
        bits::store_word<mode>(target, row, w, from[w]);
    }
}

}  // namespace

void sum_bit_blocks(const ConstBitView& matrix, const BlockCut& cut, std::span<const BlockTerm> terms,
                    const BitView& to, ThreadPool& pool) {
    std::vector<ConstBitView> parts;
    std::vector<std::int64_t> edges{0, to.stride};
    for (const BlockTerm& term : terms) {
        const ConstBitView part = clipped(matrix, cut, term.block);
        if (part.rows > 0) {
            parts.push_back(part);
            edges.push_back(plain_words(part));
        }
    }
    edges = sorted_edges(std::move(edges));
    over_rows(to.rows, to.stride, pool,
              [&](std::int64_t row) { sum_row(parts, edges, row, to.words + row * to.stride); });
}

void update_bit_block(const BitView& matrix, const BlockCut& cut, int block, bits::Store mode, const ConstBitView& from,
                      ThreadPool& pool) {
    const ConstBitView inside = clipped(matrix, cut, block);
    const BitView target{const_cast<std::uint64_t*>(inside.words), inside.rows, inside.cols, inside.stride,
                         inside.offset};
    over_rows(target.rows, words_of(target.cols), pool, [&](std::int64_t row) {
        const std::uint64_t* source = from.words + row * from.stride;
        switch (mode) {
            case bits::Store::assign:
                return update_row<bits::Store::assign>(target, row, source);
            case bits::Store::exclusive_or:
                return update_row<bits::Store::exclusive_or>(target, row, source);
            case bits::Store::inclusive_or:
                return update_row<bits::Store::inclusive_or>(target, row, source);
        }
    });
}

}  // namespace heptad
