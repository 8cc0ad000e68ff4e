#include "io/matrix_read.hpp"

#include <algorithm>

#include "base/fail_if.hpp"
#include "io/matrix_file.hpp"
#include "io/matrix_market.hpp"
#include "io/npy.hpp"
#include "io/open_file.hpp"
#include "io/widening.hpp"

namespace heptad {

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
    const MatrixFile file(source, hooks.watch);
    Matrix matrix(source.type, source.layout.rows, source.layout.cols);
    if (matrix.size_bytes() == 0) {
        return matrix;
    }
    const auto queue = make_io_queue("auto", hooks.watch);
    constexpr std::int64_t kChunk_bytes = std::int64_t{64} << 20;  // between two looks at the cancel token
    const std::int64_t pitch = std::max<std::int64_t>(source.layout.pitch_bytes(), 1);
    const std::int64_t at_once = std::max<std::int64_t>(kChunk_bytes / pitch, 1);
    FileLayout layout = source.layout;
    layout.block_bytes = 1;
    for (std::int64_t row = 0; row < layout.rows; row += at_once) {
        fail_if(hooks.cancel.cancelled(), ErrorCode::cancelled, "cancelled while '{}' was read", source.name);
        const std::int64_t rows = std::min(at_once, layout.rows - row);
        file.read(*queue, layout, {row, rows, 0, layout.cols}, static_cast<std::byte*>(matrix.data()) + row * pitch);
        report(hooks, row + rows, layout.rows, "read");
    }
    return matrix;
}

}  // namespace heptad
