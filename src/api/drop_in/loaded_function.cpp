#include "api/drop_in/loaded_function.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <new>

namespace heptad::drop_in {
namespace {

const void* base_of(const void* address) {
    Dl_info info;
    return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

AnyFunction not_ours(void* found) {
    return found != nullptr && base_of(found) != base_of(reinterpret_cast<const void*>(&base_of))
               ? reinterpret_cast<AnyFunction>(found)
               : nullptr;
}

/// Opened only where it is loaded already. Nothing is opened while the list is walked: the linker holds its lock then.
std::vector<std::string> loaded_objects() {
    std::vector<std::string> names;
    const bool has_no_memory =
        dl_iterate_phdr(
            [](dl_phdr_info* info, std::size_t, void* list) {
                try {
                    if (info->dlpi_name != nullptr && *info->dlpi_name != '\0') {
                        static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
                    }
                    return 0;
                } catch (const std::bad_alloc&) {  // not through the linker, and its lock
                    return 1;
                }
            },
            &names) != 0;
    if (has_no_memory) {
        throw std::bad_alloc();
    }
    std::reverse(names.begin(), names.end());
    return names;
}

constexpr int kOnlyIfLoaded = RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD;

/// Its library stays open from now on, so that the pointer stays good.
AnyFunction kept(AnyFunction function) {
    Dl_info info;
    if (function != nullptr && dladdr(reinterpret_cast<const void*>(function), &info) != 0) {
        static_cast<void>(dlopen(info.dli_fname, kOnlyIfLoaded));
    }
    return function;
}

}  // namespace

AnyFunction function_in_order(void* order, const char* name) {
    return kept(not_ours(dlsym(order, name)));
}

AnyFunction function_of_object(const std::string& path, const char* name) {
    void* const handle = path.empty() ? nullptr : dlopen(path.c_str(), kOnlyIfLoaded);
    if (handle == nullptr) {
        return nullptr;
    }
    const AnyFunction found = kept(not_ours(dlsym(handle, name)));
    dlclose(handle);
    return found;
}

AnyFunction function_in_any_object(const char* name) {
    for (const std::string& object : loaded_objects()) {
        if (const AnyFunction found = function_of_object(object, name)) {
            return found;
        }
    }
    return nullptr;
}

std::vector<AnyFunction> functions_in_all_objects(const char* name) {
    std::vector<AnyFunction> functions;
    const auto add = [&](AnyFunction function) {
        if (function != nullptr && std::ranges::find(functions, function) == functions.end()) {
            functions.push_back(function);
        }
    };
    add(function_in_order(RTLD_DEFAULT, name));
    for (const std::string& object : loaded_objects()) {
        add(function_of_object(object, name));
    }
    return functions;
}

std::uint64_t changes_of_objects() {
    std::uint64_t changes = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* count) {
            *static_cast<std::uint64_t*>(count) = info->dlpi_adds + info->dlpi_subs;
            return 1;  // every object has both
        },
        &changes);
    return changes;
}

LoadedObject object_at(const void* address) {
    Dl_info info;
    if (dladdr(address, &info) == 0) {
        return {};
    }
    return {info.dli_fbase, info.dli_fname != nullptr ? info.dli_fname : ""};
}

}  // namespace heptad::drop_in
