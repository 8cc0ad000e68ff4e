#include "api/blas/real_function.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <exception>

#include "api/blas/takeover.hpp"

namespace heptad::blas {
namespace {

#ifdef HEPTAD_BLAS_ALTERNATIVE
/// In the place of libblas.so.3: OpenBLAS was loaded with this library, and nobody else is asked. A search by name
/// could meet another BLAS that passes its calls on to libblas.so.3, which is us.
AnyFunction find_function(const char* name) {
    return drop_in::function_of_object("libopenblas.so.0", name);
}
#else
AnyFunction find_function(const char* name) {
#ifdef HEPTAD_BLAS_PREFIXED
    void* const order = RTLD_DEFAULT;  // the plain name is not ours
#else
    void* const order = RTLD_NEXT;
#endif
    const AnyFunction next = drop_in::function_in_order(order, name);
    return next != nullptr ? next : drop_in::function_in_any_object(name);
}
#endif

struct ThreadsGetter {
    const char* name;
    bool counts_in_long;
};
constexpr std::array<ThreadsGetter, 7> kThreadsGetters{{{"openblas_get_num_threads", false},
                                                        {"openblas_get_num_threads64_", false},
                                                        {"scipy_openblas_get_num_threads", false},
                                                        {"scipy_openblas_get_num_threads64_", false},
                                                        {"MKL_Get_Max_Threads", false},
                                                        {"bli_thread_get_num_threads", true},
                                                        {"flexiblas_get_num_threads", false}}};

/// With OpenMP, OpenBLAS takes over what omp_set_num_threads() said at its own next call, which may never come, because
/// large ones are ours. Null: it is another build, or another library.
void* openmp_threads_getter(void* handle) {
    for (const char* name : {"openblas_get_parallel", "openblas_get_parallel64_"}) {
        constexpr int kOpenMp = 2;
        const auto parallel = reinterpret_cast<int (*)()>(dlsym(handle, name));
        if (parallel != nullptr && parallel() == kOpenMp) {
            return dlsym(handle, "omp_get_max_threads");
        }
    }
    return nullptr;
}

/// Where integers have 64 bits, these elements are fewer than none; where they have 32, they are three.
bool has_64_bit_integers(void* handle) {
    using Isamax = std::int64_t (*)(const std::int64_t*, const float*, const std::int64_t*);
    const auto isamax = reinterpret_cast<Isamax>(dlsym(handle, "isamax_"));
    const std::int64_t three = std::int64_t{3} - (std::int64_t{1} << 32), one = 1;
    const std::array<float, 3> values{1, 2, 1};
    return isamax != nullptr && static_cast<int>(isamax(&three, values.data(), &one)) == 0;
}

}  // namespace

AnyFunction RealFunction::find() noexcept {
    AnyFunction found = nullptr;
    try {
        set_smallest_sides();          // before anybody gets past here
    } catch (const std::exception&) {  // no memory: calls are passed on until another entry finds some
    }
    try {
        found = find_function(name_);
    } catch (const std::exception&) {  // no memory for the list of objects: looked for again at the next call
        return otherwise_();
    }
    Dl_info info;
    if (found != nullptr && dladdr(reinterpret_cast<void*>(found), &info) != 0) {
        void* handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
        handle = handle != nullptr ? handle : dlopen(nullptr, RTLD_LAZY);  // in the program itself
        counts_in_64_bits_.store(has_64_bit_integers(handle));
        for (const ThreadsGetter& getter : kThreadsGetters) {
            if (void* const function = dlsym(handle, getter.name)) {
                void* const by_openmp = openmp_threads_getter(handle);
                counts_in_long_.store(getter.counts_in_long);
                threads_getter_.store(reinterpret_cast<AnyFunction>(by_openmp != nullptr ? by_openmp : function));
                break;
            }
        }
    }
    found = found != nullptr ? found : otherwise_();
    function_.store(found, std::memory_order_release);
    return found;
}

int RealFunction::library_threads() const {
    const AnyFunction getter = threads_getter_.load(std::memory_order_relaxed);
    if (getter == nullptr) {
        return 0;
    }
    const long threads = counts_in_long_.load(std::memory_order_relaxed) ? reinterpret_cast<long (*)()>(getter)()
                                                                         : reinterpret_cast<int (*)()>(getter)();
    return static_cast<int>(std::clamp(threads, 1L, long{INT_MAX}));
}

}  // namespace heptad::blas
