// The HDF5 library, opened when the first dataset is: who never reads one does not load it, and other packages of a
// process may bring their own. Nothing in builds without its headers.
#pragma once

#ifdef HEPTAD_HAS_HDF5
#include <hdf5.h>

// clang-format off
#define HEPTAD_HDF5_CALLS(X) \
    X(H5Dclose) X(H5Dcreate2) X(H5Dget_create_plist) X(H5Dget_offset) X(H5Dget_space) X(H5Dget_type) X(H5Dopen2) \
    X(H5Dread) X(H5Eset_auto2) X(H5Fclose) X(H5Fcreate) X(H5Fopen) X(H5Iget_type) X(H5Ldelete) X(H5Oclose) \
    X(H5Oopen) X(H5Pclose) X(H5Pcreate) X(H5Pget_chunk) X(H5Pget_external_count) X(H5Pget_filter2) \
    X(H5Pget_layout) X(H5Pget_nfilters) X(H5Pset_alloc_time) X(H5Pset_chunk_cache) \
    X(H5Pset_create_intermediate_group) X(H5Pset_fill_time) X(H5Pset_layout) X(H5Sclose) X(H5Screate_simple) \
    X(H5Sget_simple_extent_dims) X(H5Sget_simple_extent_ndims) X(H5Sselect_hyperslab) X(H5Tclose) X(H5Tequal) \
    X(H5Zfilter_avail)
// clang-format on

namespace heptad {

struct Hdf5Library {
    void* handle = nullptr;
    decltype(&::H5open) open = nullptr;
#define HEPTAD_HDF5_MEMBER(call) decltype(&::call) call = nullptr;
    HEPTAD_HDF5_CALLS(HEPTAD_HDF5_MEMBER)
#undef HEPTAD_HDF5_MEMBER
};
/// Throws Error(input) where the library is not there.
const Hdf5Library& hdf5_library();
/// One of its global identifiers, such as "H5T_IEEE_F64LE_g".
hid_t hdf5_identifier(const char* name);

// Within heptad the library's names mean these: objects, which no function of its own name is preferred to.
#define HEPTAD_HDF5_FORWARD(call) \
    inline constexpr auto call = [](auto... values) { return hdf5_library().call(values...); };
HEPTAD_HDF5_CALLS(HEPTAD_HDF5_FORWARD)
#undef HEPTAD_HDF5_FORWARD

}  // namespace heptad

// So do its constants, which would call it before they mean anything.
#undef H5CHECK
#undef H5OPEN
#define H5CHECK
#define H5OPEN
#undef H5T_IEEE_F64LE
#undef H5T_IEEE_F32LE
#undef H5T_STD_I32LE
#undef H5P_DATASET_ACCESS
#undef H5P_DATASET_CREATE
#undef H5P_LINK_CREATE
#define H5T_IEEE_F64LE ::heptad::hdf5_identifier("H5T_IEEE_F64LE_g")
#define H5T_IEEE_F32LE ::heptad::hdf5_identifier("H5T_IEEE_F32LE_g")
#define H5T_STD_I32LE ::heptad::hdf5_identifier("H5T_STD_I32LE_g")
#define H5P_DATASET_ACCESS ::heptad::hdf5_identifier("H5P_CLS_DATASET_ACCESS_ID_g")
#define H5P_DATASET_CREATE ::heptad::hdf5_identifier("H5P_CLS_DATASET_CREATE_ID_g")
#define H5P_LINK_CREATE ::heptad::hdf5_identifier("H5P_CLS_LINK_CREATE_ID_g")
#endif
