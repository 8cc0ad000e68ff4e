#include "place/file/hdf5_dataset.hpp"

#include "base/error.hpp"
#include "place/file/hdf5_handle.hpp"
#include "place/file/matrix_source.hpp"

#ifdef HEPTAD_HAS_HDF5
#include <array>
#include <filesystem>
#include <system_error>
#endif

namespace heptad {
namespace {

bool ends_in(const std::string& text, const std::string& suffix) {
    return text.size() > suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

}  // namespace

Hdf5Name split_hdf5_name(const std::string& name) {
    const auto colon = name.rfind(":/");
    return colon == std::string::npos ? Hdf5Name{name, ""} : Hdf5Name{name.substr(0, colon), name.substr(colon + 1)};
}

bool is_hdf5_name(const std::string& name) {
    const std::string file = split_hdf5_name(name).file;
    return ends_in(file, ".h5") || ends_in(file, ".hdf5");
}

#ifdef HEPTAD_HAS_HDF5
namespace {

Type element_type(hid_t stored, const std::string& name, std::optional<Type> as) {
    struct Entry {
        hid_t native;
        Type type;
    };
    const std::array<Entry, 3> known{
        {{H5T_IEEE_F64LE, Type::f64}, {H5T_IEEE_F32LE, Type::f32}, {H5T_STD_I32LE, Type::i32}}};
    for (const Entry& entry : known) {
        if (H5Tequal(stored, entry.native) > 0) {
            const bool tf32 = entry.type == Type::f32 && as == Type::tf32;
            if (as && *as != entry.type && !tf32) {
                fail(ErrorCode::input, "'{}' holds {}, which cannot be read as {}; convert it or leave --type out",
                     name, type_name(entry.type), type_name(*as));
            }
            return as.value_or(entry.type);
        }
    }
    fail(ErrorCode::input,
         "'{}' holds elements that are neither little-endian f64, f32 nor i32; write the dataset as one of those",
         name);
}

}  // namespace

Hdf5Dataset find_hdf5_dataset(const std::string& name, std::optional<Type> as) {
    const Hdf5Name parts = split_hdf5_name(name);
    if (parts.dataset.empty()) {
        fail(ErrorCode::input, "'{}' does not name a dataset; write it as {}:/path/of/dataset", name, name);
    }
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(parts.file, unknown)) {  // the library would wait for a pipe's other end
        fail(ErrorCode::input, "'{}' is missing or no regular file; give the name of an HDF5 file", parts.file);
    }
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // the library would print
    const Hdf5Handle file(H5Fopen(parts.file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (file.get() < 0) {
        fail(ErrorCode::input, "'{}' is missing, unreadable or no HDF5 file", parts.file);
    }
    const Hdf5Handle dataset(H5Dopen2(file.get(), parts.dataset.c_str(), H5P_DEFAULT), H5Dclose);
    if (dataset.get() < 0) {
        fail(ErrorCode::input, "'{}' has no dataset '{}'; 'h5ls -r' lists what there is", parts.file, parts.dataset);
    }
    const Hdf5Handle space(H5Dget_space(dataset.get()), H5Sclose);
    std::array<hsize_t, 2> sizes{};
    if (H5Sget_simple_extent_ndims(space.get()) != 2 ||
        H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr) != 2) {
        fail(ErrorCode::input, "'{}' does not have 2 dimensions, and a matrix has; write it as one", name);
    }
    const Hdf5Handle creation(H5Dget_create_plist(dataset.get()), H5Pclose);
    const haddr_t offset = H5Dget_offset(dataset.get());
    const bool without_elements = sizes[0] == 0 || sizes[1] == 0;  // such a dataset lies nowhere
    if (H5Pget_layout(creation.get()) != H5D_CONTIGUOUS || H5Pget_external_count(creation.get()) != 0 ||
        (offset == HADDR_UNDEF && !without_elements)) {
        fail(ErrorCode::input,
             "'{}' is not stored in one piece (chunked, compressed, compact or never written); rewrite it with "
             "'h5repack -l CONTI'",
             name);
    }
    const Hdf5Handle stored(H5Dget_type(dataset.get()), H5Tclose);
    const Type type = element_type(stored.get(), name, as);
    constexpr hsize_t kMost = hsize_t{1} << 62;
    if (sizes[0] > kMost || sizes[1] > kMost || (offset > kMost && !without_elements)) {
        fail(ErrorCode::input, "'{}' claims {} x {} elements, which is more than 64 bits can count", name, sizes[0],
             sizes[1]);
    }
    Hdf5Dataset found{parts.file, type, static_cast<std::int64_t>(sizes[0]), static_cast<std::int64_t>(sizes[1]),
                      without_elements ? 0 : static_cast<std::int64_t>(offset)};
    matrix_bytes(type, found.rows, found.cols);
    return found;
}
#else
Hdf5Dataset find_hdf5_dataset(const std::string& name, std::optional<Type>) {
    fail(ErrorCode::input, "'{}' is an HDF5 file, and this build does not have the HDF5 library; convert it to .npy",
         name);
}
#endif

}  // namespace heptad
