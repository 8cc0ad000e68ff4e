#include "product/cluster/cluster_check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "base/error.hpp"
#include "base/size.hpp"
#include "base/splitmix.hpp"
#include "base/thread_pool.hpp"
#include "check/lanes.hpp"
#include "check/sampled_rows.hpp"
#include "check/streamed_residual.hpp"
#include "kernels/scalars.hpp"
#include "product/cluster/tree_merge.hpp"

namespace heptad {
namespace check {

/// Sets of sampled rows as bits; (OR, AND).
struct RowBits {
    std::uint64_t bits = 0;
};
template <>
struct LaneArithmetic<RowBits> {
    using Element = std::uint8_t;
    static constexpr int tile = 8;
    static void add(RowBits& sum, std::uint8_t a, const RowBits& x) { sum.bits |= x.bits & (0U - std::uint64_t{a}); }
};

}  // namespace check

namespace {

using check::DoubleDouble;
using check::Lanes;
using check::multiply_lanes;
using check::RowBits;
using check::RowFacts;

constexpr std::int64_t kRead_bytes = std::int64_t{16} << 20;  // of C at a time

/// Rows of a part of C that are read together.
std::int64_t rows_at_a_time(const Window& unit, Type type) {
    const std::int64_t row_bytes =
        std::max<std::int64_t>(1, unit.cols * static_cast<std::int64_t>(element_bytes(type)));
    return std::max<std::int64_t>(1, kRead_bytes / row_bytes);
}

/// How the vectors of a type are drawn, scaled and added.
template <class T>
struct Vectors;
template <>
struct Vectors<std::uint32_t> {
    static constexpr int lanes = 64;
    static std::uint32_t draw(std::uint64_t seed, std::int64_t row, int lane) {
        return static_cast<std::uint32_t>(splitmix_word(seed, row * lanes + lane) >> 32);
    }
    static void add(std::uint32_t& to, std::uint32_t from, double factor) { to += residue_mod_2_32(factor) * from; }
};
template <>
struct Vectors<std::uint64_t> {
    static constexpr int lanes = 1;
    static std::uint64_t draw(std::uint64_t seed, std::int64_t row, int) { return splitmix_word(seed, row); }
    static void add(std::uint64_t& to, std::uint64_t from, double factor) { to ^= residue_mod_2(factor) ? from : 0; }
};
template <class T>
struct SignVectors {
    static constexpr int lanes = 8;
    static T draw(std::uint64_t seed, std::int64_t row, int lane) {
        return T{(splitmix_word(splitmix_word(seed, lane), row) & 1U) != 0 ? 1.0 : -1.0};
    }
    static void add(T& to, const T& from, double factor) { check::LaneArithmetic<T>::add(to, factor, from); }
};
template <>
struct Vectors<double> : SignVectors<double> {};
template <>
struct Vectors<DoubleDouble> : SignVectors<DoubleDouble> {};

double value_of(double x) {
    return x;
}
double value_of(const DoubleDouble& x) {
    return x.value();
}

/// What all types share: reading the parts that this rank checks.
class CheckedParts {
public:
    explicit CheckedParts(const CheckWork& work)
        : work_(work), plan_(work.plan), pool_(shared_pool(work.node.threads)), seed_(seed_of_root(work.ranks)) {}

protected:
    bool is_root() const { return work_.ranks.rank() == 0; }

    static std::uint64_t seed_of_root(Communicator& ranks) {
        std::random_device device;
        const std::uint64_t own = static_cast<std::uint64_t>(device()) << 32 | device();
        return std::stoull(ranks.broadcast_text(std::to_string(own)));
    }

