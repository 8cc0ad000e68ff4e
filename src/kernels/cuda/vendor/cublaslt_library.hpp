// cuBLASLt, opened at run time: the part of cuBLAS in which the caller chooses the kernel.
#pragma once

#include <cublasLt.h>

namespace heptad::cuda {

struct CublasLtLibrary {
    bool found = false;
    decltype(&cublasLtCreate) create = nullptr;
    decltype(&cublasLtMatmul) matmul = nullptr;
    decltype(&cublasLtMatmulDescCreate) desc_create = nullptr;
    decltype(&cublasLtMatmulDescDestroy) desc_destroy = nullptr;
    decltype(&cublasLtMatmulDescSetAttribute) desc_set = nullptr;
    decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
    decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
    decltype(&cublasLtMatrixLayoutSetAttribute) layout_set = nullptr;
    decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
    decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
    decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
    decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
    decltype(&cublasLtMatmulAlgoCheck) algo_check = nullptr;
    decltype(&cublasLtMatmulAlgoConfigGetAttribute) algo_config = nullptr;
};

/// Beside the cuBLAS that was opened; not found where that was not.
const CublasLtLibrary& cublaslt_library();

}  // namespace heptad::cuda
