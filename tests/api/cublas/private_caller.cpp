// Linked with another cuBLAS than the program, as a package of Python may be, and loaded privately.
#include <heptad/heptad.hpp>

#include "api/cublas/entry_signatures.hpp"
#include "api/cublas/made_up_cublas.hpp"

extern "C" heptad::cublas_testing::Gemm<int> cublasSgemm_v2;

extern "C" MadeUpState made_up_cublas_11;

extern "C" HEPTAD_API int private_questions() {
    return made_up_cublas_11.questions;
}

extern "C" HEPTAD_API int private_sgemm(int n) {
    const float one = 1;
    int handle = 0;
    return cublasSgemm_v2(&handle, 0, 0, n, n, n, &one, &handle, n, &handle, n, &one, &handle, n);
}
