// The owning matrix, and what needs no arithmetic: copies, transposes, comparison, counts, random bits.
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "base/bit_words.hpp"
#include "base/errors_only.hpp"
#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "base/splitmix.hpp"
#include "base/thread_pool.hpp"
#include "kernels/bits/transpose.hpp"
#include "kernels/bits/word_buffer.hpp"

namespace heptad {

using bits::kWordBits;
using bits::words_of;

namespace {

/// Words of a row of an owned matrix. Whole cache lines, and an odd number of them where there are several: rows a
/// power of two apart would fight for the same sets of the caches.
std::int64_t owned_stride(std::int64_t cols) {
    constexpr std::int64_t line_words = 8;
    const std::int64_t lines = ceil_div(cols, kWordBits * line_words);
    return (lines > 1 ? lines | 1 : lines) * line_words;
}

/// A matrix without columns may have any number of rows; nobody waits for a walk over them.
bool is_empty(const ConstBitView& view) {
    return view.rows == 0 || view.cols == 0;
}

/// work(first, last) for ranges of rows of so many words: on all cores where there is enough to do.
template <class Work>
void over_rows(std::int64_t rows, std::int64_t words, const Work& work) {
    constexpr std::int64_t task_words = std::int64_t{1} << 19, least_words = 16 * task_words;
    if (words == 0) {
        return;
    }
    if (rows * words < least_words) {
        work(0, rows);
        return;
    }
    const std::int64_t rows_per_task = std::max<std::int64_t>(1, task_words / words);
    shared_pool(threads_or_default()).run(ceil_div(rows, rows_per_task), [&](std::int64_t task) {
        work(task * rows_per_task, std::min(rows, (task + 1) * rows_per_task));
    });
}

}  // namespace

BitMatrix::BitMatrix(std::int64_t rows, std::int64_t cols) try {
    fail_if(rows < 0 || cols < 0, ErrorCode::input, "a bit matrix of {} x {} is not possible; sizes start at 0", rows,
            cols);
    checked_add(cols, 2 * kWordBits * 8);
    const std::int64_t stride = owned_stride(cols);
    const std::int64_t bytes = checked_mul(checked_mul(rows, stride), 8);
    struct Release {
        void operator()(std::uint64_t* memory) const { bits::release_words(memory); }
    };
    std::unique_ptr<std::uint64_t, Release> words(static_cast<std::uint64_t*>(bits::allocate_words(bytes)));
    // Large ones by all cores: most of the time goes into pages that the system has to bring.
    over_rows(rows, stride, [&](std::int64_t first, std::int64_t last) {
        std::memset(words.get() + first * stride, 0, static_cast<std::size_t>((last - first) * stride * 8));
    });
    view_ = {words.release(), rows, cols, stride, 0};
} catch (...) {
    rethrow_as_error();
}

BitMatrix::~BitMatrix() {
    bits::release_words(view_.words);
}

BitMatrix::BitMatrix(const BitMatrix& other) : BitMatrix(other.rows(), other.cols()) {
    bits::copy(other, view_);
}

BitMatrix& BitMatrix::operator=(const BitMatrix& other) {
    if (this != &other) {
        *this = BitMatrix(other);
    }
    return *this;
}

BitMatrix::BitMatrix(BitMatrix&& other) noexcept : view_(other.view_) {
    other.view_ = {};
}

BitMatrix& BitMatrix::operator=(BitMatrix&& other) noexcept {
    std::swap(view_, other.view_);
    return *this;
}

BitMatrix BitMatrix::identity(std::int64_t size) {
    BitMatrix result(size, size);
    for (std::int64_t i = 0; i < size; ++i) {
        result.set(i, i, true);
    }
    return result;
}

BitMatrix BitMatrix::random(std::int64_t rows, std::int64_t cols, std::uint64_t seed, double density) try {
    fail_if(!(density >= 0 && density <= 1), ErrorCode::usage,
            "a density of {} is not possible; it is a share of ones, from 0 to 1", density);
    // Word by word from the binary digits of the density: reading them from the last to the first, a digit 1 takes the
    // OR with a random word, a digit 0 the AND, so that each step halves the distance to the density.
    constexpr int digits = 32;
    const auto threshold = static_cast<std::uint64_t>(density * 0x1p32);
    const int first = threshold == 0 ? digits : std::countr_zero(threshold);
    BitMatrix result(rows, cols);
    const std::uint64_t key = splitmix(seed + kSplitmixStep);
    const std::int64_t words = words_of(cols);
    over_rows(rows, words, [&](std::int64_t first_row, std::int64_t last_row) {
        for (std::int64_t i = first_row; i < last_row; ++i) {
            for (std::int64_t w = 0; w < words; ++w) {
                const std::int64_t place = (i * words + w) * digits;
                std::uint64_t word =
                    first == digits && threshold != 0 ? ~std::uint64_t{0} : 0;  // density 1, or 0 so far
                for (int digit = first; digit < digits; ++digit) {
                    const std::uint64_t random = splitmix_word(key, place + digit);
                    word = ((threshold >> digit) & 1) != 0 ? word | random : word & random;
                }
                bits::store_word<bits::Store::assign>(result.view_, i, w, word);
            }
        }
    });
    return result;
} catch (...) {
    rethrow_as_error();
}

BitMatrix BitMatrix::copy_of(const ConstBitView& view) {
    BitMatrix result(view.rows, view.cols);
    bits::copy(view, result.view_);
    return result;
}

BitMatrix BitMatrix::transposed() const {
    BitMatrix result(cols(), rows());
    bits::transpose(view_, result.view_);
    return result;
}

bool operator==(const ConstBitView& x, const ConstBitView& y) {
    if (x.rows != y.rows || x.cols != y.cols) {
        return false;
    }
    if (is_empty(x)) {
        return true;
    }
    for (std::int64_t i = 0; i < x.rows; ++i) {
        for (std::int64_t w = 0; w < words_of(x.cols); ++w) {
            if (bits::load_word(x, i, w) != bits::load_word(y, i, w)) {
                return false;
            }
        }
    }
    return true;
}

namespace bits {

std::int64_t count_ones(const ConstBitView& a) {
    if (is_empty(a)) {
        return 0;
    }
    std::int64_t ones = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t w = 0; w < words_of(a.cols); ++w) {
            ones += std::popcount(load_word(a, i, w));
        }
    }
    return ones;
}

