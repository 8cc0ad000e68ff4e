#include "io/hdf5_library.hpp"

#ifdef HEPTAD_HAS_HDF5
#include <dlfcn.h>

#include "base/error.hpp"
#include "base/shared_state.hpp"

namespace heptad {
namespace {

// Its calls of its own functions stay within it, whatever else is in the process. Sanitizers do not allow that flag.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kOpenFlags = RTLD_NOW | RTLD_LOCAL;
#else
constexpr int kOpenFlags = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif

template <class Call>
void bind(void* handle, const char* name, Call& call) {
    call = reinterpret_cast<Call>(::dlsym(handle, name));
    if (call == nullptr) {
        fail(ErrorCode::input, "the HDF5 library has no {}; install {}, or convert the file to .npy", name,
             HEPTAD_HDF5_NAME);
    }
}

Hdf5Library open_library() {
    Hdf5Library library;
    for (const char* name : {HEPTAD_HDF5_NAME, HEPTAD_HDF5_PATH}) {
        if (library.handle == nullptr) {
            library.handle = ::dlopen(name, kOpenFlags);
        }
    }
    if (library.handle == nullptr) {
        fail(ErrorCode::input, "the HDF5 library {} cannot be opened; install it, or convert the file to .npy",
             HEPTAD_HDF5_NAME);
    }
    bind(library.handle, "H5open", library.open);
#define HEPTAD_HDF5_BIND(call) bind(library.handle, #call, library.call);
    HEPTAD_HDF5_CALLS(HEPTAD_HDF5_BIND)
#undef HEPTAD_HDF5_BIND
    return library;
}

}  // namespace

const Hdf5Library& hdf5_library() {
    static constinit Once<Hdf5Library> library;
    return library.get(open_library);
}

hid_t hdf5_identifier(const char* name) {
    const Hdf5Library& library = hdf5_library();
    library.open();  // which sets them
    const hid_t* identifier = nullptr;
    bind(library.handle, name, identifier);
    if (*identifier <= 0) {  // a program that is linked with the library too has variables of it copied into itself
        bind(RTLD_DEFAULT, name, identifier);
    }
    return *identifier;
}

}  // namespace heptad
#endif
