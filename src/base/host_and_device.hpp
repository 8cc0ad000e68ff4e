// Functions that kernels and the host share, and headers that both compile.
#pragma once

#if defined(__CUDACC__)
#define HEPTAD_HOST_AND_DEVICE __host__ __device__ __forceinline__
#else
#define HEPTAD_HOST_AND_DEVICE inline
#endif