    template <class Visit>
    void for_each_part_of_a(Visit&& visit) const {
        for_each_part(work_.a, work_.windows.a, visit);
    }
    template <class Visit>
    void for_each_part_of_b(Visit&& visit) const {
        for_each_part(work_.b, work_.windows.b, visit);
    }
    /// visit(window, elements of C, elements of C0 or an empty matrix)
    template <class Visit>
    void for_each_part_of_c(Visit&& visit) const {
        for (const Window& unit : work_.windows.c) {
            const std::int64_t height = rows_at_a_time(unit, plan_.type);
            for (std::int64_t row = 0; row < unit.rows && unit.cols > 0; row += height) {
                const Window slice{unit.row + row, unit.col, std::min(height, unit.rows - row), unit.cols};
                Matrix c(plan_.type, slice.rows, slice.cols), c0;
                work_.trace.time(Stage::disk_read, [&] {
                    work_.result->read(slice, c.data());
                    if (work_.node.beta != 0) {
                        c0 = Matrix(plan_.type, slice.rows, slice.cols);
                        work_.c0->read(slice, c0.data());
                    }
                });
                visit(slice, c, c0);
            }
        }
    }

    const CheckWork& work_;
    const ClusterPlan& plan_;
    ThreadPool& pool_;
    const std::uint64_t seed_;

private:
    template <class Visit>
    void for_each_part(const MatrixWindows* file, const std::vector<Window>& windows, Visit&& visit) const {
        for (const Window& window : windows) {
            if (window.elements() == 0) {
                continue;
            }
            Matrix part(plan_.type, window.rows, window.cols);
            work_.trace.time(Stage::disk_read, [&] { file->read(window, part.data()); });
            visit(window, part);
        }
    }
};

/// Freivalds' test. T is what sums are made in.
template <class T>
class FreivaldsCheck : CheckedParts {
public:
    explicit FreivaldsCheck(const CheckWork& work)
        : CheckedParts(work),
          y_(plan_.k, V::lanes),
          difference_(plan_.m, V::lanes),
          a_rows_(kHasFacts ? as_size(plan_.m) : 0),
          c_rows_(kHasFacts ? as_size(plan_.m) : 0),
          b_cols_(kHasFacts ? as_size(plan_.n) : 0),
          c0_(kHasFacts ? 1 : 0),
          c0_rows_(kHasFacts && work.node.beta != 0 ? as_size(plan_.m) : 0) {}

    VerifyResult run() {
        const auto sum = [](T& all, const T& part) { V::add(all, part, 1); };
        if constexpr (kHasFacts) {  // before anything is drawn: small columns get large weights
            for_each_part_of_b(
                [&](const Window& window, const Matrix& b) { note_facts(b_cols_, window.col, transposed(b.view())); });
            merge_everywhere(work_.ranks, b_cols_, check::merge);
            weights_ = check::weights_of(b_cols_);
        }
        for_each_part_of_b([&](const Window& window, const Matrix& b) {
            add(y_, window.row, multiply_lanes(b.view(), drawn(window), pool_), 1);
        });
        merge_everywhere(work_.ranks, y_.data, sum);
        for_each_part_of_a([&](const Window& window, const Matrix& a) {
            Lanes<T> y(window.cols, V::lanes);
            std::copy_n(y_.row(window.col), y.data.size(), y.data.begin());
            add(difference_, window.row, multiply_lanes(a.view(), y, pool_), -work_.node.alpha);
            note_facts(a_rows_, window.row, a.view());
        });
        for_each_part_of_c([&](const Window& window, const Matrix& c, const Matrix& c0) {
            const Lanes<T> x = drawn(window);
            add(difference_, window.row, multiply_lanes(c.view(), x, pool_), 1);
            note_facts(c_rows_, window.row, c.view(), weights_of(window));
            if (c0.rows() > 0) {
                add(difference_, window.row, multiply_lanes(c0.view(), x, pool_), -work_.node.beta);
                note_c0(window.row, c0.view());
                note_facts(c0_rows_, window.row, c0.view(), weights_of(window));
            }
        });
        merge_at_root(work_.ranks, difference_.data, sum);
        for (std::vector<RowFacts>* facts : {&a_rows_, &c_rows_, &c0_, &c0_rows_}) {
            merge_at_root(work_.ranks, *facts, check::merge);
        }
        return is_root() ? judge() : VerifyResult{};
    }

private:
    using V = Vectors<T>;
    static constexpr bool kHasFacts = std::is_same_v<T, double> || std::is_same_v<T, DoubleDouble>;
    static std::size_t as_size(std::int64_t count) { return static_cast<std::size_t>(count); }

