// Heptad on NVIDIA devices, in CUDA's own types. Needs CUDA's headers; calls nothing of CUDA itself.
//
//   using View = heptad::DeviceView<__half>;
//   heptad::multiply(1.0, View::row_major(a, m, k), View::row_major(b, k, n), 0.0, View::row_major(c, m, n),
//                    heptad::Options(), heptad::on_stream(stream));
//
// Products of matrices on a device run there, in stream order. The call returns once they are enqueued.
#pragma once

#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <driver_types.h>

#include <heptad/heptad.hpp>

namespace heptad {

template <>
struct TypeOf<__half> {
    static constexpr Type value = Type::f16;
};
template <>
struct TypeOf<__nv_bfloat16> {
    static constexpr Type value = Type::bf16;
};

template <>
struct TypeOf<cuComplex> {
    static constexpr Type value = Type::c64;
};
template <>
struct TypeOf<cuDoubleComplex> {
    static constexpr Type value = Type::c128;
};

/// A window on a device's memory. The host cannot read elements, so there is no access to single ones.
template <class T>
class DeviceView {
public:
    static DeviceView row_major(T* data, std::int64_t rows, std::int64_t cols) {
        return row_major(data, rows, cols, cols);
    }
    static DeviceView row_major(T* data, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
        return DeviceView(MatrixView<T>::row_major(data, rows, cols, stride));
    }
    static DeviceView column_major(T* data, std::int64_t rows, std::int64_t cols) {
        return column_major(data, rows, cols, rows);
    }
    static DeviceView column_major(T* data, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
        return DeviceView(MatrixView<T>::column_major(data, rows, cols, stride));
    }

    T* data() const { return view_.data; }
    std::int64_t rows() const { return view_.rows; }
    std::int64_t cols() const { return view_.cols; }
    DeviceView transposed() const { return DeviceView(view_.transposed()); }
    DeviceView block(std::int64_t row, std::int64_t col, std::int64_t row_count, std::int64_t col_count) const {
        return DeviceView(view_.block(row, col, row_count, col_count));
    }
    operator DeviceView<const T>() const requires(!std::is_const_v<T>) { return DeviceView<const T>(view_); }

    /// What the functions of heptad.hpp take; `as`: floats as tf32, which tensor cores multiply.
    operator ConstAnyView() const { return as(TypeOf<std::remove_const_t<T>>::value); }
    operator AnyView() const requires(!std::is_const_v<T>) { return as(TypeOf<T>::value); }
    AnyView as(Type type) const requires(!std::is_const_v<T>) { return any<AnyView>(type); }
    ConstAnyView as(Type type) const requires(std::is_const_v<T>) { return any<ConstAnyView>(type); }

    explicit DeviceView(const MatrixView<T>& view) : view_(view) {}

private:
    template <class Any>
    Any any(Type type) const {
        return {view_.data, type, view_.rows, view_.cols, view_.row_stride, view_.col_stride};
    }
    MatrixView<T> view_;
};

/// A context whose products on a device are enqueued on this stream.
inline Context on_stream(cudaStream_t stream) {
    Context context;
    context.set_stream(stream);
    return context;
}

}  // namespace heptad
