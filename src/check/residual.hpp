// D = C X - alpha A (B X) - beta C0 X for random vectors X, from windows of the matrices that come one after another,
// in any order, to one rank or to several: zero where C is right, but for rounding.
//
// i32, i64, gf2: 64 vectors, exact; a wrong C passes with probability at most 2^-64. Floats: random signs, times
// weights that keep small columns in sight, summed in a higher precision and judged by streamed_residual.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/splitmix.hpp"
#include "check/float_facts.hpp"
#include "check/lanes.hpp"
#include "check/streamed_residual.hpp"
#include "kernels/scalars.hpp"

namespace heptad::check {

/// Are sums of this type rounded, so that facts about the rows are needed to judge them?
template <class T>
inline constexpr bool kIsRounded = std::is_same_v<T, double> || std::is_same_v<T, DoubleDouble>;

inline constexpr int kExactVectors = 64;
/// Those of gf2 are the bits of one word.
template <class T>
inline constexpr int kExactLanes = std::is_same_v<T, std::uint64_t> ? 1 : kExactVectors;

/// Calls action.template operator()<T>() with the T that sums of a type are made in; bool has none.
template <class Action>
decltype(auto) with_sum_type(Type type, Action&& action) {
    switch (type) {
        case Type::i32:
            return action.template operator()<std::uint32_t>();
        case Type::i64:
            return action.template operator()<IntegerMod64>();
        case Type::gf2:
            return action.template operator()<std::uint64_t>();
        case Type::f64:
        case Type::c128:
            return action.template operator()<DoubleDouble>();
        default:
            return action.template operator()<double>();
    }
}

template <class T>
void add_scaled(T& to, const T& from, double factor) {
    if constexpr (std::is_same_v<T, std::uint32_t>) {
        to += residue_mod_2_32(factor) * from;
    } else if constexpr (std::is_same_v<T, IntegerMod64>) {
        LaneArithmetic<T>::add(to, residue_mod_2_64(factor), from);
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
        to ^= residue_mod_2(factor) ? from : 0;
    } else {
        LaneArithmetic<T>::add(to, factor, from);
    }
}

template <class T>
void add_rows(Lanes<T>& to, std::int64_t row, const Lanes<T>& from, double factor) {
    T* const first = to.row(row);
    for (std::size_t i = 0; i < from.data.size(); ++i) {
        add_scaled(first[i], from.data[i], factor);
    }
}

/// Rows of X for the columns from `first` on; `weights` are those of floats.
template <class T>
Lanes<T> draw_vectors(std::uint64_t seed, std::int64_t first, std::int64_t count, int lanes, const double* weights) {
    using Word = std::conditional_t<sizeof(T) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
    Lanes<T> x(count, lanes);
    for (int lane = 0; lane < lanes; ++lane) {
        const std::uint64_t key = splitmix_word(seed, lane);
        for (std::int64_t j = 0; j < count; ++j) {
            T& to = x.row(j)[lane];
            if constexpr (kIsRounded<T>) {
                to = T{(splitmix_word(key, first + j) & 1U) != 0 ? weights[j] : -weights[j]};
            } else {
                to = T{static_cast<Word>(splitmix_word(seed, (first + j) * lanes + lane) >> (64 - 8 * sizeof(T)))};
            }
        }
    }
    return x;
}

inline void merge_rows(std::vector<RowFacts>& all, std::int64_t row, const std::vector<RowFacts>& part) {
    for (std::size_t i = 0; i < part.size(); ++i) {
        merge(all[static_cast<std::size_t>(row) + i], part[i]);
    }
}

/// T is what sums are made in. What each row has is open: several ranks merge theirs.
template <class T>
class Residual {
public:
    Residual(std::int64_t rows, int lanes, const JudgedProduct& product, ThreadPool& pool)
        : sums(rows, lanes),
          a_rows(kIsRounded<T> ? static_cast<std::size_t>(rows) : 0),
          c_rows(a_rows.size()),
          c0_rows(product.beta != 0 ? a_rows.size() : 0),
          alpha_(product.alpha),
          beta_(product.beta),
          pool_(pool) {}

