// Who calls, and what the dynamic linker would have given him without us.
//
// A process may have several cuBLAS: PyTorch's wheel brings its own, another package another version. A handle of one
// means nothing to the other, so the real function is looked for as the linker would have done it for the object that
// calls:
//   1. in what that object was linked with, which is where wheels have theirs
//   2. after this library in the order of the dynamic linker
//   3. in any other object of the process, newest first
// Nothing is loaded. Each is found at its first call and kept.
//
// Heptad's own leaves call cuBLAS through pointers that they look up in the library which the first call belongs to
// (kernels/cuda/vendor/chosen_cublas.hpp), so that a process never gets a second one and our entries are never met by
// them. What cuBLAS calls of itself by name, as cublasGemmEx does of cublasLtMatmul, does meet ours, and is passed on.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "api/cublas/cublas_abi.hpp"
#include "api/drop_in/loaded_function.hpp"
#include "api/drop_in/pass_on.hpp"

namespace heptad::cublas {

#define HEPTAD_CUBLAS_OF_TYPE(X, t)  \
    X(cublas##t##gemm_v2)            \
    X(cublas##t##gemm_v2_64)         \
    X(cublas##t##gemmStridedBatched) \
    X(cublas##t##gemmStridedBatched_64) X(cublas##t##gemmBatched) X(cublas##t##gemmBatched_64)
/// Our entries, and what we ask of the library ourselves.
#define HEPTAD_CUBLAS_FUNCTIONS(X)    \
    HEPTAD_CUBLAS_OF_TYPE(X, S)       \
    HEPTAD_CUBLAS_OF_TYPE(X, D)       \
    HEPTAD_CUBLAS_OF_TYPE(X, C)       \
    HEPTAD_CUBLAS_OF_TYPE(X, Z)       \
    X(cublasGemmEx)                   \
    X(cublasGemmEx_64)                \
    X(cublasGemmStridedBatchedEx)     \
    X(cublasGemmStridedBatchedEx_64)  \
    X(cublasGemmBatchedEx)            \
    X(cublasGemmBatchedEx_64)         \
    X(cublasLtMatmul)                 \
    X(cublasGetStream_v2)             \
    X(cublasGetPointerMode_v2)        \
    X(cublasGetMathMode)              \
    X(cublasGetSmCountTarget)         \
    X(cublasLtMatmulDescGetAttribute) \
    X(cublasLtMatrixLayoutGetAttribute)

enum class Function : std::uint8_t {
#define HEPTAD_ENUMERATOR(name) name,
    HEPTAD_CUBLAS_FUNCTIONS(HEPTAD_ENUMERATOR)
#undef HEPTAD_ENUMERATOR
        count
};
const char* function_name(Function function);

class CallingObject {
public:
    explicit CallingObject(std::string path);
    CallingObject(const CallingObject&) = delete;
    CallingObject& operator=(const CallingObject&) = delete;

    /// As a pointer of its type; null: the process has none.
    template <class Pointer>
    Pointer function(Function which) {
        drop_in::AnyFunction found = functions_[static_cast<std::size_t>(which)].load(std::memory_order_acquire);
        if (found == nullptr) [[unlikely]] {
            found = find(which);
        }
        return found != no_function ? reinterpret_cast<Pointer>(found) : nullptr;
    }

    /// cuBLAS itself.
    bool is_cublas() const { return is_cublas_; }

    /// A call as it came, with the calls that cuBLAS makes on its behalf. A process that has no cuBLAS has no handle
    /// either.
    template <class... Arguments>
    Status pass_on(Function entry, Arguments... arguments) {
        const auto real = function<Status (*)(Arguments...)>(entry);
        if (real == nullptr) {
            return kNotInitialized;
        }
        const drop_in::PassOn nested_calls;
        return real(arguments...);
    }

private:
    drop_in::AnyFunction find(Function which);
    static void no_function() {}  // is remembered, too

    std::string path_;
    bool is_cublas_;
    std::array<std::atomic<drop_in::AnyFunction>, static_cast<std::size_t>(Function::count)> functions_{};
};

/// The one that a return address lies in; kept for ever.
CallingObject& object_called_from(const void* address);

/// The same, by what this thread saw last.
inline CallingObject& calling_object(const void* address) {
    struct Seen {
        const void* address;
        CallingObject* object;
    };
    constexpr std::size_t kSlots = 8;
    static thread_local constinit std::array<Seen, kSlots> last{};
    Seen& seen = last[reinterpret_cast<std::uintptr_t>(address) / 4 % kSlots];
    if (seen.address != address) [[unlikely]] {
        seen = {address, &object_called_from(address)};
    }
    return *seen.object;
}

}  // namespace heptad::cublas
