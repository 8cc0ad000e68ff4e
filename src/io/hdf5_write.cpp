// Writing a dataset: the library makes room for it in a copy of the file and tells where; the elements are written
// there as into any other file, so that a full disk is told like everywhere.
#include <algorithm>

#include "base/error.hpp"
#include "io/hdf5_dataset.hpp"
#include "io/hdf5_handle.hpp"

#ifdef HEPTAD_HAS_HDF5
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <optional>
#include <vector>

#include "base/matrix.hpp"
#include "base/size.hpp"
#include "io/atomic_file.hpp"
#include "io/view_copy.hpp"
#endif

namespace heptad {

#ifdef HEPTAD_HAS_HDF5
namespace {

constexpr std::int64_t kHeadersBytes = 65536;                 // of groups and of the dataset, more than enough
constexpr std::int64_t kChunkBytes = std::int64_t{16} << 20;  // between two looks at the cancel token

hid_t stored_type(Type type) {
    return type == Type::f64 ? H5T_IEEE_F64LE : type == Type::i32 ? H5T_STD_I32LE : H5T_IEEE_F32LE;
}

/// Nothing where there is no file.
std::optional<std::int64_t> bytes_of(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 ? std::optional<std::int64_t>(facts.st_size) : std::nullopt;
}

void copy_into(AtomicFile& file, const std::string& path, const FileHooks& hooks) {
    std::ifstream old(path, std::ios::binary);
    std::vector<char> chunk(static_cast<std::size_t>(kChunkBytes));
    while (old) {
        if (hooks.cancel.cancelled()) {
            fail(ErrorCode::cancelled, "cancelled while '{}' was copied", path);
        }
        old.read(chunk.data(), kChunkBytes);
        file.write(chunk.data(), old.gcount());
    }
    if (!old.eof()) {
        fail(ErrorCode::input, "'{}' cannot be read, and its other datasets would be lost; name another file", path);
    }
}

/// A dataset of the name makes way for the new one; anything else of that name stays.
void remove_dataset(hid_t file, const Hdf5Name& parts) {
    const Hdf5Handle object(H5Oopen(file, parts.dataset.c_str(), H5P_DEFAULT), H5Oclose);
    if (object.get() < 0) {
        return;
    }
    if (H5Iget_type(object.get()) != H5I_DATASET || H5Ldelete(file, parts.dataset.c_str(), H5P_DEFAULT) < 0) {
        fail(ErrorCode::input, "'{}' in '{}' is no dataset that could be replaced; give another name", parts.dataset,
             parts.file);
    }
}

/// Makes room for the elements in the file `path`, and says where.
std::int64_t make_room(const std::string& path, bool existing, const Hdf5Name& parts, const ConstView& matrix) {
    const auto lock = hdf5_calls().lock();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // the library would print
    const Hdf5Handle file(existing ? H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)
                                   : H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                          H5Fclose);
    if (file.get() < 0) {
        fail(ErrorCode::input, "'{}' {}; name another file", parts.file,
             existing ? "is there and is no HDF5 file that can be written" : "cannot be made by the HDF5 library");
    }
    if (existing) {
        remove_dataset(file.get(), parts);
    }
    const std::array<hsize_t, 2> sizes{static_cast<hsize_t>(matrix.rows), static_cast<hsize_t>(matrix.cols)};
    const Hdf5Handle space(H5Screate_simple(2, sizes.data(), nullptr), H5Sclose);
    const Hdf5Handle groups(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(groups.get(), 1U);
    H5Pset_layout(creation.get(), H5D_CONTIGUOUS);
    H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);
    const Hdf5Handle dataset(H5Dcreate2(file.get(), parts.dataset.c_str(), stored_type(matrix.type), space.get(),
                                        groups.get(), creation.get(), H5P_DEFAULT),
                             H5Dclose);
    const haddr_t offset = dataset.get() < 0 ? HADDR_UNDEF : H5Dget_offset(dataset.get());
    const bool elements = matrix.rows > 0 && matrix.cols > 0;
    if (dataset.get() < 0 || (elements && offset == HADDR_UNDEF)) {
        fail(ErrorCode::input, "'{}' cannot be made in '{}'; give another name of a dataset", parts.dataset,
             parts.file);
    }
    return elements ? static_cast<std::int64_t>(offset) : 0;
}

void write_rows(AtomicFile& file, const std::string& name, const ConstView& matrix, const FileHooks& hooks) {
    const std::int64_t row_bytes = matrix.cols * static_cast<std::int64_t>(element_bytes(matrix.type));
    const std::int64_t at_once = std::clamp<std::int64_t>(kChunkBytes / row_bytes, 1, matrix.rows);
    Matrix chunk(matrix.type, at_once, matrix.cols);
    for (std::int64_t row = 0; row < matrix.rows; row += at_once) {
        if (hooks.cancel.cancelled()) {
            fail(ErrorCode::cancelled, "cancelled while '{}' was written", name);
        }
        const std::int64_t rows = std::min(at_once, matrix.rows - row);
        copy_view(block(matrix, row, 0, rows, matrix.cols), block(chunk.view(), 0, 0, rows, matrix.cols));
        file.write(chunk.data(), rows * row_bytes);
        if (hooks.progress) {
            hooks.progress({static_cast<double>(row + rows) / static_cast<double>(matrix.rows), "write"});
        }
    }
}

}  // namespace

void check_hdf5_writable(const std::string& name, Type type) {
    const Hdf5Name parts = split_hdf5_name(name);
    if (parts.dataset.size() < 2) {
        fail(ErrorCode::input, "'{}' does not name a dataset; write it as {}:/path/of/dataset", name, parts.file);
    }
    if (type != Type::f64 && type != Type::f32 && type != Type::tf32 && type != Type::i32) {
        fail(ErrorCode::input, "'{}' would hold {}, but datasets are written of f64, f32 and i32; name a .npy file",
             name, type_name(type));
    }
    const AtomicFile probe(parts.file, 0);
    if (probe.temporary().empty()) {
        fail(ErrorCode::input, "'{}' is a device or a pipe, and an HDF5 file cannot be one; give another name",
             parts.file);
    }
}

void write_hdf5_dataset(const std::string& name, const ConstView& matrix, const FileHooks& hooks) {
    check_hdf5_writable(name, matrix.type);
    const Hdf5Name parts = split_hdf5_name(name);
    const std::optional<std::int64_t> old_bytes = bytes_of(parts.file);
    // Reserved first: the library does not survive a disk that is full when it closes a file.
    const std::int64_t new_bytes = checked_add(matrix_bytes(matrix.type, matrix.rows, matrix.cols), kHeadersBytes);
    AtomicFile file(parts.file, checked_add(old_bytes.value_or(0), new_bytes));
    if (old_bytes) {
        copy_into(file, parts.file, hooks);
    }
    file.seek(make_room(file.temporary(), old_bytes.has_value(), parts, matrix));
    if (matrix.rows > 0 && matrix.cols > 0) {
        write_rows(file, name, matrix, hooks);
    }
    file.commit();
}
#else
void check_hdf5_writable(const std::string& name, Type) {
    fail(ErrorCode::input,
         "'{}' would be an HDF5 file, and this build does not have the HDF5 library; name a .npy file", name);
}

void write_hdf5_dataset(const std::string& name, const ConstView& matrix, const FileHooks&) {
    check_hdf5_writable(name, matrix.type);
}
#endif

}  // namespace heptad
