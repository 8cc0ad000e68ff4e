#include "kernels/cuda/vendor/cublas_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "base/shared_state.hpp"
#include "kernels/cuda/vendor/chosen_cublas.hpp"

namespace heptad::cuda {
namespace {

template <class Function>
void bind(void* library, const char* name, Function& function, std::string& problem) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) {
        problem = fmt::format("it has no {}", name);
    }
}

/// The interfaces used here (64-bit sizes) came with version 12.
std::vector<std::string> candidates() {
    if (const char* chosen = std::getenv("HEPTAD_CUBLAS"); chosen != nullptr && *chosen != '\0') {
        return {chosen};
    }
    if (std::string chosen = chosen_cublas(); !chosen.empty()) {
        return {std::move(chosen)};
    }
    std::vector<std::string> paths;
    for (const int major : {CUBLAS_VER_MAJOR, 13, 12}) {
        paths.push_back(fmt::format("libcublas.so.{}", major));
        paths.push_back(fmt::format("/usr/local/cuda/lib64/libcublas.so.{}", major));
    }
    return paths;
}

CublasLibrary open_library() {
    CublasLibrary library;
    for (const std::string& path : candidates()) {
        void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) {
            continue;
        }
        std::string problem;
        bind(handle, "cublasCreate_v2", library.create, problem);
        bind(handle, "cublasDestroy_v2", library.destroy, problem);
        bind(handle, "cublasSetStream_v2", library.set_stream, problem);
        bind(handle, "cublasSetWorkspace_v2", library.set_workspace, problem);
        bind(handle, "cublasSetPointerMode_v2", library.set_pointer_mode, problem);
        bind(handle, "cublasSetMathMode", library.set_math_mode, problem);
        bind(handle, "cublasGetProperty", library.get_property, problem);
        bind(handle, "cublasGemmEx_64", library.gemm, problem);
        bind(handle, "cublasGemmStridedBatchedEx_64", library.gemm_strided_batched, problem);
        if (!problem.empty()) {
            library.problem = fmt::format("{}: {}", path, problem);
            continue;
        }
        int major = 0, minor = 0, patch = 0;
        library.get_property(MAJOR_VERSION, &major);
        library.get_property(MINOR_VERSION, &minor);
        library.get_property(PATCH_LEVEL, &patch);
        library.version = fmt::format("{}.{}.{}", major, minor, patch);
        library.path = path;
        library.found = true;
        library.problem.clear();
        return library;  // stays open for the rest of the process
    }
    if (library.problem.empty()) {
        library.problem =
            "libcublas.so was not found; install the CUDA toolkit's cuBLAS or set HEPTAD_CUBLAS to its path";
    }
    return library;
}

}  // namespace

const CublasLibrary& cublas_library() {
    static constinit Once<CublasLibrary> library;
    return library.get(open_library);
}

}  // namespace heptad::cuda
