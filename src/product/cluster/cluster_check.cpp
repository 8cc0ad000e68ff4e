#include "product/cluster/cluster_check.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "base/types.hpp"
#include "check/complex_lanes.hpp"
#include "check/sampled_rows.hpp"
#include "check/verify_kinds.hpp"
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

using check::kIsRounded;
using check::Lanes;
using check::multiply_lanes;
using check::PartLanes;
using check::RowBits;
using check::RowFacts;

/// Draws of the vectors for one row.
template <class T>
inline constexpr int kLanes = check::kIsRounded<T> ? 8 : check::kExactLanes<T>;

/// What all types share: reading the parts that this rank checks.
class CheckedParts {
public:
    explicit CheckedParts(const CheckWork& work)
        : work_(work), plan_(work.plan), pool_(shared_pool(work.node.threads)), seed_(seed_of_root(work.ranks)) {}

protected:
    bool is_root() const { return work_.ranks.rank() == 0; }

    static std::uint64_t seed_of_root(Communicator& ranks) {
        return std::stoull(ranks.broadcast_text(std::to_string(check::seed_from_system())));
    }

    /// visit(window, elements) of what is read of an operand
    template <class Visit>
    void for_each_part(const MatrixWindows* file, const std::vector<Window>& windows, Visit&& visit) const {
        for (const Window& window : windows) {
            if (window.elements() > 0) {
                Matrix part(plan_.type, window.rows, window.cols);
                work_.trace.time(Stage::disk_read, [&] { file->read(window, part.data()); });
                visit(window, part);
            }
        }
    }
    /// visit(window, elements of C, elements of C0 or an empty matrix)
    template <class Visit>
    void for_each_part_of_c(Visit&& visit) const {
        for (const Window& unit : work_.windows.c) {
            for (const Window& slice : slices(unit, plan_.type)) {
                Matrix c(plan_.type, slice.rows, slice.cols), c0;
                work_.trace.time(Stage::disk_read, [&] {
                    work_.result->read(slice, c.data());
                    if (work_.node.beta != 0.0) {
                        c0 = Matrix(plan_.type, slice.rows, slice.cols);
                        work_.c0->read(slice, c0.data());
                    }
                });
                visit(slice, c, c0);
            }
        }
    }

    const CheckWork& work_;
    const ProductPlan& plan_;
    ThreadPool& pool_;
    const std::uint64_t seed_;
};

/// Freivalds' test. T is what sums are made in; of complex numbers, those of real and of imaginary parts.
template <class T>
class FreivaldsCheck : CheckedParts {
public:
    explicit FreivaldsCheck(const CheckWork& work)
        : CheckedParts(work),
          product_(check::as_real(judged(work))),
          y_(is_complex(plan_.type) ? 2 : 1, Lanes<T>(plan_.k, kLanes<T>)),
          residual_(plan_.m, kLanes<T>, product_, pool_),
          b_cols_(kIsRounded<T> ? static_cast<std::size_t>(plan_.n) : 0) {}

    VerifyResult run() {
        const auto sum = [](T& all, const T& part) { check::add_scaled(all, part, 1); };
        if constexpr (kIsRounded<T>) {  // before anything is drawn: small columns get large weights
            for_each_part(work_.b, work_.windows.b, [&](const Window& window, const Matrix& b) {
                check::merge_rows(b_cols_, window.col, check::scan_columns(b.view(), pool_));
            });
            merge_everywhere(work_.ranks, b_cols_, check::merge);
            weights_ = check::weights_of(b_cols_);
        }
        for_each_part(work_.b, work_.windows.b, [&](const Window& window, const Matrix& b) {
            const ConstView right = conjugated(b.view(), work_.node.conjugate_b);
            const PartLanes<T> y = multiply_parts(right, drawn(window, weights_of(window)), pool_);
            for (std::size_t part = 0; part < y.size(); ++part) {
                check::add_rows(y_[part], window.row, y[part], 1);
            }
        });
        for (Lanes<T>& of_part : y_) {
            merge_everywhere(work_.ranks, of_part.data, sum);
        }
        y_ = turned_by(check::direction_of(work_.node.alpha), std::move(y_));
        if (work_.node.conjugate_a) {
            turn_to_conjugate(y_);
        }
        for_each_part(work_.a, work_.windows.a, [&](const Window& window, const Matrix& a) {
            Lanes<T> y(window.cols, kLanes<T>);
            const std::vector<ConstView> parts = parts_of(a.view());
            for (std::size_t part = 0; part < parts.size(); ++part) {
                std::copy_n(y_[part].row(window.col), y.data.size(), y.data.begin());
                residual_.take_a(window.row, parts[part], y);
            }
        });
        for_each_part_of_c([&](const Window& window, const Matrix& c, const Matrix& c0) {
            const std::vector<double> weights = weights_of(window);
            PartLanes<T> x = drawn(window, weights);
            check::take_parts(residual_, &check::Residual<T>::take_c, window.row, c.view(), x, weights);
            if (c0.rows() > 0) {
                x = turned_by(check::direction_of(work_.node.beta), std::move(x));
                check::take_parts(residual_, &check::Residual<T>::take_c0, window.row, c0.view(), x, weights);
            }
        });
        merge_at_root(work_.ranks, residual_.sums.data, sum);
        for (std::vector<RowFacts>* facts : {&residual_.a_rows, &residual_.c_rows, &residual_.c0_rows}) {
            merge_at_root(work_.ranks, *facts, check::merge);
        }
        return is_root() ? judge() : VerifyResult{};
    }

private:
    /// Of the columns of a window.
    std::vector<double> weights_of(const Window& window) const {
        return kIsRounded<T>
                   ? std::vector<double>(weights_.begin() + window.col, weights_.begin() + window.col + window.cols)
                   : std::vector<double>();
    }
    PartLanes<T> drawn(const Window& window, const std::vector<double>& weights) const {
        return check::draw_parts<T>(seed_, y_.size(), window.col, window.cols, kLanes<T>, weights);
    }
    static check::JudgedProduct judged(const CheckWork& work) {
        const auto& [alpha, beta] = std::tie(work.node.alpha, work.node.beta);
        return {alpha.real(), beta.real(), work.plan.k, work.stored, check::JudgedBy{work.node.options.accuracy}, 1,
                alpha.imag(), beta.imag()};
    }

