#include "check/streamed_check.hpp"

#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "check/residual.hpp"
#include "check/streamed_lanes.hpp"
#include "check/verify_kinds.hpp"

namespace heptad {
namespace {

using check::kIsRounded;
using check::RowFacts;

/// Numbers. Rounded sums are made in double, or double-double for f64.
template <class T>
class NumberLanes final : public StreamedLanes {
public:
    static constexpr int kLanes = kIsRounded<T> ? kRoundedLanes : check::kExactLanes<T>;

    NumberLanes(const check::JudgedProduct& product, int threads)
        : product_(product), pool_(shared_pool(threads_or_default(threads))), seed_(check::seed_from_system()) {
        if constexpr (kIsRounded<T>) {
            judge_.emplace(product);
        }
    }

    void begin_tile(const FileWindow& tile) override {
        residual_.emplace(tile.rows, kLanes, product_, pool_);
        first_col_ = tile.col;
        weights_.clear();
        if constexpr (kIsRounded<T>) {
            cols_.assign(static_cast<std::size_t>(tile.cols), {});
        } else {
            x_ = check::draw_vectors<T>(seed_, tile.col, tile.cols, kLanes, nullptr);
        }
    }
    void add_panel(const ConstView& right) override {
        if constexpr (kIsRounded<T>) {
            const std::vector<RowFacts> facts = check::scan_rows(transposed(right), pool_);
            if (weights_.empty()) {  // by the first panel: the others have not been read yet
                weights_ = check::weights_of(facts);
                x_ = check::draw_vectors<T>(seed_, first_col_, right.cols, kLanes, weights_.data());
            }
            check::merge_rows(cols_, 0, facts);
        }
        bx_ = check::multiply_lanes(right, x_, pool_);
    }
    void take_c0(std::int64_t row, const ConstView& strip) override { residual_->take_c0(row, strip, x_, weights_); }
    void add_product(std::int64_t row, const ConstView& left, const ConstView&) override {
        residual_->take_a(row, left, bx_);
    }
    void compare(std::int64_t row, const ConstView& part, const FileWindow& window, const FileWindow& strip) override {
        residual_->take_c(row, part, x_, weights_);
        if constexpr (kIsRounded<T>) {
            check::StreamedResidual::Strip judged;
            check::StreamedResidual::add_columns(judged, cols_, weights_);
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
    check::JudgedProduct product_;
    ThreadPool& pool_;
    std::uint64_t seed_;
    std::int64_t first_col_ = 0;  // of the tile
    std::optional<check::Residual<T>> residual_;
    check::Lanes<T> x_{0, kLanes}, bx_{0, kLanes};
    std::vector<RowFacts> cols_;
    std::vector<double> weights_;
    std::optional<check::StreamedResidual> judge_;  // of rounded sums
};

}  // namespace

StreamedCheck::StreamedCheck(const FileSchedule& schedule, const check::JudgedProduct& product, int threads)
    : schedule_(schedule), adds_(product.beta != 0 || product.beta_imaginary != 0) {
    if (schedule.result().packed) {
        lanes_ = make_bit_lanes(product.type, schedule.result().cols, threads);
    } else if (is_complex(product.type)) {
        lanes_ = make_complex_lanes(product, threads);
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
