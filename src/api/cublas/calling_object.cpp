#include "api/cublas/calling_object.hpp"

#include <dlfcn.h>

#include <map>
#include <memory>
#include <utility>

#include "api/cublas/cublas_takeover.hpp"
#include "base/shared_state.hpp"

namespace heptad::cublas {
namespace {

constexpr std::array kNames{
#define HEPTAD_NAME(name) #name,
    HEPTAD_CUBLAS_FUNCTIONS(HEPTAD_NAME)
#undef HEPTAD_NAME
};
static_assert(kNames.size() == static_cast<std::size_t>(Function::count));

/// libcublas.so.12, libcublasLt.so.12.
bool is_named_cublas(const std::string& path) {
    return path.compare(path.rfind('/') + 1, 9, "libcublas") == 0;
}

}  // namespace

const char* function_name(Function function) {
    return kNames[static_cast<std::size_t>(function)];
}

CallingObject::CallingObject(std::string path) : path_(std::move(path)), is_cublas_(is_named_cublas(path_)) {}

drop_in::AnyFunction CallingObject::find(Function which) {
    const char* const name = function_name(which);
    drop_in::AnyFunction found = drop_in::function_of_object(path_, name);
    found = found != nullptr ? found : drop_in::function_in_order(RTLD_NEXT, name);
    found = found != nullptr ? found : drop_in::function_in_any_object(name);
    found = found != nullptr ? found : no_function;
    functions_[static_cast<std::size_t>(which)].store(found, std::memory_order_release);
    return found;
}

CallingObject& object_called_from(const void* address) {
    set_limits();  // before anybody gets past here
    static constinit Guarded<std::map<std::pair<const void*, std::string>, std::unique_ptr<CallingObject>>> all;
    const drop_in::LoadedObject object = drop_in::object_at(address);
    const auto objects = all.lock();
    auto& kept = (*objects)[{object.base, object.path}];
    if (!kept) {
        kept = std::make_unique<CallingObject>(object.path);
    }
    return *kept;
}

}  // namespace heptad::cublas
