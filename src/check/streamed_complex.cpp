// Complex numbers in the streamed check, as check/complex_lanes.hpp has them.
#include <optional>
#include <vector>

#include "check/complex_lanes.hpp"
#include "check/streamed_lanes.hpp"
#include "check/verify_kinds.hpp"

namespace heptad {
namespace {

using check::Factor;
using check::PartLanes;
using check::RowFacts;

template <class T>
class ComplexLanes final : public StreamedLanes {
public:
    static constexpr int kLanes = kRoundedLanes;

    ComplexLanes(const check::JudgedProduct& product, int threads)
        : product_(check::as_real(product)),
          of_product_(check::direction_of({product.alpha, product.alpha_imaginary})),
          of_c0_(check::direction_of({product.beta, product.beta_imaginary})),
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
        const std::vector<RowFacts> facts = check::scan_columns(right, pool_);
        if (weights_.empty()) {  // by the first panel: the others have not been read yet
            weights_ = check::weights_of(facts);
            for (std::size_t part = 0; part < x_.size(); ++part) {
                x_[part] = check::draw_vectors<T>(splitmix_word(seed_, static_cast<std::int64_t>(part)), first_col_,
                                                  right.cols, kLanes, weights_.data());
            }
            x_of_c0_ = turned_by(of_c0_, x_);
        }
        check::merge_rows(cols_, 0, facts);
        y_ = turned_by(of_product_, multiply_parts(right, x_, pool_));
        y_is_for_conjugate_ = false;
    }
    void take_c0(std::int64_t row, const ConstView& strip) override {
        residual_->take_c0(row, part_of(strip, false), x_of_c0_[0], weights_);
        residual_->take_c0(row, part_of(strip, true), x_of_c0_[1], weights_);
    }
    void add_product(std::int64_t row, const ConstView& left, const ConstView& /*right*/) override {
        if (left.conjugate != y_is_for_conjugate_) {
            turn_to_conjugate(y_);
            y_is_for_conjugate_ = left.conjugate;
        }
        residual_->take_a(row, part_of(left, false), y_[0]);
        residual_->take_a(row, part_of(left, true), y_[1]);
    }
    void compare(std::int64_t row, const ConstView& part, const FileWindow& window, const FileWindow& strip) override {
        residual_->take_c(row, part_of(part, false), x_[0], weights_);
        residual_->take_c(row, part_of(part, true), x_[1], weights_);
        check::StreamedResidual::Strip judged;
        check::StreamedResidual::add_columns(judged, check::for_both_parts(cols_), check::for_both_parts(weights_));
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
    PartLanes<T> x_{2, check::Lanes<T>(0, kLanes)}, x_of_c0_ = x_, y_ = x_;
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
