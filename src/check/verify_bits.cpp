#include "check/verify_bits.hpp"

#include <fmt/format.h>

#include <bit>
#include <mutex>
#include <vector>

#include "base/bit_words.hpp"
#include "base/fail_if.hpp"
#include "base/splitmix.hpp"
#include "base/thread_pool.hpp"
#include "check/bit_lanes.hpp"
#include "check/sampled_rows.hpp"
#include "check/verify_kinds.hpp"

namespace heptad {
namespace {

using Words = std::vector<std::uint64_t>;

VerifyResult verify_gf2(const ConstBitView& a, const ConstBitView& b, const ConstBitView& c,
                        const std::optional<ConstBitView>& c0, std::uint64_t seed, ThreadPool& pool) {
    Words x(static_cast<std::size_t>(b.cols)), bx(static_cast<std::size_t>(b.rows)),
        difference(static_cast<std::size_t>(a.rows));
    for (std::int64_t j = 0; j < b.cols; ++j) {
        x[static_cast<std::size_t>(j)] = splitmix_word(seed, j);
    }
    check::add_bit_lanes(b, x, bx.data(), pool);
    check::add_bit_lanes(a, bx, difference.data(), pool);
    check::add_bit_lanes(c, x, difference.data(), pool);
    if (c0) {
        check::add_bit_lanes(*c0, x, difference.data(), pool);
    }
    VerifyResult result;
    result.miss_chance = 0x1p-64;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        const std::uint64_t word = difference[static_cast<std::size_t>(i)];
        result.residual += std::popcount(word);
        if (word != 0 && result.bad_row < 0) {
            result.bad_row = i;
        }
    }
    if (result.bad_row >= 0) {
        result.verdict = Verdict::failed;
        result.explanation =
            fmt::format("row {} of C is wrong: it differs from A * B in a product with random vectors", result.bad_row);
    } else {
        result.explanation = "C agrees with A * B in products with 64 random vectors";
    }
    return result;
}

/// Are all of so many columns ones? Nothing can be added then: dense products are checked in no time.
bool is_full(const Words& row, std::int64_t cols) {
    for (std::size_t w = 0; w < row.size(); ++w) {
        const std::uint64_t used = bits::low_bits(cols - static_cast<std::int64_t>(w) * bits::kWordBits);
        if ((row[w] & used) != used) {
            return false;
        }
    }
    return true;
}

}  // namespace

VerifyResult check::verify_boolean_rows(const BitRows& matrices, const std::vector<std::int64_t>& rows,
                                        std::int64_t all_rows, const VerifyOptions& options, ThreadPool& pool) {
    const ConstBitView &a = matrices.a, &b = matrices.b, &c = matrices.c;
    const std::optional<ConstBitView>& c0 = matrices.c0;
    const bool are_gathered = c.rows != all_rows;
    const std::int64_t words = bits::words_of(b.cols);
    std::mutex mutex;
    RowDifferences found;
    pool.run(static_cast<std::int64_t>(rows.size()), [&](std::int64_t task) {
        fail_if(options.cancel.cancelled(), ErrorCode::cancelled,
                "cancelled while a product of {} x {} x {} was verified", all_rows, a.cols, b.cols);
        const std::int64_t number = rows[static_cast<std::size_t>(task)], i = are_gathered ? task : number;
        Words sum(static_cast<std::size_t>(words));
        constexpr std::int64_t kRowsBetweenLooks = 64;
        std::int64_t added_rows = 0;
        for (std::int64_t k = 0; k < a.cols; ++k) {
            if (!a(i, k)) {
                continue;
            }
            for (std::int64_t w = 0; w < words; ++w) {
                sum[static_cast<std::size_t>(w)] |= bits::load_word(b, k, w);
            }
            if (++added_rows % kRowsBetweenLooks == 0 && is_full(sum, b.cols)) {
                break;
            }
        }
        std::int64_t wrong = 0, first = -1;
        for (std::int64_t w = 0; w < words; ++w) {
            const std::uint64_t added = c0 ? bits::load_word(*c0, i, w) : 0;
            const std::uint64_t differing = (sum[static_cast<std::size_t>(w)] | added) ^ bits::load_word(c, i, w);
            first = differing != 0 && first < 0 ? w * bits::kWordBits + std::countr_zero(differing) : first;
            wrong += std::popcount(differing);
        }
        if (wrong > 0) {
            const std::lock_guard lock(mutex);
            found.wrong += wrong;
            if (found.bad_row < 0 || number < found.bad_row) {
                found.bad_row = number;
                found.bad_col = first;
            }
        }
    });
    return conclude_rows(found, static_cast<std::int64_t>(rows.size()), all_rows);
}

VerifyResult verify_bits(Type algebra, const ConstBitView& a, const ConstBitView& b, const ConstBitView& c,
                         const std::optional<ConstBitView>& c0, const VerifyOptions& options) {
    const bool fits = a.cols == b.rows && c.rows == a.rows && c.cols == b.cols;
    fail_if(!fits || (c0 && (c0->rows != c.rows || c0->cols != c.cols)), ErrorCode::input,
            "A is {} x {}, B is {} x {} and C is {} x {}; these do not make a product C = A * B{}", a.rows, a.cols,
            b.rows, b.cols, c.rows, c.cols, fits ? " + C0" : "");
    const std::uint64_t seed = options.seed ? *options.seed : check::seed_from_system();
    ThreadPool& pool = shared_pool(threads_or_default(options.threads));
    VerifyResult result;
    if (algebra == Type::gf2) {
        result = verify_gf2(a, b, c, c0, seed, pool);
    } else {
        const std::vector<std::int64_t> rows = check::rows_to_recompute(c.rows, a.cols, b.cols, seed, options);
        result = check::verify_boolean_rows({a, b, c, c0}, rows, c.rows, options, pool);
    }
    result.seed = seed;
    return result;
}

}  // namespace heptad
