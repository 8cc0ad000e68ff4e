#include "product/file/empty_product.hpp"

#include <algorithm>

#include "base/bit_bytes.hpp"
#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "base/view_copy.hpp"
#include "product/memory/product.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kCacheLine_bytes = 64;
constexpr std::int64_t kMostBand_bytes = std::int64_t{64} << 20;  // higher bands are hardly faster

}  // namespace

void write_scaled(const MatrixFile& c0, Factor beta, Accuracy accuracy, std::int64_t memory_bytes,
                  const PartialFile& result, IoQueue& queue, const FileHooks& hooks) {
    FileLayout from = c0.layout(), to = result.layout();
    from.block_bytes = to.block_bytes = 1;
    const std::int64_t pitch = to.pitch_bytes();
    if (from.rows == 0 || pitch == 0) {
        return;
    }
    // Of a C0 stored by columns, every column of a band lies in whole cache lines.
    const std::int64_t slack = from.by_columns ? checked_mul(from.cols, kCacheLine_bytes) : 0;
    const std::int64_t room = std::min(memory_bytes, kMostBand_bytes);
    const std::int64_t at_once = std::clamp<std::int64_t>((room - slack) / (2 * pitch), 1, from.rows);
    const PageBuffer read(at_once * pitch + slack), made(at_once * pitch);
    for (std::int64_t row = 0; row < from.rows; row += at_once) {
        fail_if(hooks.cancel.cancelled(), ErrorCode::cancelled, "interrupted");
        const FileWindow window{row, std::min(at_once, from.rows - row), 0, from.cols};
        const ConstView added = c0.read(queue, from, window, read.data());
        const View c(made.data(), c0.type(), added.rows, added.cols, added.cols, 1);
        copy_view(added, c);
        if (from.packed) {  // bits are added as they are
            clear_beyond(from.cols, from.cols, c);
        } else {
            scale_in_memory(beta, c, hooks.threads, accuracy);
        }
        result.write(queue, to, window, made.data(), pitch);
        if (hooks.progress) {
            hooks.progress({static_cast<double>(row + window.rows) / static_cast<double>(from.rows), "files"});
        }
    }
}

}  // namespace heptad
