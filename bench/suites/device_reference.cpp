#include "bench/suites/device_reference.hpp"

#include <algorithm>
#include <cmath>

#include "base/thread_pool.hpp"
#include "bench/suites/device_operand.hpp"
#include "cli/interrupt.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kRowsAtOnce = 1024;  // brought over, and converted, together

template <class Act>
void for_row_panels(std::int64_t rows, Act&& act) {
    for (std::int64_t first = 0; first < rows; first += kRowsAtOnce) {
        stop_if_interrupted();
        act(first, std::min(kRowsAtOnce, rows - first));
    }
}

/// The matrix in f64 on the device. Notes its largest entry.
DeviceOperand widened(const Matrix& matrix, double& largest, const cuda::Stream& stream) {
    DeviceOperand operand(Type::f64, matrix.rows(), matrix.cols(), stream);
    const std::int64_t cols = matrix.cols();
    Matrix panel(Type::f64, std::min(kRowsAtOnce, matrix.rows()), cols);
    std::vector<double> row_largest(static_cast<std::size_t>(matrix.rows()), 0.0);
    for_row_panels(matrix.rows(), [&](std::int64_t first, std::int64_t count) {
        shared_pool(threads_or_default()).run(count, [&](std::int64_t i) {
            const float* const from = static_cast<const float*>(matrix.data()) + (first + i) * cols;
            double* const to = static_cast<double*>(panel.data()) + i * cols;
            double& most = row_largest[static_cast<std::size_t>(first + i)];
            for (std::int64_t j = 0; j < cols; ++j) {
                to[j] = static_cast<double>(from[j]);
                most = std::max(most, std::abs(to[j]));
            }
        });
        const auto row_bytes = cols * static_cast<std::int64_t>(sizeof(double));
        cuda::copy_rows(panel.data(), row_bytes, element_pointer(operand.view, first, 0), row_bytes, row_bytes, count,
                        stream.handle());
        stream.synchronize();  // before the panel is written again
    });
    for (const double most : row_largest) {
        largest = std::max(largest, most);
    }
    return operand;
}

}  // namespace

DeviceReference::DeviceReference(const Matrix& a, const Matrix& b, cuda::CudaBackend& backend,
                                 const cuda::Stream& stream)
    : stream_(&stream), exact_(Type::f64, a.rows(), b.cols()) {
    double max_a = 0, max_b = 0;
    const DeviceOperand wide_a = widened(a, max_a, stream), wide_b = widened(b, max_b, stream);
    const DeviceOperand wide_c(Type::f64, a.rows(), b.cols(), stream);
    scale_ = max_a * max_b;
    const Product product{1, wide_a.view, wide_b.view, 0, wide_c.view};
    backend.multiply({&product, 1}, "cublas");
    cuda::copy_rows(wide_c.view.data, exact_.size_bytes(), exact_.data(), exact_.size_bytes(), exact_.size_bytes(), 1,
                    stream.handle());
    stream.synchronize();
}

Difference DeviceReference::error_of(const ConstView& c) const {
    Matrix panel(Type::f32, std::min(kRowsAtOnce, c.rows), c.cols);
    const auto row_bytes = c.cols * static_cast<std::int64_t>(sizeof(float));
    Difference error;
    for_row_panels(c.rows, [&](std::int64_t first, std::int64_t count) {
        cuda::copy_rows(element_pointer(c, first, 0), row_bytes, panel.data(), row_bytes, row_bytes, count,
                        stream_->handle());
        stream_->synchronize();
        error.add(difference(block(ConstView(panel), 0, 0, count, c.cols),
                             block(ConstView(exact_), first, 0, count, c.cols)));
    });
    return error;
}

}  // namespace heptad::cli
