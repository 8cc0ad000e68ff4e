// A cuBLAS that multiplies nothing and notes what it is asked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct MadeUpCall {
    std::string name;
    std::vector<std::int64_t> arguments;
};

struct MadeUpState {
    std::vector<MadeUpCall> calls;
    int questions = 0;  // about a handle or a descriptor
    int pointer_mode = 0, math_mode = 0, multiprocessors = 0;
};

/// Like version 12 and like version 11, which is linked with nothing but private_caller.cpp.
constexpr int kStatusOf12 = 1012, kStatusOf11 = 1011;
/// A cublasSgemm_v2 with this k calls cublasLtMatmul and cublasGemmEx by name, as cuBLAS does.
constexpr int kNested = 4242;

extern "C" MadeUpState made_up_cublas_12;

/// What a descriptor of cublasLt says, by attribute; here it is behind its pointer.
struct MadeUpDescriptor {
    std::int64_t values[40];
};
