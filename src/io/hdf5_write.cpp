// Writing a dataset: the library makes room for it in a copy of the file and tells where; the elements are written
// there as into any other file, so that a full disk is told like everywhere.
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <optional>
#include <vector>

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "base/types.hpp"
#include "io/hdf5_dataset.hpp"
#include "io/hdf5_library.hpp"
#include "io/npy.hpp"
#include "io/open_file.hpp"

namespace heptad {

namespace {

constexpr std::int64_t kHeadersBytes = 65536;                 // of groups and of the dataset, more than enough
constexpr std::int64_t kChunkBytes = std::int64_t{16} << 20;  // between two looks at the cancel token

/// Nothing where there is no file.
std::optional<std::int64_t> bytes_of(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 ? std::optional<std::int64_t>(facts.st_size) : std::nullopt;
}

void copy_into(AtomicFile& file, const std::string& path, const FileHooks& hooks) {
    std::ifstream old(path, std::ios::binary);
    std::vector<char> chunk(static_cast<std::size_t>(kChunkBytes));
    while (old) {
        stop_if_cancelled(hooks, path);
        old.read(chunk.data(), kChunkBytes);
        file.write(chunk.data(), old.gcount());
    }
    fail_if(!old.eof(), ErrorCode::input,
            "'{}' cannot be read, and its other datasets would be lost; name another file", path);
}

/// A dataset of the name makes way for the new one; anything else of that name stays.
void remove_dataset(const hdf5::Calls& h5, hdf5::Id file, const Hdf5Name& parts) {
    const hdf5::Handle object(h5->Oopen(file, parts.dataset.c_str(), hdf5::kDefault), h5->Oclose);
    if (object.get() < 0) {
        return;
    }
    fail_if(h5->Iget_type(object.get()) != hdf5::kDatasetObject ||
                h5->Ldelete(file, parts.dataset.c_str(), hdf5::kDefault) < 0,
            ErrorCode::input, "'{}' in '{}' is not a dataset that could be replaced; give another name", parts.dataset,
            parts.file);
}

/// Makes room for the elements in the file `path`, and says where.
std::int64_t make_room(const std::string& path, bool existing, const Hdf5Name& parts, const ConstView& matrix) {
    const hdf5::Calls h5(parts.file);
    const hdf5::Handle file(existing ? h5->Fopen(path.c_str(), hdf5::kReadWrite, hdf5::kDefault)
                                     : h5->Fcreate(path.c_str(), hdf5::kTruncate, hdf5::kDefault, hdf5::kDefault),
                            h5->Fclose);
    fail_if(file.get() < 0, ErrorCode::input, "'{}' {}; name another file", parts.file,
            existing ? "exists, but is not an HDF5 file that can be written" : "cannot be made by the HDF5 library");
    if (existing) {
        remove_dataset(h5, file.get(), parts);
    }
    const std::array<hdf5::Size, 2> sizes{static_cast<hdf5::Size>(matrix.rows), static_cast<hdf5::Size>(matrix.cols)};
    const hdf5::Handle space(h5->Screate_simple(2, sizes.data(), nullptr), h5->Sclose);
    const hdf5::Handle groups(h5->Pcreate(h5->link_create), h5->Pclose);
    const hdf5::Handle creation(h5->Pcreate(h5->dataset_create), h5->Pclose);
    h5->Pset_create_intermediate_group(groups.get(), 1);
    h5->Pset_layout(creation.get(), hdf5::kContiguous);
    h5->Pset_alloc_time(creation.get(), hdf5::kAllocateEarly);
    h5->Pset_fill_time(creation.get(), hdf5::kFillNever);
    const hdf5::Handle type = hdf5::stored_type(h5, matrix.type);
    const hdf5::Handle dataset(h5->Dcreate2(file.get(), parts.dataset.c_str(), type.get(), space.get(), groups.get(),
                                            creation.get(), hdf5::kDefault),
                               h5->Dclose);
    const hdf5::Address offset = dataset.get() < 0 ? hdf5::kNowhere : h5->Dget_offset(dataset.get());
    const bool elements = matrix.rows > 0 && matrix.cols > 0;
    fail_if(dataset.get() < 0 || (elements && offset == hdf5::kNowhere), ErrorCode::input,
            "'{}' cannot be made in '{}'; give another name of a dataset", parts.dataset, parts.file);
    return elements ? static_cast<std::int64_t>(offset) : 0;
}

}  // namespace

void check_hdf5_writable(const std::string& name, Type type) {
    const Hdf5Name parts = split_hdf5_name(name);
    fail_if(parts.dataset.size() < 2, ErrorCode::input, "'{}' does not name a dataset; write it as {}:/path/of/dataset",
            name, parts.file);
    fail_if(type != Type::f64 && type != Type::f32 && type != Type::tf32 && !is_integer(type) && !is_complex(type),
            ErrorCode::input,
            "'{}' would hold {}, but datasets are written of f64, f32, c64, c128, i32 and i64; name a .npy file", name,
            type_name(type));
    const hdf5::Calls installed(name);
    const AtomicFile probe(parts.file, 0);
    fail_if(probe.temporary().empty(), ErrorCode::input,
            "'{}' is a device or a pipe, and an HDF5 file cannot be one; give another name", parts.file);
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
    write_elements(file, matrix, name, hooks);
    file.commit();
}

}  // namespace heptad
