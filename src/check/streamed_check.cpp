#include "check/streamed_check.hpp"

#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "check/complex_lanes.hpp"
#include "check/streamed_lanes.hpp"
#include "check/verify_kinds.hpp"

namespace heptad {
namespace {

using check::kIsRounded;
using check::PartLanes;
using check::Residual;
using check::RowFacts;

/// Numbers. Rounded sums are made in double, or double-double for f64; of complex numbers, by parts
/// (check/complex_lanes.hpp).
template <class T>
class NumberLanes final : public StreamedLanes {
public:
    static constexpr int kLanes = kIsRounded<T> ? kRoundedLanes : check::kExactLanes<T>;

    NumberLanes(const check::JudgedProduct& product, int threads)
        : product_(check::as_real(product)),
          of_product_(check::direction_of({product.alpha, product.alpha_imaginary})),
          of_c0_(check::direction_of({product.beta, product.beta_imaginary})),
          parts_(is_complex(product.type) ? 2 : 1),
          pool_(shared_pool(threads_or_default(threads))),
          seed_(check::seed_from_system()) {
        if constexpr (kIsRounded<T>) {
            judge_.emplace(product_);
        }
    }

    void begin_tile(const FileWindow& tile) override {
        residual_.emplace(tile.rows, kLanes, product_, pool_);
        first_col_ = tile.col;
        weights_.clear();
        if constexpr (kIsRounded<T>) {
            cols_.assign(static_cast<std::size_t>(tile.cols), {});
        } else {
            draw(tile.cols);
        }
    }
    void add_panel(const ConstView& right) override {
        if constexpr (kIsRounded<T>) {
            const std::vector<RowFacts> facts = check::scan_columns(right, pool_);
            if (weights_.empty()) {  // by the first panel: the others have not been read yet
                weights_ = check::weights_of(facts);
                draw(right.cols);
            }
            check::merge_rows(cols_, 0, facts);
        }
        y_ = turned_by(of_product_, multiply_parts(right, x_, pool_));
        y_is_for_conjugate_ = false;
    }
    void take_c0(std::int64_t row, const ConstView& strip) override {
        check::take_parts(*residual_, &Residual<T>::take_c0, row, strip, x_of_c0_.empty() ? x_ : x_of_c0_, weights_);
    }
    void add_product(std::int64_t row, const ConstView& left, const ConstView& /*right*/) override {
        if (left.conjugate != y_is_for_conjugate_) {
            turn_to_conjugate(y_);
            y_is_for_conjugate_ = left.conjugate;
        }
        check::take_parts(*residual_, &Residual<T>::take_a, row, left, y_);
    }
    void compare(std::int64_t row, const ConstView& part, const FileWindow& window, const FileWindow& strip) override {
        check::take_parts(*residual_, &Residual<T>::take_c, row, part, x_, weights_);
        if constexpr (kIsRounded<T>) {
            check::StreamedResidual::Strip judged;
            check::StreamedResidual::add_columns(judged, check::for_parts(cols_, parts_),
                                                 check::for_parts(weights_, parts_));
            judged.first_col = window.col;
            residual_->judge(*judge_, judged, {row - (window.row - strip.row), strip.rows}, {row, part.rows},
                             window.row);
        } else if (const std::int64_t wrong = residual_->first_wrong(row, part.rows); wrong >= 0) {
            fail(ErrorCode::verification,
                 "C is certainly wrong: a sum over random vectors differs in row {} of the columns from {} on",
                 window.row + wrong - row, window.col);
        }
    }
    VerifyResult result() const override {
        return judge_ ? judge_->result(kLanes, seed_) : check::exact_vectors_agree(seed_);
    }

private:
    /// Vectors for the first columns of the tile.
    void draw(std::int64_t cols) {
        x_ = check::draw_parts<T>(seed_, parts_, first_col_, cols, kLanes, weights_);
        if (parts_ > 1) {
            x_of_c0_ = turned_by(of_c0_, x_);
        }
    }

    check::JudgedProduct product_;
    check::Factor of_product_, of_c0_;
    std::size_t parts_;  // of a number
    ThreadPool& pool_;
    std::uint64_t seed_;
    std::int64_t first_col_ = 0;  // of the tile
    std::optional<Residual<T>> residual_;
    PartLanes<T> x_, x_of_c0_, y_;     // x_of_c0_: where it is not x_
    bool y_is_for_conjugate_ = false;  // of A
    std::vector<RowFacts> cols_;       // of all parts of a column together
    std::vector<double> weights_;
    std::optional<check::StreamedResidual> judge_;  // of rounded sums
};

}  // namespace

StreamedCheck::StreamedCheck(const FileSchedule& schedule, const check::JudgedProduct& product, int threads)
    : schedule_(schedule), adds_(product.beta != 0 || product.beta_imaginary != 0) {
    if (schedule.result().packed) {
        lanes_ = make_bit_lanes(product.type, schedule.result().cols, threads);
    } else {
        check::with_sum_type(product.type,
                             [&]<class T>() { lanes_ = std::make_unique<NumberLanes<T>>(product, threads); });
    }
}

StreamedCheck::~StreamedCheck() = default;

void StreamedCheck::before_product(const FileStep& step, const ConstView& left, const ConstView& right,
                                   const ConstView& strip) {
    const FileWindow tile = schedule_.tile_window(step.tile);
    const std::int64_t row = schedule_.result_window(step.tile, step.strip).row - tile.row;
    if (step.first_of_tile) {
        lanes_->begin_tile(tile);
    }
    if (step.strip == 0) {
        lanes_->add_panel(right);
    }
    if (step.panel == 0 && adds_ && strip.data != nullptr) {
        lanes_->take_c0(row, strip);
    }
    lanes_->add_product(row, left, right);
}

void StreamedCheck::after_rows(const FileStep& step, const FileWindow& window, const ConstView& rows) {
    lanes_->compare(window.row - schedule_.tile_window(step.tile).row, rows, window,
                    schedule_.result_window(step.tile, step.strip));
}

void StreamedCheck::after_band(const FileWindow& window, const ConstView& rows, const ConstView* c0) {
    if (c0 != nullptr) {
        lanes_->take_c0(window.row, *c0);
    }
    lanes_->compare(window.row, rows, window, schedule_.tile_window(0));
}

std::int64_t StreamedCheck::line_bytes(Type type) {
    if (type == Type::gf2 || type == Type::boolean) {
        return 2 * static_cast<std::int64_t>(sizeof(std::uint64_t));
    }
    if (is_integer(type)) {
        return check::kExactVectors * static_cast<std::int64_t>(element_bytes(type));
    }
    const auto sum = static_cast<std::int64_t>(type == Type::f64 || type == Type::c128 ? sizeof(check::DoubleDouble)
                                                                                       : sizeof(double));
    // Of complex numbers: vectors for both parts, times the factor of C0 too, and what is multiplied on the way.
    return (is_complex(type) ? 6 : 1) * kRoundedLanes * sum +
           static_cast<std::int64_t>(3 * sizeof(RowFacts) + 2 * sizeof(double));
}

VerifyResult StreamedCheck::result() const {
    return lanes_->result();
}

}  // namespace heptad
