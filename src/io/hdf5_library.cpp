#include "io/hdf5_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "base/fail_if.hpp"

namespace heptad::hdf5 {
namespace {

/// Debian's names and those of the library's own builds, for 1.14, 1.12 and 1.10; then whatever a developer has.
constexpr std::array kNames{"libhdf5_serial.so.310", "libhdf5.so.310", "libhdf5.so.200",   "libhdf5_serial.so.103",
                            "libhdf5.so.103",        "libhdf5.so",     "libhdf5_serial.so"};

/// What one library holds under some names, and whether it held all of them.
class Symbols {
public:
    explicit Symbols(void* handle) : handle_(handle) {}

    template <class Function>
    void find(const char* name, Function& function) {
        function = reinterpret_cast<Function>(dlsym(handle_, name));
        complete_ = complete_ && function != nullptr;
    }
    /// Where the executable is linked with the library, its linker may have made the variable the executable's own.
    void find(const char* name, Id& id) {
        for (void* const where : {handle_, static_cast<void*>(RTLD_DEFAULT)}) {
            const void* const variable = dlsym(where, name);
            id = variable != nullptr ? *static_cast<const Id*>(variable) : -1;
            if (id > 0) {
                return;
            }
        }
        complete_ = false;
    }
    bool complete() const { return complete_; }

private:
    void* handle_;
    bool complete_ = true;
};

bool find_functions(Symbols& symbols, Library& library) {
#define HEPTAD_HDF5_FIND(name, result, arguments) symbols.find("H5" #name, library.name);
    HEPTAD_HDF5_FUNCTIONS(HEPTAD_HDF5_FIND)
#undef HEPTAD_HDF5_FIND
    return symbols.complete();
}

bool find_identifiers(Symbols& symbols, Library& library) {
    symbols.find("H5T_IEEE_F64LE_g", library.f64);
    symbols.find("H5T_IEEE_F32LE_g", library.f32);
    symbols.find("H5T_STD_I32LE_g", library.i32);
    symbols.find("H5T_STD_I64LE_g", library.i64);
    symbols.find("H5P_CLS_LINK_CREATE_ID_g", library.link_create);
    symbols.find("H5P_CLS_DATASET_CREATE_ID_g", library.dataset_create);
    symbols.find("H5P_CLS_DATASET_ACCESS_ID_g", library.dataset_access);
    return symbols.complete();
}

constinit Guarded<Installed> installed;

}  // namespace

bool open_library(const char* name, Library& library) {
    void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        return false;
    }
    Symbols symbols(handle);
    Status (*start)() = nullptr;
    Status (*version)(unsigned*, unsigned*, unsigned*) = nullptr;
    symbols.find("H5open", start);
    symbols.find("H5get_libversion", version);
    unsigned major = 0, minor = 0, release = 0;
    return find_functions(symbols, library) && version(&major, &minor, &release) >= 0 && major == 1 && minor >= 10 &&
           start() >= 0 && find_identifiers(symbols, library);
}

Installed::Installed()
    : found(std::ranges::any_of(kNames, [&](const char* name) { return open_library(name, functions); })) {}

Calls::Calls(const std::string& needed_for) : installed_(installed.lock()) {
    fail_if(!installed_->found, ErrorCode::input,
            "'{}' needs HDF5 1.10 or later, and this machine does not have the HDF5 library; install it (Debian: "
            "libhdf5-dev), or use a .npy file",
            needed_for);
    installed_->functions.Eget_auto2(kDefault, &print_, &print_to_);
    installed_->functions.Eset_auto2(kDefault, nullptr, nullptr);
}

Calls::~Calls() {
    installed_->functions.Eset_auto2(kDefault, print_, print_to_);
}

Handle stored_type(const Calls& h5, Type type) {
    const Type of_part = is_complex(type) ? part_type(type) : type;
    const Id part = of_part == Type::f64   ? h5->f64
                    : of_part == Type::i32 ? h5->i32
                    : of_part == Type::i64 ? h5->i64
                                           : h5->f32;
    if (!is_complex(type)) {
        return {h5->Tcopy(part), h5->Tclose};
    }
    Handle both(h5->Tcreate(kCompound, element_bytes(type)), h5->Tclose);
    h5->Tinsert(both.get(), "r", 0, part);
    h5->Tinsert(both.get(), "i", element_bytes(of_part), part);
    return both;
}

}  // namespace heptad::hdf5
