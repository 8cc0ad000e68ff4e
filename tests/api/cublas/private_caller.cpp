// Linked with another cuBLAS than the program, as a package of Python may be, and loaded privately.
#include <heptad/heptad.hpp>

#include "api/cublas/entry_signatures.hpp"

extern "C" heptad::cublas_testing::Gemm<int> cublasSgemm_v2;

extern "C" HEPTAD_API int private_sgemm(int n) {
    const float one = 1;
    int handle = 0;
    return cublasSgemm_v2(&handle, 0, 0, n, n, n, &one, &handle, n, &handle, n, &one, &handle, n);
}