    VerifyResult judge() const {
        if constexpr (kIsRounded<T>) {
            check::StreamedResidual judge(product_);
            check::StreamedResidual::Strip strip;
            check::StreamedResidual::add_columns(strip, check::for_parts(b_cols_, y_.size()),
                                                 check::for_parts(weights_, y_.size()));
            residual_.judge(judge, strip, {0, plan_.m}, {0, plan_.m}, 0);
            return judge.result(kLanes<T>, seed_);
        } else {
            if (const std::int64_t wrong = residual_.first_wrong(0, plan_.m); wrong >= 0) {
                fail(ErrorCode::verification,
                     "C is certainly wrong: its sums over {} random vectors differ, the first in row {}",
                     check::kExactVectors, wrong);
            }
            return check::exact_vectors_agree(seed_);
        }
    }

    const check::JudgedProduct product_;
    PartLanes<T> y_;
    check::Residual<T> residual_;
    std::vector<RowFacts> b_cols_;
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
        if (work_.node.alpha != 0.0) {
            for_each_part(work_.a, work_.windows.a,
                          [&](const Window& window, const Matrix& a) { note(of_a_, window, a); });
            merge_everywhere(work_.ranks, of_a_.data, either);
            for_each_part(work_.b, work_.windows.b, [&](const Window& window, const Matrix& b) {
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
    return type == Type::boolean
               ? SampledRowsCheck::kWords * static_cast<std::int64_t>(sizeof(RowBits))
               : check::with_sum_type(type, []<class T>() { return static_cast<std::int64_t>(sizeof(T)) * kLanes<T>; });
}

}  // namespace

CheckedWindows checked_windows(const ProductPlan& plan, std::int64_t rank, const CheckReaders& readers) {
    const std::int64_t checked = (rank + readers.distance) % plan.rank->ranks;
    CheckedWindows windows;
    windows.c = result_units(plan, readers.all_read_own_results ? rank : checked);
    const bool all_hold_b = plan.rank->algorithm == ClusterAlgorithm::pegmm;  // so they take turns
    const auto add = [&](std::int64_t owner) {
        const HeldWindows held = held_windows(plan, owner);
        windows.a.insert(windows.a.end(), held.a.begin(), held.a.end());
        for (std::size_t i = 0; i < held.b.size(); ++i) {
            if (!all_hold_b || static_cast<std::int64_t>(i) % plan.rank->ranks == owner) {
                windows.b.push_back(held.b[i]);
            }
        }
    };
    if (!readers.root_reads_operands) {
        add(checked);
    }
    for (std::int64_t owner = 0; readers.root_reads_operands && rank == 0 && owner < plan.rank->ranks; ++owner) {
        add(owner);
    }
    return windows;
}

std::int64_t check_bytes(const ProductPlan& plan, const CheckedWindows& windows, bool adds) {
    const auto element = static_cast<std::int64_t>(element_bytes(plan.type));
    // Of complex numbers both parts have vectors, and factors turn them.
    const std::int64_t vectors = is_complex(plan.type) ? 4 : 1;
    const bool samples_rows = plan.type == Type::boolean;
    const bool is_exact = samples_rows || is_integer(plan.type) || plan.type == Type::gf2;
    const std::int64_t of_row = lane_bytes(plan.type);
    const std::int64_t outer = samples_rows ? checked_mul(2, plan.n) : plan.m;
    const std::int64_t merged = std::max(plan.k, samples_rows ? plan.n : plan.m);
    const std::int64_t facts = is_exact ? 0
                                        : checked_mul(checked_add(checked_mul(3, plan.m), checked_mul(2, plan.n)),
                                                      static_cast<std::int64_t>(sizeof(RowFacts)));
    std::int64_t part = 0;
    const auto consider = [&](std::int64_t rows, std::int64_t cols, int matrices) {
        part = std::max(part, checked_add(checked_mul(matrices * element, checked_mul(rows, cols)),
                                          checked_mul(vectors * of_row, checked_add(rows, cols))));
    };
    for (const std::vector<Window>* operand : {&windows.a, &windows.b}) {
        for (const Window& window : *operand) {
            consider(window.rows, window.cols, 1);
        }
    }
    for (const Window& unit : windows.c) {
        for (const Window& slice : slices(unit, plan.type)) {
            consider(slice.rows, slice.cols, adds ? 2 : 1);
        }
    }
    const std::int64_t inner = checked_mul(vectors, plan.k);
    return checked_add(checked_add(checked_mul(of_row, checked_add(checked_add(inner, outer), merged)), facts), part);
}

VerifyResult check_result(const CheckWork& work) {
    if (work.plan.type == Type::boolean) {
        return SampledRowsCheck(work).run();
    }
    return check::with_sum_type(work.plan.type, [&]<class T>() { return FreivaldsCheck<T>(work).run(); });
}

}  // namespace heptad