    /// Rows of X for the columns of a window.
    Lanes<T> drawn(const Window& window) const {
        Lanes<T> x(window.cols, V::lanes);
        for (std::int64_t j = 0; j < window.cols; ++j) {
            for (int lane = 0; lane < V::lanes; ++lane) {
                x.row(j)[lane] = V::draw(seed_, window.col + j, lane);
                if constexpr (kHasFacts) {
                    T weighted{};
                    V::add(weighted, x.row(j)[lane], weights_[as_size(window.col + j)]);
                    x.row(j)[lane] = weighted;
                }
            }
        }
        return x;
    }
    std::vector<double> weights_of(const Window& window) const {
        return kHasFacts
                   ? std::vector<double>(weights_.begin() + window.col, weights_.begin() + window.col + window.cols)
                   : std::vector<double>();
    }
    static void add(Lanes<T>& to, std::int64_t row, const Lanes<T>& from, double factor) {
        T* const first = to.row(row);
        for (std::size_t i = 0; i < from.data.size(); ++i) {
            V::add(first[i], from.data[i], factor);
        }
    }
    void note_facts(std::vector<RowFacts>& all, std::int64_t first, const ConstView& rows,
                    const std::vector<double>& weights = {}) {
        if constexpr (kHasFacts) {
            const std::vector<RowFacts> facts = check::scan_rows(rows, pool_, weights);
            for (std::size_t i = 0; i < facts.size(); ++i) {
                check::merge(all[as_size(first) + i], facts[i]);
            }
        }
    }
    void note_c0(std::int64_t first, const ConstView& rows) {
        if constexpr (kHasFacts) {
            const std::vector<RowFacts> facts = check::scan_rows(rows, pool_);
            for (std::size_t i = 0; i < facts.size(); ++i) {
                RowFacts& row = a_rows_[as_size(first) + i];
                row.non_finite = row.non_finite || facts[i].non_finite;
                check::merge(c0_[0], facts[i]);
            }
        }
    }

    VerifyResult judge() const {
        if constexpr (kHasFacts) {
            return judge_sums();
        } else {
            return judge_exactly();
        }
    }
    VerifyResult judge_exactly() const {
        constexpr int kVectors = 64;
        const auto wrong = std::find_if(difference_.data.begin(), difference_.data.end(), [](T x) { return x != 0; });
        if (wrong != difference_.data.end()) {
            fail(ErrorCode::verification,
                 "C is wrong, certainly: its sums over {} random vectors differ, the first in row {}", kVectors,
                 (wrong - difference_.data.begin()) / V::lanes);
        }
        VerifyResult passed;
        passed.miss_chance = std::ldexp(1.0, -kVectors);
        passed.explanation = fmt::format("{} random vectors agree", kVectors);
        passed.seed = seed_;
        return passed;
    }
    VerifyResult judge_sums() const {
        check::StreamedResidual judge(
            {work_.node.alpha, work_.node.beta, plan_.k, work_.stored, check::JudgedBy{work_.node.options.accuracy}});
        check::StreamedResidual::Strip strip;
        strip.a = check::largest(a_rows_);
        strip.c0_max_abs = c0_[0].max_abs;
        check::StreamedResidual::add_columns(strip, b_cols_, weights_);
        for (std::size_t i = 0; i < a_rows_.size(); ++i) {
            strip.most_c_share = std::max(strip.most_c_share, judge.share(strip, a_rows_[i].norm, c_rows_[i].norm));
        }
        std::vector<double> sums(V::lanes);
        for (std::int64_t i = 0; i < plan_.m; ++i) {
            std::transform(difference_.row(i), difference_.row(i) + V::lanes, sums.begin(),
                           [](const T& sum) { return value_of(sum); });
            const RowFacts &of_a = a_rows_[as_size(i)], &of_c = c_rows_[as_size(i)];
            judge.judge(strip,
                        {i, !of_c.non_finite, !of_a.non_finite, of_a.norm, of_c.norm,
                         c0_rows_.empty() ? 0 : c0_rows_[as_size(i)].norm},
                        sums);
        }
        return judge.result(V::lanes, seed_);
    }

