#include "io/whole_matrix.hpp"

#include <algorithm>
#include <array>

#include "base/fail_if.hpp"
#include "io/bit_file.hpp"
#include "io/hdf5_dataset.hpp"
#include "io/matrix_file.hpp"
#include "io/matrix_market.hpp"
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
            "'{}' is not a file with a name, and a result that is written piece by piece needs one; give the name of a "
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

Matrix read_matrix(const MatrixName& name, const FileHooks& hooks) {
    if (widened_from(name)) {
        return widened(read_matrix({.path = name.path}, hooks), *name.as);
    }
    if (!name.raw && is_matrix_market_name(name.path)) {
        return read_market_matrix(name.path, name.as, hooks);
    }
    if (!name.raw && !is_hdf5_name(name.path)) {
        return read_npy(name.path, name.as, hooks);
    }
    const MatrixSource source = find_matrix(name);
    fail_if(source.type == Type::gf2 || source.type == Type::boolean, ErrorCode::input,
            "'{}' cannot be bits without a header; give them as .npy or .pbm", source.name);
    const MatrixFile file(source);
    Matrix matrix(source.type, source.layout.rows, source.layout.cols);
    if (matrix.size_bytes() == 0) {
        return matrix;
    }
    const auto queue = make_io_queue("auto");
    constexpr std::int64_t kChunk_bytes = std::int64_t{64} << 20;  // between two looks at the cancel token
    const std::int64_t pitch = std::max<std::int64_t>(source.layout.pitch_bytes(), 1);
    const std::int64_t at_once = std::max<std::int64_t>(kChunk_bytes / pitch, 1);
    FileLayout layout = source.layout;
    layout.block_bytes = 1;
    for (std::int64_t row = 0; row < layout.rows; row += at_once) {
        stop_if_cancelled(hooks, source.name);
        const std::int64_t rows = std::min(at_once, layout.rows - row);
        file.read(*queue, layout, {row, rows, 0, layout.cols}, static_cast<std::byte*>(matrix.data()) + row * pitch);
        report(hooks, row + rows, layout.rows, "read");
    }
    return matrix;
}

}  // namespace heptad
