// Some elements of every line of a matrix, read so that neighbouring threads read neighbouring memory.
#pragma once

#include <type_traits>

#include "kernels/cuda/device/device_code.cuh"

namespace heptad::cuda {
namespace {

constexpr int kSampleThreads = 256;

template <int Most>
struct LineSample {
    const void* data;
    std::int64_t lines, line_stride, along_stride;
    bool lines_lie_side_by_side;
    int places;
    std::int64_t place[Most];  // along every line
};

/// Lines are rows. Those of a matrix without any unit stride are walked one by one.
template <int Most>
void set_rows(LineSample<Most>& sample, const DeviceMatrix& x) {
    sample.data = x.data;
    sample.lines = x.rows;
    sample.line_stride = x.row_stride;
    sample.along_stride = x.col_stride;
    const bool by_rows = x.col_stride == 1 || x.cols == 1;
    sample.lines_lie_side_by_side = !by_rows && (x.row_stride == 1 || x.rows == 1);
}

template <class T>
__device__ __forceinline__ double absolute_value(T x) {
    return fabs(static_cast<double>(widen(x)));
}
template <class T, class Sample>
__device__ __forceinline__ double magnitude_at(const Sample& sample, std::int64_t line, std::int64_t place) {
    const T* const data = static_cast<const T*>(sample.data);
    return absolute_value(data[line * sample.line_stride + place * sample.along_stride]);
}
/// Number `t` of the places; 0 where there is no such line or place.
template <class T, class Sample>
__device__ __forceinline__ double sampled_magnitude(const Sample& sample, std::int64_t line, int t) {
    return line < sample.lines && t < sample.places ? magnitude_at<T>(sample, line, sample.place[t]) : 0.0;
}

}  // namespace
}  // namespace heptad::cuda
