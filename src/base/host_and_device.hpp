// Functions that kernels and the host share, and headers that both compile.
#pragma once

#if defined(__CUDACC__)
#define HEPTAD_HOST_AND_DEVICE __host__ __device__ __forceinline__
#define HEPTAD_UNROLL _Pragma("unroll")
#else
#define HEPTAD_HOST_AND_DEVICE inline
#define HEPTAD_UNROLL
#endif
