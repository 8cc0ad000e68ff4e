#include "tune/plan_errors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/types.hpp"
#include "base/view_copy.hpp"
#include "check/exact_rows.hpp"
#include "check/float_facts.hpp"
#include "check/load.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kRows = 64, kWindows = 8, kWindowColumns = 64;

/// A matrix of the host whose rows lie one after another.
struct HostMatrix {
    HostMatrix(Type type, std::int64_t rows, std::int64_t cols)
        : bytes(static_cast<std::size_t>(rows * cols) * element_bytes(type)),
          view(bytes.data(), type, rows, cols, cols, 1) {}
    std::vector<std::byte> bytes;
    ConstView view;
};

}  // namespace

void copy_host_window(const ConstView& window, void* to) {
    copy_view(window, {to, window.type, window.rows, window.cols, window.cols, 1});
}

PlanErrors::PlanErrors(const ConstView& a, const ConstView& b, CopyWindow copy, ThreadPool& pool)
    : copy_(std::move(copy)), rows_(check::spread_rows(a.rows, kRows)) {
    const bool all_columns = b.cols <= kWindows * kWindowColumns;
    width_ = all_columns ? b.cols : kWindowColumns;
    first_columns_ = check::spread_rows(b.cols - width_ + 1, all_columns ? 1 : kWindows);
    HostMatrix left(a.type, static_cast<std::int64_t>(rows_.size()), a.cols);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        copy_(block(a, rows_[i], 0, 1, a.cols), left.bytes.data() + i * left.bytes.size() / rows_.size());
    }
    std::vector<std::int64_t> all_rows(rows_.size());
    std::iota(all_rows.begin(), all_rows.end(), 0);
    for (const std::int64_t first : first_columns_) {
        HostMatrix right(b.type, b.rows, width_);
        copy_(block(b, 0, first, b.rows, width_), right.bytes.data());
        if (a.type == Type::f64) {
            const std::vector<check::DoubleDouble> sums = check::exact_rows<double, check::DoubleDouble>(
                left.view, right.view, all_rows, pool,
                [](check::DoubleDouble& sum, double x, double y) { check::add_product(sum, x, y); });
            exact_.insert(exact_.end(), sums.begin(), sums.end());
        } else {
            for (const double sum : check::exact_rows<double, double>(
                     left.view, right.view, all_rows, pool, [](double&sum, double x, double y) { sum += x * y; })) {
                exact_.push_back({sum, 0});
            }
        }
        const std::vector<double> magnitudes = check::exact_rows<double, double>(
            left.view, right.view, all_rows, pool, [](double& sum, double x, double y) { sum += std::fabs(x * y); });
        magnitude_.insert(magnitude_.end(), magnitudes.begin(), magnitudes.end());
    }
}

double PlanErrors::of(const ConstView& c) const {
    HostMatrix window(c.type, 1, width_);
    std::vector<double> now(static_cast<std::size_t>(width_));
    double largest = 0;
    std::size_t at = 0;
    for (const std::int64_t first : first_columns_) {
        for (const std::int64_t row : rows_) {
            copy_(block(c, row, first, 1, width_), window.bytes.data());
            check::load_block(window.view, 0, 1, 0, width_, now.data());
            for (const double value : now) {
                const double error = std::fabs((value - exact_[at].hi) - exact_[at].lo);
                largest = error > 0 ? std::max(largest, error / magnitude_[at]) : largest;
                ++at;
            }
        }
    }
    return largest;
}

double error_growth(double plan_error, double library_error, Type type) {
    const double least = unit_roundoff(type);
    return std::max(plan_error, least) / std::max(library_error, least);
}

}  // namespace heptad