    Lanes<T> y_, difference_;
    std::vector<RowFacts> a_rows_, c_rows_, b_cols_, c0_, c0_rows_;
    std::vector<double> weights_;  // of the columns; floats
};

/// Sampled rows of a Boolean product: with F the sets of sampled rows that have a one in each column of A, the sets for
/// the columns of C are B^T F.
class SampledRowsCheck : CheckedParts {
public:
    static constexpr std::int64_t kRows = 512;
    static constexpr int kWords = 8;  // of 64 rows

    explicit SampledRowsCheck(const CheckWork& work)
        : CheckedParts(work),
          rows_(check::draw_rows(plan_.m, std::min(plan_.m, kRows), seed_)),
          of_a_(plan_.k, kWords),
          expected_(plan_.n, kWords),
          found_(plan_.n, kWords) {}

    VerifyResult run() {
        const auto either = [](RowBits& all, const RowBits& part) { all.bits |= part.bits; };
        if (work_.node.alpha != 0) {
            for_each_part_of_a([&](const Window& window, const Matrix& a) { note(of_a_, window, a); });
            merge_everywhere(work_.ranks, of_a_.data, either);
            for_each_part_of_b([&](const Window& window, const Matrix& b) {
                Lanes<RowBits> sets(window.rows, kWords);
                std::copy_n(of_a_.row(window.row), sets.data.size(), sets.data.begin());
                const Lanes<RowBits> product = multiply_lanes(transposed(b.view()), sets, pool_);
                for (std::size_t i = 0; i < product.data.size(); ++i) {
                    expected_.row(window.col)[i].bits |= product.data[i].bits;
                }
            });
        }
        for_each_part_of_c([&](const Window& window, const Matrix& c, const Matrix& c0) {
            note(found_, window, c);
            if (c0.rows() > 0) {
                note(expected_, window, c0);
            }
        });
        merge_at_root(work_.ranks, expected_.data, either);
        merge_at_root(work_.ranks, found_.data, either);
        return is_root() ? judge() : VerifyResult{};
    }

private:
    /// Puts the sampled rows of a window into the sets of its columns.
    void note(Lanes<RowBits>& sets, const Window& window, const Matrix& elements) const {
        const auto first = std::lower_bound(rows_.begin(), rows_.end(), window.row);
        for (auto row = first; row != rows_.end() && *row < window.row + window.rows; ++row) {
            const std::int64_t index = row - rows_.begin();
            const auto* const values =
                static_cast<const std::uint8_t*>(elements.data()) + (*row - window.row) * window.cols;
            for (std::int64_t j = 0; j < window.cols; ++j) {
                sets.row(window.col + j)[index / 64].bits |= std::uint64_t{values[j] != 0} << (index % 64);
            }
        }
    }

    VerifyResult judge() const {
        check::RowDifferences differences;
        for (std::int64_t j = 0; j < plan_.n; ++j) {
            for (int word = 0; word < kWords; ++word) {
                const std::uint64_t wrong = expected_.row(j)[word].bits ^ found_.row(j)[word].bits;
                if (wrong != 0 && differences.wrong == 0) {
                    differences.bad_row =
                        rows_[static_cast<std::size_t>(word) * 64 + static_cast<std::size_t>(std::countr_zero(wrong))];
                    differences.bad_col = j;
                }
                differences.wrong += std::popcount(wrong);
            }
        }
        VerifyResult result = check::conclude_rows(differences, static_cast<std::int64_t>(rows_.size()), plan_.m);
        result.seed = seed_;
        if (result.verdict == Verdict::failed) {
            throw Error(ErrorCode::verification, result.explanation);
        }
        return result;
    }

