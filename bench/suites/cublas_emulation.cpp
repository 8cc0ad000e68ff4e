#include "bench/suites/cublas_emulation.hpp"

#include <cuda_runtime.h>
#include <dlfcn.h>

#include "base/error.hpp"
#include "kernels/cuda/device/status.hpp"
#include "kernels/cuda/vendor/cublas_library.hpp"

namespace heptad::cuda {

#if CUBLAS_VERSION >= 130100

namespace {

struct Functions {
    decltype(&cublasSetFixedPointEmulationMantissaControl) set_control = nullptr;
    decltype(&cublasSetFixedPointEmulationMaxMantissaBitCount) set_most_bits = nullptr;
    decltype(&cublasSetFixedPointEmulationMantissaBitCountPointer) set_bits_pointer = nullptr;
    cublasStatus_t (*set_strategy)(cublasHandle_t, cublasEmulationStrategy_t) = nullptr;
};

Functions functions() {
    Functions found;
    const CublasLibrary& library = cublas_library();
    void* const opened = library.found ? dlopen(library.path.c_str(), RTLD_NOW | RTLD_NOLOAD) : nullptr;
    if (opened == nullptr) {
        return found;
    }
    const auto bind = [&](const char* name, auto& function) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(opened, name));
    };
    bind("cublasSetFixedPointEmulationMantissaControl", found.set_control);
    bind("cublasSetFixedPointEmulationMaxMantissaBitCount", found.set_most_bits);
    bind("cublasSetFixedPointEmulationMantissaBitCountPointer", found.set_bits_pointer);
    bind("cublasSetEmulationStrategy", found.set_strategy);
    dlclose(opened);  // cublas_library() keeps it open
    return found;
}

}  // namespace

struct CublasEmulation::State {
    cublasHandle_t handle = nullptr;
    cudaStream_t stream = nullptr;
    DeviceMemory workspace, bits;
};

bool CublasEmulation::is_there() {
    const Functions found = functions();
    return found.set_control != nullptr && found.set_most_bits != nullptr && found.set_bits_pointer != nullptr &&
           found.set_strategy != nullptr;
}

CublasEmulation::CublasEmulation(int device, void* stream, int bits, std::int64_t workspace_bytes)
    : state_(std::make_unique<State>()) {
    const Functions found = functions();
    const CublasLibrary& library = cublas_library();
    State& state = *state_;
    state.stream = static_cast<cudaStream_t>(stream);
    state.workspace = DeviceMemory(device, workspace_bytes, stream);
    state.bits = DeviceMemory(device, sizeof(int), stream);
    check(library.create(&state.handle), "open cuBLAS for its emulation");
    check(library.set_stream(state.handle, state.stream), "set the stream of the emulation");
    check(library.set_workspace(state.handle, state.workspace.data(), static_cast<std::size_t>(workspace_bytes)),
          "set the workspace of the emulation");
    check(found.set_strategy(state.handle, CUBLAS_EMULATION_STRATEGY_EAGER), "ask for the emulation");
    check(found.set_control(state.handle, CUDA_EMULATION_MANTISSA_CONTROL_FIXED), "fix the bits of the emulation");
    check(found.set_most_bits(state.handle, bits), "set the bits of the emulation");
    check(found.set_bits_pointer(state.handle, static_cast<int*>(state.bits.data())), "report the bits");
}

CublasEmulation::~CublasEmulation() {
    if (state_->handle != nullptr) {
        cublas_library().destroy(state_->handle);
    }
}

void CublasEmulation::multiply(const Product& product) {
    const double one = 1, zero = 0;
    const auto m = product.c.rows, n = product.c.cols, k = product.a.cols;
    // By columns, C' = B' A'.
    check(cublas_library().gemm(state_->handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, product.b.data, CUDA_R_64F,
                                product.b.row_stride, product.a.data, CUDA_R_64F, product.a.row_stride, &zero,
                                product.c.data, CUDA_R_64F, product.c.row_stride,
                                CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT, CUBLAS_GEMM_DEFAULT),
          "multiply by the emulation");
}

int CublasEmulation::bits_used() {
    int bits = 0;
    check(cudaMemcpyAsync(&bits, state_->bits.data(), sizeof(bits), cudaMemcpyDeviceToHost, state_->stream),
          "fetch the bits of the emulation");
    check(cudaStreamSynchronize(state_->stream), "wait for the emulation");
    return bits > 0 ? bits : 0;
}

#else  // the headers of an older CUDA do not know it

struct CublasEmulation::State {};

bool CublasEmulation::is_there() {
    return false;
}
CublasEmulation::CublasEmulation(int, void*, int, std::int64_t) {
    fail(ErrorCode::resource, "this build has no emulation by cuBLAS, because its CUDA headers are older than 13.1");
}
CublasEmulation::~CublasEmulation() = default;
void CublasEmulation::multiply(const Product&) {}
int CublasEmulation::bits_used() {
    return 0;
}

#endif

}  // namespace heptad::cuda
