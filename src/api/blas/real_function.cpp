#include "api/blas/real_function.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string>
#include <vector>

#include "api/blas/takeover.hpp"

namespace heptad::blas {
namespace {

/// The object that an address lies in.
const void* object_of(const void* address) {
    Dl_info info;
    return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

const void* own_object() {
    return object_of(reinterpret_cast<const void*>(&object_of));
}

AnyFunction not_ours(void* found) {
    return found != nullptr && object_of(found) != own_object() ? reinterpret_cast<AnyFunction>(found) : nullptr;
}

/// Opened only where it is loaded already. Nothing is opened while the list is walked: the linker holds its lock then.
std::vector<std::string> loaded_objects() {
    std::vector<std::string> names;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* list) {
            if (info->dlpi_name != nullptr && *info->dlpi_name != '\0') {
                static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
            }
            return 0;
        },
        &names);
    std::reverse(names.begin(), names.end());
    return names;
}

AnyFunction find_function(const char* name) {
#ifdef HEPTAD_BLAS_PREFIXED
    void* const order = RTLD_DEFAULT;  // the plain name is not ours
#else
    void* const order = RTLD_NEXT;
#endif
    if (const AnyFunction next = not_ours(dlsym(order, name))) {
        return next;
    }
    for (const std::string& object : loaded_objects()) {
        if (void* const handle = dlopen(object.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD)) {
            const AnyFunction found = not_ours(dlsym(handle, name));
            // Kept open when it is what we look for: our pointer must stay good.
            if (found != nullptr) {
                return found;
            }
            dlclose(handle);
        }
    }
    return nullptr;
}

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

}  // namespace

AnyFunction RealFunction::find() {
    set_smallest_sides();  // before anybody gets past here
    AnyFunction found = find_function(name_);
    Dl_info info;
    if (found != nullptr && dladdr(reinterpret_cast<void*>(found), &info) != 0) {
        void* handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
        handle = handle != nullptr ? handle : dlopen(nullptr, RTLD_LAZY);  // in the program itself
        for (const ThreadsGetter& getter : kThreadsGetters) {
            if (void* const function = dlsym(handle, getter.name)) {
                counts_in_long_.store(getter.counts_in_long);
                threads_getter_.store(reinterpret_cast<AnyFunction>(function));
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
