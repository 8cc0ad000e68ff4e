// The HDF5 library, opened when the first dataset is named: other packages of a process may bring one of their own, and
// machines without it need not have it. Its types and numbers are those of releases 1.10 and later, which have kept
// them; a test compares them with the library's own header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/shared_state.hpp"
#include "base/types.hpp"

namespace heptad::hdf5 {

using Id = std::int64_t;          // hid_t
using Status = int;               // herr_t; negative: it failed
using Size = unsigned long long;  // hsize_t
using Address = std::uint64_t;    // haddr_t

inline constexpr Id kDefault = 0;  // H5P_DEFAULT, H5E_DEFAULT
inline constexpr unsigned kReadOnly = 0, kReadWrite = 1, kTruncate = 2;
inline constexpr int kCompact = 0, kContiguous = 1, kChunked = 2, kVirtual = 3;  // H5D_layout_t
inline constexpr int kSelectSet = 0;
inline constexpr int kCompound = 6;                                  // H5T_COMPOUND
inline constexpr int kDatasetObject = 5;                             // H5I_DATASET
inline constexpr int kAllocateEarly = 1;                             // H5D_ALLOC_TIME_EARLY
inline constexpr int kFillNever = 1;                                 // H5D_FILL_TIME_NEVER
inline constexpr Address kNowhere = ~Address{0};                     // HADDR_UNDEF
inline constexpr auto kDefaultSlots = static_cast<std::size_t>(-1);  // H5D_CHUNK_CACHE_NSLOTS_DEFAULT
inline constexpr double kDefaultPreemption = -1;                     // H5D_CHUNK_CACHE_W0_DEFAULT

/// Its functions: their names without "H5", what they return, what they take.
#define HEPTAD_HDF5_FUNCTIONS(FUNCTION)                                                                            \
    FUNCTION(Eget_auto2, Status, (Id, void**, void**))                                                             \
    FUNCTION(Eset_auto2, Status, (Id, void*, void*))                                                               \
    FUNCTION(Fopen, Id, (const char*, unsigned, Id))                                                               \
    FUNCTION(Fcreate, Id, (const char*, unsigned, Id, Id))                                                         \
    FUNCTION(Fclose, Status, (Id))                                                                                 \
    FUNCTION(Dopen2, Id, (Id, const char*, Id))                                                                    \
    FUNCTION(Dcreate2, Id, (Id, const char*, Id, Id, Id, Id, Id))                                                  \
    FUNCTION(Dclose, Status, (Id))                                                                                 \
    FUNCTION(Dget_space, Id, (Id))                                                                                 \
    FUNCTION(Dget_type, Id, (Id))                                                                                  \
    FUNCTION(Dget_create_plist, Id, (Id))                                                                          \
    FUNCTION(Dget_offset, Address, (Id))                                                                           \
    FUNCTION(Dread, Status, (Id, Id, Id, Id, Id, void*))                                                           \
    FUNCTION(Screate_simple, Id, (int, const Size*, const Size*))                                                  \
    FUNCTION(Sget_simple_extent_ndims, int, (Id))                                                                  \
    FUNCTION(Sget_simple_extent_dims, int, (Id, Size*, Size*))                                                     \
    FUNCTION(Sselect_hyperslab, Status, (Id, int, const Size*, const Size*, const Size*, const Size*))             \
    FUNCTION(Sclose, Status, (Id))                                                                                 \
    FUNCTION(Tcopy, Id, (Id))                                                                                      \
    FUNCTION(Tcreate, Id, (int, std::size_t))                                                                      \
    FUNCTION(Tinsert, Status, (Id, const char*, std::size_t, Id))                                                  \
    FUNCTION(Tequal, int, (Id, Id))                                                                                \
    FUNCTION(Tclose, Status, (Id))                                                                                 \
    FUNCTION(Pcreate, Id, (Id))                                                                                    \
    FUNCTION(Pget_layout, int, (Id))                                                                               \
    FUNCTION(Pset_layout, Status, (Id, int))                                                                       \
    FUNCTION(Pget_chunk, int, (Id, int, Size*))                                                                    \
    FUNCTION(Pset_chunk_cache, Status, (Id, std::size_t, std::size_t, double))                                     \
    FUNCTION(Pget_external_count, int, (Id))                                                                       \
    FUNCTION(Pget_nfilters, int, (Id))                                                                             \
    FUNCTION(Pget_filter2, int, (Id, unsigned, unsigned*, std::size_t*, unsigned*, std::size_t, char*, unsigned*)) \
    FUNCTION(Pset_create_intermediate_group, Status, (Id, unsigned))                                               \
    FUNCTION(Pset_alloc_time, Status, (Id, int))                                                                   \
    FUNCTION(Pset_fill_time, Status, (Id, int))                                                                    \
    FUNCTION(Pclose, Status, (Id))                                                                                 \
    FUNCTION(Zfilter_avail, int, (int))                                                                            \
    FUNCTION(Oopen, Id, (Id, const char*, Id))                                                                     \
    FUNCTION(Oclose, Status, (Id))                                                                                 \
    FUNCTION(Iget_type, int, (Id))                                                                                 \
    FUNCTION(Ldelete, Status, (Id, const char*, Id))

struct Library {
// NOLINTNEXTLINE(bugprone-macro-parentheses): these are types
#define HEPTAD_HDF5_POINTER(name, result, arguments) result(*name) arguments = nullptr;
    HEPTAD_HDF5_FUNCTIONS(HEPTAD_HDF5_POINTER)
#undef HEPTAD_HDF5_POINTER
    // Identifiers that the library makes when it starts.
    Id f64 = -1, f32 = -1, i32 = -1, i64 = -1;  // little-endian
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

/// What elements of a type are stored as: complex ones as {r, i}, which h5py writes and reads.
Handle stored_type(const Calls& h5, Type type);

}  // namespace heptad::hdf5
