#include "kernels/cuda/vendor/cublaslt_library.hpp"

#include <dlfcn.h>

#include <string>

#include "base/shared_state.hpp"
#include "kernels/cuda/vendor/cublas_library.hpp"

namespace heptad::cuda {
namespace {

CublasLtLibrary open_light_library() {
    CublasLtLibrary library;
    std::string path = cublas_library().path;
    const std::size_t name = path.rfind("libcublas.so");
    if (name == std::string::npos) {
        return library;
    }
    path.replace(name, std::string("libcublas.so").size(), "libcublasLt.so");
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        return library;
    }
    library.found = true;
    const auto bind = [&](const char* symbol, auto& function) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, symbol));
        library.found = library.found && function != nullptr;
    };
    bind("cublasLtCreate", library.create);
    bind("cublasLtMatmul", library.matmul);
    bind("cublasLtMatmulDescCreate", library.desc_create);
    bind("cublasLtMatmulDescDestroy", library.desc_destroy);
    bind("cublasLtMatmulDescSetAttribute", library.desc_set);
    bind("cublasLtMatrixLayoutCreate", library.layout_create);
    bind("cublasLtMatrixLayoutDestroy", library.layout_destroy);
    bind("cublasLtMatrixLayoutSetAttribute", library.layout_set);
    bind("cublasLtMatmulPreferenceCreate", library.preference_create);
    bind("cublasLtMatmulPreferenceDestroy", library.preference_destroy);
    bind("cublasLtMatmulPreferenceSetAttribute", library.preference_set);
    bind("cublasLtMatmulAlgoGetHeuristic", library.heuristic);
    bind("cublasLtMatmulAlgoCheck", library.algo_check);
    bind("cublasLtMatmulAlgoConfigGetAttribute", library.algo_config);
    return library;
}

}  // namespace

const CublasLtLibrary& cublaslt_library() {
    static constinit Once<CublasLtLibrary> library;
    return library.get(open_light_library);
}

}  // namespace heptad::cuda
