// Return codes of CUDA and cuBLAS as errors of ours.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "base/error.hpp"

namespace heptad::cuda {

inline void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        cudaGetLastError();  // forget it, unless the device itself is broken
        fail(status == cudaErrorMemoryAllocation ? ErrorCode::resource : ErrorCode::internal,
             "CUDA could not {}: {} ({})", what, cudaGetErrorString(status), cudaGetErrorName(status));
    }
}

/// Of a kernel that was started (DeviceStatus of cuda_kernels.hpp).
inline void check_launch(int status, const char* what) {
    check(static_cast<cudaError_t>(status), what);
}

inline void check(cublasStatus_t status, const char* what) {
    if (status != CUBLAS_STATUS_SUCCESS) {
        fail(status == CUBLAS_STATUS_ALLOC_FAILED ? ErrorCode::resource : ErrorCode::internal,
             "cuBLAS could not {} (status {})", what, static_cast<int>(status));
    }
}

}  // namespace heptad::cuda
