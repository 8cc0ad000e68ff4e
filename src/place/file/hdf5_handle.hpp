// An identifier of the HDF5 library that closes itself; nothing in builds without the library.
#pragma once

#ifdef HEPTAD_HAS_HDF5
#include <hdf5.h>

namespace heptad {

class Hdf5Handle {
public:
    Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
    ~Hdf5Handle() {
        if (id_ >= 0) {
            close_(id_);
        }
    }
    Hdf5Handle(const Hdf5Handle&) = delete;
    Hdf5Handle& operator=(const Hdf5Handle&) = delete;
    hid_t get() const { return id_; }

private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

}  // namespace heptad
#endif
