// cuBLAS, opened at run time: a machine without it still runs the rest of the program.
#pragma once

#include <cublas_v2.h>

#include <string>

namespace heptad::cuda {

struct CublasLibrary {
    bool found = false;
    std::string path, version;
    std::string problem;  // why not found

    decltype(&cublasCreate_v2) create = nullptr;
    decltype(&cublasDestroy_v2) destroy = nullptr;
    decltype(&cublasSetStream_v2) set_stream = nullptr;
    decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
    decltype(&cublasSetPointerMode_v2) set_pointer_mode = nullptr;
    decltype(&cublasSetMathMode) set_math_mode = nullptr;
    decltype(&cublasGetProperty) get_property = nullptr;
    decltype(&cublasGemmEx_64) gemm = nullptr;
    decltype(&cublasGemmStridedBatchedEx_64) gemm_strided_batched = nullptr;
};

/// HEPTAD_CUBLAS (a path, or "none"), or the chosen one (chosen_cublas.hpp); without those it looks where the loader
/// does, then in the usual folder of the toolkit.
const CublasLibrary& cublas_library();

}  // namespace heptad::cuda
