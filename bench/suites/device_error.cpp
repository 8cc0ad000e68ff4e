#include "bench/suites/device_error.hpp"

#include <algorithm>

#include "base/complex_as_real.hpp"
#include "base/thread_pool.hpp"
#include "base/types.hpp"
#include "bench/suites/measured_error.hpp"
#include "cli/interrupt.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kSampledLines = 32;  // rows, and as many columns

/// Lines first, first + step, ... up to the very last one, which belongs to the fringe if there is one. The step is
/// odd: blocks and tiles have even sizes, and the samples shall fall on different places of them.
struct Spread {
    std::int64_t first = 0, step = 1, count = 0;
    std::int64_t line(std::int64_t i) const { return first + i * step; }
};

Spread spread_over(std::int64_t length) {
    Spread spread;
    spread.count = std::min(kSampledLines, length);
    if (spread.count > 1) {
        spread.step = (length - 1) / (spread.count - 1);
        spread.step -= spread.step % 2 == 0 ? 1 : 0;
    }
    spread.first = length - 1 - (spread.count - 1) * spread.step;
    return spread;
}

Matrix fetch_rows(const ConstView& from, const Spread& rows, const cuda::Stream& stream) {
    Matrix fetched(from.type, rows.count, from.cols);
    const std::int64_t bytes = from.cols * static_cast<std::int64_t>(element_bytes(from.type));
    for (std::int64_t i = 0; i < rows.count; ++i) {
        cuda::copy_rows(element_pointer(from, rows.line(i), 0), bytes, element_pointer(fetched.view(), i, 0), bytes,
                        bytes, 1, stream.handle());
    }
    stream.synchronize();
    return fetched;
}

/// Entries of a column lie far apart: they are gathered on the device first.
Matrix fetch_columns(const ConstView& from, const Spread& columns, const cuda::Stream& stream) {
    Matrix fetched(from.type, from.rows, columns.count, Order::column_major);
    const cuda::DeviceMemory gathered(stream.device(), fetched.size_bytes(), stream.handle());
    const std::int64_t element = static_cast<std::int64_t>(element_bytes(from.type));
    for (std::int64_t j = 0; j < columns.count; ++j) {
        cuda::copy_rows(element_pointer(from, 0, columns.line(j)), from.row_stride * element,
                        static_cast<std::byte*>(gathered.data()) + j * from.rows * element, element, element, from.rows,
                        stream.handle());
    }
    cuda::copy_rows(gathered.data(), fetched.size_bytes(), fetched.data(), fetched.size_bytes(), fetched.size_bytes(),
                    1, stream.handle());
    stream.synchronize();
    return fetched;
}

/// What a scan takes: the parts of complex rows.
ConstView as_reals(const ConstView& rows) {
    return is_complex(rows.type) ? rows_as_reals(rows) : rows;
}

/// B of the real product that a complex one is.
Matrix expanded(Matrix b) {
    if (!is_complex(b.type())) {
        return b;
    }
    Matrix real(part_type(b.type()), 2 * b.rows(), 2 * b.cols());
    expand_right(ConstView(b), false, real.data(), shared_pool(threads_or_default()));
    return real;
}

/// Rows side by side, as the real product has them.
Matrix dense_reals(const ConstView& c) {
    Matrix real(part_type(c.type), c.rows, 2 * c.cols);
    copy_rows(c, real.data(), shared_pool(threads_or_default()));
    return real;
}

}  // namespace

DeviceError::DeviceError(const ConstView& a, const ConstView& b, cuda::CudaBackend& backend, const cuda::Stream& stream)
    : stream_(&stream),
      rows_of_a_(fetch_rows(a, spread_over(a.rows), stream)),
      columns_of_b_(expanded(fetch_columns(b, spread_over(b.cols), stream))),
      max_a_(is_integer(a.type) ? 1 : backend.scan(as_reals(a)).max_abs),
      max_b_(is_integer(b.type) ? 1 : backend.scan(as_reals(b)).max_abs) {}

double DeviceError::of(const ConstView& c) const {
    const Matrix rows = fetch_rows(c, spread_over(c.rows), *stream_);
    const Spread columns = spread_over(c.cols);
    const ConstView sampled(element_pointer(rows.view(), 0, columns.first), c.type, rows.rows(), columns.count, c.cols,
                            columns.step);
    ErrorOptions options;
    options.rows = kSampledLines;
    options.cancel = interrupt_token();
    const double error =
        is_complex(c.type)
            ? measure_error(as_reals(ConstView(rows_of_a_)), columns_of_b_, dense_reals(sampled), options).max_abs
            : measure_error(rows_of_a_, columns_of_b_, sampled, options).max_abs;
    return error == 0 ? error : error / max_a_ / max_b_;
}

}  // namespace heptad::cli