void copy(const ConstBitView& from, const BitView& to) try {
    fail_if(from.rows != to.rows || from.cols != to.cols, ErrorCode::input,
            "a {} x {} bit matrix cannot be copied to a {} x {} one; the shapes must be equal", from.rows, from.cols,
            to.rows, to.cols);
    const auto copy_rows = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            for (std::int64_t w = 0; w < words_of(from.cols); ++w) {
                store_word<Store::assign>(to, i, w, load_word(from, i, w));
            }
        }
    };
    over_rows(from.rows, words_of(from.cols), copy_rows);
} catch (...) {
    rethrow_as_error();
}

void transpose(const ConstBitView& a, const BitView& t) try {
    fail_if(a.rows != t.cols || a.cols != t.rows, ErrorCode::input,
            "the transpose of a {} x {} bit matrix is not {} x {}", a.rows, a.cols, t.rows, t.cols);
    if (is_empty(a)) {
        return;
    }
    std::uint64_t square[kWordBits];
    for (std::int64_t i = 0; i < a.rows; i += kWordBits) {
        for (std::int64_t w = 0; w < words_of(a.cols); ++w) {
            for (std::int64_t r = 0; r < kWordBits; ++r) {
                square[r] = i + r < a.rows ? load_word(a, i + r, w) : 0;
            }
            transpose_64x64(square);
            for (std::int64_t r = 0; r < kWordBits && w * kWordBits + r < t.rows; ++r) {
                store_word<Store::assign>(t, w * kWordBits + r, i / kWordBits, square[r]);
            }
        }
    }
} catch (...) {
    rethrow_as_error();
}

}  // namespace bits
}  // namespace heptad