    /// Rows of A from `row` on, and Y = B X for its columns.
    void take_a(std::int64_t row, const ConstView& a, const Lanes<T>& y) {
        add_rows(sums, row, multiply_lanes(a, y, pool_), -alpha_);
        if constexpr (kIsRounded<T>) {
            merge_rows(a_rows, row, scan_rows(a, pool_));
        }
    }
    /// Rows of C; X and the weights are those of its columns.
    void take_c(std::int64_t row, const ConstView& c, const Lanes<T>& x, const std::vector<double>& weights) {
        add_rows(sums, row, multiply_lanes(c, x, pool_), 1);
        if constexpr (kIsRounded<T>) {
            merge_rows(c_rows, row, scan_rows(c, pool_, weights));
        }
    }
    /// The same of C0.
    void take_c0(std::int64_t row, const ConstView& c0, const Lanes<T>& x, const std::vector<double>& weights) {
        add_rows(sums, row, multiply_lanes(c0, x, pool_), -beta_);
        if constexpr (kIsRounded<T>) {
            std::vector<RowFacts> facts = scan_rows(c0, pool_);
            const std::vector<RowFacts> weighted = scan_rows(c0, pool_, weights);
            for (std::size_t i = 0; i < facts.size(); ++i) {
                RowFacts& of_a = a_rows[static_cast<std::size_t>(row) + i];
                of_a.non_finite = of_a.non_finite || facts[i].non_finite;
                facts[i].norm = weighted[i].norm;
            }
            merge_rows(c0_rows, row, facts);
        }
    }

    /// Of exact sums: the first of these rows that is wrong, or -1.
    std::int64_t first_wrong(std::int64_t row, std::int64_t rows) const {
        for (std::int64_t i = row * sums.lanes; i < (row + rows) * sums.lanes; ++i) {
            if (sums.data[static_cast<std::size_t>(i)] != T{}) {
                return i / sums.lanes;
            }
        }
        return -1;
    }

    struct Rows {
        std::int64_t first = 0, count = 0;
    };
    /// Of rounded sums. Levels mix the rows of a strip, of which these are some; its columns are known. The first row
    /// is told as number `index`. Throws Error(verification) where one is wrong.
    void judge(StreamedResidual& judge, StreamedResidual::Strip strip, const Rows& of_strip, const Rows& rows,
               std::int64_t index) const {
        for (std::int64_t i = of_strip.first; i < of_strip.first + of_strip.count; ++i) {
            const RowFacts& facts = a_rows[static_cast<std::size_t>(i)];
            strip.a.norm = std::max(strip.a.norm, facts.norm);
            strip.a.max_abs = std::max(strip.a.max_abs, facts.max_abs);
            strip.c0_max_abs = std::max(strip.c0_max_abs, of_c0(i).max_abs);
        }
        for (std::int64_t i = rows.first; i < rows.first + rows.count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            strip.most_c_share = std::max(strip.most_c_share, judge.share(strip, a_rows[at].norm, c_rows[at].norm));
        }
        std::vector<double> values(static_cast<std::size_t>(sums.lanes));
        for (std::int64_t i = rows.first; i < rows.first + rows.count; ++i) {
            std::transform(sums.row(i), sums.row(i) + sums.lanes, values.begin(),
                           [](const T& sum) { return value_of(sum); });
            const RowFacts &of_a = a_rows[static_cast<std::size_t>(i)], &of_c = c_rows[static_cast<std::size_t>(i)];
            judge.judge(
                strip,
                {index + i - rows.first, !of_c.non_finite, !of_a.non_finite, of_a.norm, of_c.norm, of_c0(i).norm},
                values);
        }
    }

    Lanes<T> sums;
    std::vector<RowFacts> a_rows, c_rows, c0_rows;  // norms of C and C0 are weighted

private:
    RowFacts of_c0(std::int64_t row) const {
        return c0_rows.empty() ? RowFacts{} : c0_rows[static_cast<std::size_t>(row)];
    }

    double alpha_, beta_;
    ThreadPool& pool_;
};

/// The verdict where no exact sum is wrong.
VerifyResult exact_vectors_agree(std::uint64_t seed);

}  // namespace heptad::check
