#include "bench/suites/difference.hpp"

#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "base/thread_pool.hpp"

namespace heptad {
namespace {

Difference row_difference(const ConstView& f32, const ConstView& f64, std::int64_t row) {
    Difference result;
    result.entries = f32.cols;
    const float* const x = static_cast<const float*>(f32.data) + row * f32.row_stride;
    const double* const y = static_cast<const double*>(f64.data) + row * f64.row_stride;
    for (std::int64_t j = 0; j < f32.cols; ++j) {
        const double here = std::abs(static_cast<double>(x[j * f32.col_stride]) - y[j * f64.col_stride]);
        result.max_abs = here > result.max_abs || std::isnan(here) ? here : result.max_abs;
        result.sum_abs += here;
    }
    return result;
}

}  // namespace

void Difference::add(const Difference& part) {
    max_abs = part.max_abs > max_abs || std::isnan(part.max_abs) ? part.max_abs : max_abs;
    sum_abs += part.sum_abs;
    entries += part.entries;
}

Difference difference(const ConstView& f32, const ConstView& f64, int threads) {
    if (f32.type != Type::f32 || f64.type != Type::f64 || f32.rows != f64.rows || f32.cols != f64.cols) {
        fail(ErrorCode::input, "a matrix of {} x {} {} has no entries to compare with those of {} x {} {}; {}",
             f32.rows, f32.cols, type_name(f32.type), f64.rows, f64.cols, type_name(f64.type),
             "give an f32 and an f64 matrix of one shape");
    }
    std::vector<Difference> rows(static_cast<std::size_t>(f32.rows));
    shared_pool(threads_or_default(threads)).run(f32.rows, [&](std::int64_t i) {
        rows[static_cast<std::size_t>(i)] = row_difference(f32, f64, i);
    });
    Difference result;
    for (const Difference& row : rows) {  // in their order, so that the sum has the same bits every time
        result.add(row);
    }
    return result;
}

}  // namespace heptad
