// An identifier of the HDF5 library that closes itself, and the lock under which the library is called; nothing in
// builds without the library.
#pragma once

#ifdef HEPTAD_HAS_HDF5
#include <utility>

#include "base/shared_state.hpp"
#include "io/hdf5_library.hpp"

namespace heptad {

/// The library is usually built without locks of its own: one thread at a time.
struct Hdf5Calls {};
inline Guarded<Hdf5Calls>& hdf5_calls() {
    static constinit Guarded<Hdf5Calls> calls;
    return calls;
}

class Hdf5Handle {
public:
    Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
    ~Hdf5Handle() {
        if (id_ >= 0) {
            close_(id_);
        }
    }
    Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Hdf5Handle(const Hdf5Handle&) = delete;
    Hdf5Handle& operator=(const Hdf5Handle&) = delete;
    hid_t get() const { return id_; }

private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

}  // namespace heptad
#endif