    const std::vector<std::int64_t> rows_;
    Lanes<RowBits> of_a_, expected_, found_;
};

/// Of the vectors of one row.
std::int64_t lane_bytes(Type type) {
    const auto bytes = [](auto zero) {
        return static_cast<std::int64_t>(sizeof(zero)) * Vectors<decltype(zero)>::lanes;
    };
    switch (type) {
        case Type::i32:
            return bytes(std::uint32_t{});
        case Type::gf2:
            return bytes(std::uint64_t{});
        case Type::boolean:
            return SampledRowsCheck::kWords * static_cast<std::int64_t>(sizeof(RowBits));
        case Type::f64:
            return bytes(DoubleDouble{});
        default:
            return bytes(double{});
    }
}

}  // namespace

CheckedWindows checked_windows(const ClusterPlan& plan, std::int64_t rank, const CheckReaders& readers) {
    const std::int64_t checked = (rank + readers.distance) % plan.ranks;
    CheckedWindows windows;
    windows.c = result_units(plan, readers.all_read_own_results ? rank : checked);
    const bool all_hold_b = plan.algorithm == ClusterAlgorithm::pegmm;  // so they take turns
    const auto add = [&](std::int64_t owner) {
        const HeldWindows held = held_windows(plan, owner);
        windows.a.insert(windows.a.end(), held.a.begin(), held.a.end());
        for (std::size_t i = 0; i < held.b.size(); ++i) {
            if (!all_hold_b || static_cast<std::int64_t>(i) % plan.ranks == owner) {
                windows.b.push_back(held.b[i]);
            }
        }
    };
    if (!readers.root_reads_operands) {
        add(checked);
    }
    for (std::int64_t owner = 0; readers.root_reads_operands && rank == 0 && owner < plan.ranks; ++owner) {
        add(owner);
    }
    return windows;
}

std::int64_t check_bytes(const ClusterPlan& plan, const CheckedWindows& windows, bool adds) {
    const auto element = static_cast<std::int64_t>(element_bytes(plan.type));
    const bool samples_rows = plan.type == Type::boolean;
    const bool is_exact = samples_rows || plan.type == Type::i32 || plan.type == Type::gf2;
    const std::int64_t of_row = lane_bytes(plan.type);
    const std::int64_t outer = samples_rows ? checked_mul(2, plan.n) : plan.m;
    const std::int64_t merged = std::max(plan.k, samples_rows ? plan.n : plan.m);
    const std::int64_t facts = is_exact ? 0
                                        : checked_mul(checked_add(checked_mul(3, plan.m), checked_mul(2, plan.n)),
                                                      static_cast<std::int64_t>(sizeof(RowFacts)));
    std::int64_t part = 0;
    const auto consider = [&](std::int64_t rows, std::int64_t cols, int matrices) {
        part = std::max(part, checked_add(checked_mul(matrices * element, checked_mul(rows, cols)),
                                          checked_mul(of_row, checked_add(rows, cols))));
    };
    for (const std::vector<Window>* operand : {&windows.a, &windows.b}) {
        for (const Window& window : *operand) {
            consider(window.rows, window.cols, 1);
        }
    }
    for (const Window& unit : windows.c) {
        consider(std::min(unit.rows, rows_at_a_time(unit, plan.type)), unit.cols, adds ? 2 : 1);
    }
    return checked_add(checked_add(checked_mul(of_row, checked_add(checked_add(plan.k, outer), merged)), facts), part);
}

VerifyResult check_result(const CheckWork& work) {
    switch (work.plan.type) {
        case Type::i32:
            return FreivaldsCheck<std::uint32_t>(work).run();
        case Type::gf2:
            return FreivaldsCheck<std::uint64_t>(work).run();
        case Type::boolean:
            return SampledRowsCheck(work).run();
        case Type::f64:
            return FreivaldsCheck<DoubleDouble>(work).run();
        default:
            return FreivaldsCheck<double>(work).run();
    }
}

}  // namespace heptad
