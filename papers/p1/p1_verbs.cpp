#include "papers/p1/p1_verbs.hpp"

#include "base/device_layout.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/status.hpp"
#include "kernels/cuda/vendor/cublas_library.hpp"
#include "papers/p1/p1_addition.hpp"

namespace heptad::cuda {
namespace {

DeviceMatrix device_matrix(const ConstView& view) {
    return {const_cast<void*>(view.data), view.rows, view.cols, view.row_stride, view.col_stride};
}

/// -1, 0 and 1, in f64 and then in f32.
struct Constants {
    double f64[3] = {-1, 0, 1};
    float f32[3] = {-1, 0, 1};
};

}  // namespace

struct P1Verbs::State {
    P1Style style = P1Style::plain;
    cudaStream_t stream = nullptr;
    DeviceMemory constants, workspace;
    const CublasLibrary* library = nullptr;
    cublasHandle_t handle = nullptr;

    const Constants* on_device() const { return static_cast<const Constants*>(constants.data()); }
    const void* scalars(Type type) const {
        return type == Type::f64 ? static_cast<const void*>(on_device()->f64)
                                 : static_cast<const void*>(on_device()->f32);
    }
};

P1Verbs::P1Verbs(int device, void* stream, P1Style style) : state_(std::make_unique<State>()) {
    require_device(device);
    const DeviceScope scope(device);
    state_->style = style;
    state_->stream = static_cast<cudaStream_t>(stream);
    if (style != P1Style::device_scalars) {
        return;
    }
    const Constants values;
    state_->constants = DeviceMemory(device, sizeof(values), stream);
    state_->workspace = DeviceMemory(device, kCublasWorkspaceBytes, stream);
    check(cudaMemcpyAsync(state_->constants.data(), &values, sizeof(values), cudaMemcpyHostToDevice, state_->stream),
          "bring the scalars to the device");
    check(cudaStreamSynchronize(state_->stream), "wait for the scalars");
    state_->library = &cublas_library();
    check(state_->library->create(&state_->handle), "start");
    try {
        check(state_->library->set_stream(state_->handle, state_->stream), "take a stream");
        check(state_->library->set_workspace(state_->handle, state_->workspace.data(),
                                             static_cast<std::size_t>(kCublasWorkspaceBytes)),
              "take a workspace");
        check(state_->library->set_pointer_mode(state_->handle, CUBLAS_POINTER_MODE_DEVICE),
              "read scalars from the device");
    } catch (...) {
        state_->library->destroy(state_->handle);
        throw;
    }
}

P1Verbs::~P1Verbs() {
    if (state_->handle != nullptr) {
        state_->library->destroy(state_->handle);
    }
}

void P1Verbs::add(const View& target, double x, const ConstView& a, double y, const ConstView& b, double keep) {
    P1AdditionLaunch launch;
    launch.scalar = target.type == Type::f64 ? Scalar::f64 : Scalar::f32;
    launch.target = device_matrix(target);
    launch.a = device_matrix(a);
    launch.b = device_matrix(b);
    launch.x = x;
    launch.y = y;
    launch.keep = keep;
    launch.style = state_->style;
    launch.constants = state_->style == P1Style::device_scalars ? state_->scalars(target.type) : nullptr;
    check(static_cast<cudaError_t>(launch_p1_addition(launch, state_->stream)), "start an addition");
}

void P1Verbs::multiply(const ConstView& a, const ConstView& b, const View& c) {
    const bool wide = c.type == Type::f64;
    const cudaDataType_t data = wide ? CUDA_R_64F : CUDA_R_32F;
    const void* const zero = wide ? static_cast<const void*>(&state_->on_device()->f64[1])
                                  : static_cast<const void*>(&state_->on_device()->f32[1]);
    const void* const one = wide ? static_cast<const void*>(&state_->on_device()->f64[2])
                                 : static_cast<const void*>(&state_->on_device()->f32[2]);
    // Rows side by side are columns of the transpose: C' = B' A'.
    check(state_->library->gemm(state_->handle, CUBLAS_OP_N, CUBLAS_OP_N, c.cols, c.rows, a.cols, one, b.data, data,
                                b.row_stride, a.data, data, a.row_stride, zero, c.data, data, c.row_stride,
                                wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "multiply with scalars on the device");
}

}  // namespace heptad::cuda
