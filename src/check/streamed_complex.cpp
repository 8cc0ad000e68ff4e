// Complex numbers in the streamed check: the real product of parts side by side,
//
//   [re C  im C] = [re A  im A] [ re B  im B]
//                               [-im B  re B],
//
// with random vectors X1 for the real parts of the columns and X2 for the imaginary ones. A factor alpha turns
// (Y1, Y2) = B X into (re alpha Y1 + im alpha Y2, re alpha Y2 - im alpha Y1), and beta does so with X itself for C0;
// the moduli are left to the residual.
#include <array>
#include <complex>
#include <optional>
#include <vector>

#include "base/complex_as_real.hpp"
#include "check/residual.hpp"
#include "check/streamed_lanes.hpp"
#include "check/verify_kinds.hpp"

namespace heptad {
namespace {

using check::RowFacts;
using Factor = std::complex<double>;

/// 1 where there is nothing to turn.
Factor direction_of(const Factor& factor) {
    return factor == Factor() ? Factor(1) : factor / std::abs(factor);
}

check::JudgedProduct as_real(const check::JudgedProduct& product) {
    check::JudgedProduct real = product;
    real.alpha = std::abs(Factor(product.alpha, product.alpha_imaginary));
    real.beta = std::abs(Factor(product.beta, product.beta_imaginary));
    real.k = 2 * product.k;
    real.type = part_type(product.type);
    return real;
}

template <class T>
using TwoLanes = std::array<check::Lanes<T>, 2>;

template <class T>
TwoLanes<T> turned_by(const Factor& direction, const TwoLanes<T>& y) {
    TwoLanes<T> turned{check::Lanes<T>(y[0].rows, y[0].lanes), check::Lanes<T>(y[0].rows, y[0].lanes)};
    add_rows(turned[0], 0, y[0], direction.real());
    add_rows(turned[0], 0, y[1], direction.imag());
    add_rows(turned[1], 0, y[1], direction.real());
    add_rows(turned[1], 0, y[0], -direction.imag());
    return turned;
}

template <class T>
class ComplexLanes final : public StreamedLanes {
public:
    static constexpr int kLanes = kRoundedLanes;

    ComplexLanes(const check::JudgedProduct& product, int threads)
        : product_(as_real(product)),
          of_product_(direction_of({product.alpha, product.alpha_imaginary})),
          of_c0_(direction_of({product.beta, product.beta_imaginary})),
          pool_(shared_pool(threads_or_default(threads))),
          seed_(check::seed_from_system()),
          judge_(product_) {}

    void begin_tile(const FileWindow& tile) override {
        residual_.emplace(tile.rows, kLanes, product_, pool_);
        first_col_ = tile.col;
        weights_.clear();
        cols_.assign(static_cast<std::size_t>(tile.cols), {});
    }
    void add_panel(const ConstView& right) override {
        const ConstView real = part_of(right, false), imaginary = part_of(right, true);
        std::vector<RowFacts> facts = check::scan_rows(transposed(real), pool_);
        check::merge_rows(facts, 0, check::scan_rows(transposed(imaginary), pool_));
        if (weights_.empty()) {  // by the first panel: the others have not been read yet
            weights_ = check::weights_of(facts);
            for (std::size_t part = 0; part < x_.size(); ++part) {
                x_[part] = check::draw_vectors<T>(splitmix_word(seed_, static_cast<std::int64_t>(part)), first_col_,
                                                  right.cols, kLanes, weights_.data());
            }
            x_of_c0_ = turned_by(of_c0_, x_);
        }
        check::merge_rows(cols_, 0, facts);
        const double sign = right.conjugate ? -1 : 1;
        TwoLanes<T> y{check::multiply_lanes(real, x_[0], pool_), check::multiply_lanes(real, x_[1], pool_)};
        add_rows(y[0], 0, check::multiply_lanes(imaginary, x_[1], pool_), sign);
        add_rows(y[1], 0, check::multiply_lanes(imaginary, x_[0], pool_), -sign);
        y_ = turned_by(of_product_, y);
        y_is_for_conjugate_ = false;
    }
    void take_c0(std::int64_t row, const ConstView& strip) override {
        residual_->take_c0(row, part_of(strip, false), x_of_c0_[0], weights_);
        residual_->take_c0(row, part_of(strip, true), x_of_c0_[1], weights_);
    }
    void add_product(std::int64_t row, const ConstView& left, const ConstView& /*right*/) override {
        if (left.conjugate != y_is_for_conjugate_) {
            add_rows(y_[1], 0, check::Lanes<T>(y_[1]), -2);
            y_is_for_conjugate_ = left.conjugate;
        }
        residual_->take_a(row, part_of(left, false), y_[0]);
        residual_->take_a(row, part_of(left, true), y_[1]);
    }
    void compare(std::int64_t row, const ConstView& part, const FileWindow& window, const FileWindow& strip) override {
        residual_->take_c(row, part_of(part, false), x_[0], weights_);
        residual_->take_c(row, part_of(part, true), x_[1], weights_);
        const auto twice = [](auto list) {
            list.insert(list.end(), list.begin(), list.begin() + static_cast<std::ptrdiff_t>(list.size()));
            return list;
        };
        check::StreamedResidual::Strip judged;
        check::StreamedResidual::add_columns(judged, twice(cols_), twice(weights_));
        judged.first_col = window.col;
        residual_->judge(judge_, judged, {row - (window.row - strip.row), strip.rows}, {row, part.rows}, window.row);
    }
    VerifyResult result() const override { return judge_.result(kLanes, seed_); }

private:
    check::JudgedProduct product_;
    Factor of_product_, of_c0_;
    ThreadPool& pool_;
    std::uint64_t seed_;
    std::int64_t first_col_ = 0;  // of the tile
    std::optional<check::Residual<T>> residual_;
    TwoLanes<T> x_{check::Lanes<T>(0, kLanes), check::Lanes<T>(0, kLanes)}, x_of_c0_ = x_, y_ = x_;
    bool y_is_for_conjugate_ = false;  // of A
    std::vector<RowFacts> cols_;       // of both parts of a column together
    std::vector<double> weights_;
    check::StreamedResidual judge_;
};

}  // namespace

std::unique_ptr<StreamedLanes> make_complex_lanes(const check::JudgedProduct& product, int threads) {
    if (product.type == Type::c64) {
        return std::make_unique<ComplexLanes<double>>(product, threads);
    }
    return std::make_unique<ComplexLanes<check::DoubleDouble>>(product, threads);
}

}  // namespace heptad
