// The HDF5 library, opened when the first dataset is named: other packages of a process may bring one of their own, and
// machines without it need not have it. Its types and numbers are those of releases 1.10 and later, which have kept
// them; a test compares them with the library's own header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/shared_state.hpp"

namespace heptad::hdf5 {

using Id = std::int64_t;          // hid_t
using Status = int;               // herr_t; negative: it failed
using Size = unsigned long long;  // hsize_t
using Address = std::uint64_t;    // haddr_t

inline constexpr Id kDefault = 0;  // H5P_DEFAULT, H5E_DEFAULT
inline constexpr unsigned kReadOnly = 0, kReadWrite = 1, kTruncate = 2;
inline constexpr int kCompact = 0, kContiguous = 1, kChunked = 2, kVirtual = 3;  // H5D_layout_t
inline constexpr int kSelectSet = 0;
inline constexpr int kDatasetObject = 5;                             // H5I_DATASET
inline constexpr int kAllocateEarly = 1;                             // H5D_ALLOC_TIME_EARLY
inline constexpr int kFillNever = 1;                                 // H5D_FILL_TIME_NEVER
inline constexpr Address kNowhere = ~Address{0};                     // HADDR_UNDEF
inline constexpr auto kDefaultSlots = static_cast<std::size_t>(-1);  // H5D_CHUNK_CACHE_NSLOTS_DEFAULT
inline constexpr double kDefaultPreemption = -1;                     // H5D_CHUNK_CACHE_W0_DEFAULT

/// Its functions, under their names without "H5".
struct Library {
    Status (*Eget_auto2)(Id, void**, void**) = nullptr;
    Status (*Eset_auto2)(Id, void*, void*) = nullptr;
    Id (*Fopen)(const char*, unsigned, Id) = nullptr;
    Id (*Fcreate)(const char*, unsigned, Id, Id) = nullptr;
    Status (*Fclose)(Id) = nullptr;
    Id (*Dopen2)(Id, const char*, Id) = nullptr;
    Id (*Dcreate2)(Id, const char*, Id, Id, Id, Id, Id) = nullptr;
    Status (*Dclose)(Id) = nullptr;
    Id (*Dget_space)(Id) = nullptr;
    Id (*Dget_type)(Id) = nullptr;
    Id (*Dget_create_plist)(Id) = nullptr;
    Address (*Dget_offset)(Id) = nullptr;
    Status (*Dread)(Id, Id, Id, Id, Id, void*) = nullptr;
    Id (*Screate_simple)(int, const Size*, const Size*) = nullptr;
    int (*Sget_simple_extent_ndims)(Id) = nullptr;
    int (*Sget_simple_extent_dims)(Id, Size*, Size*) = nullptr;
    Status (*Sselect_hyperslab)(Id, int, const Size*, const Size*, const Size*, const Size*) = nullptr;
    Status (*Sclose)(Id) = nullptr;
    int (*Tequal)(Id, Id) = nullptr;
    Status (*Tclose)(Id) = nullptr;
    Id (*Pcreate)(Id) = nullptr;
    int (*Pget_layout)(Id) = nullptr;
    Status (*Pset_layout)(Id, int) = nullptr;
    int (*Pget_chunk)(Id, int, Size*) = nullptr;
    Status (*Pset_chunk_cache)(Id, std::size_t, std::size_t, double) = nullptr;
    int (*Pget_external_count)(Id) = nullptr;
    int (*Pget_nfilters)(Id) = nullptr;
    int (*Pget_filter2)(Id, unsigned, unsigned*, std::size_t*, unsigned*, std::size_t, char*, unsigned*) = nullptr;
    Status (*Pset_create_intermediate_group)(Id, unsigned) = nullptr;
    Status (*Pset_alloc_time)(Id, int) = nullptr;
    Status (*Pset_fill_time)(Id, int) = nullptr;
    Status (*Pclose)(Id) = nullptr;
    int (*Zfilter_avail)(int) = nullptr;
    Id (*Oopen)(Id, const char*, Id) = nullptr;
    Status (*Oclose)(Id) = nullptr;
    int (*Iget_type)(Id) = nullptr;
    Status (*Ldelete)(Id, const char*, Id) = nullptr;
    // Identifiers that the library makes when it starts.
    Id f64 = -1, f32 = -1, i32 = -1;  // little-endian
    Id link_create = -1, dataset_create = -1, dataset_access = -1;
};

/// False where it is missing, too old or not whole. Never unloaded: it may have left work for the end of the process.
bool open_library(const char* name, Library& library);

/// What the process found of it; looked for once.
struct Installed {
    Installed();
    Library functions;
    bool found = false;
};

/// The library, held by one thread at a time: it is usually built without locks of its own. Meanwhile it prints no
/// errors; before and after it does what somebody else in the process told it to.
class Calls {
public:
    /// Throws Error(input), naming the file and what else can be done, where this machine has none.
    explicit Calls(const std::string& needed_for);
    ~Calls();
    Calls(const Calls&) = delete;
    Calls& operator=(const Calls&) = delete;
    const Library* operator->() const { return &installed_->functions; }

private:
    const Guarded<Installed>::Access installed_;
    void* print_ = nullptr;
    void* print_to_ = nullptr;
};

/// An identifier that closes itself.
class Handle {
public:
    Handle(Id id, Status (*close)(Id)) : id_(id), close_(close) {}
    ~Handle() {
        if (id_ >= 0) {
            close_(id_);
        }
    }
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    Id get() const { return id_; }

private:
    Id id_;
    Status (*close_)(Id);
};

}  // namespace heptad::hdf5
