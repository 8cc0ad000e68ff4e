#include "io/matrix_write.hpp"

#include <algorithm>
#include <array>

#include "base/fail_if.hpp"
#include "io/atomic_file.hpp"
#include "io/bit_file.hpp"
#include "io/hdf5_dataset.hpp"
#include "io/matrix_source.hpp"
#include "io/npy.hpp"
#include "io/open_file.hpp"

namespace heptad {
namespace {

/// A reader would take the contents for something else. Other suffixes promise nothing: results go to temporary names
/// too.
constexpr std::array<const char*, 9> kForeign{".mtx", ".csv", ".tsv", ".txt", ".json", ".mat", ".npz", ".bin", ".raw"};

void require_format(const std::string& path) {
    fail_if(is_bit_file_name(path), ErrorCode::input,
            "'{}' would be a file of packed bits, but this matrix has a byte or more for each element; name a .npy "
            "file, or make the result packed: --type gf2 or bool, without options that packed bits do not have",
            path);
    fail_if(promises_foreign_format(path), ErrorCode::input,
            "'{}' has the suffix of a format that Heptad does not write; name a .npy file", path);
}

}  // namespace

bool promises_foreign_format(const std::string& path) {
    const std::string suffix = suffix_of(path);
    return !is_hdf5_name(path) && std::ranges::any_of(kForeign, [&](const char* foreign) { return suffix == foreign; });
}

void require_npy_name(const std::string& path) {
    require_format(path);
    fail_if(path == "-" || open_file_of(path), ErrorCode::input,
            "'{}' is not a file with a name, and a result that is made piece by piece needs one; give the name of a "
            "file",
            path);
    fail_if(is_hdf5_name(path), ErrorCode::input,
            "'{}' would be an HDF5 dataset, which is written from memory only; name a .npy file", path);
}

void check_matrix_writable(const std::string& path, Type type) {
    require_format(path);
    if (is_hdf5_name(path)) {
        check_hdf5_writable(path, type);
        return;
    }
    check_writable(path);
}

void write_matrix(const std::string& path, const ConstView& matrix, const FileHooks& hooks) {
    require_format(path);
    if (is_hdf5_name(path)) {
        write_hdf5_dataset(path, matrix, hooks);
        return;
    }
    write_npy(path, matrix, hooks);
}

}  // namespace heptad
