#include "base/view.hpp"

namespace heptad {

ByteRange byte_range(const ConstView& v) {
    if (v.rows <= 0 || v.cols <= 0) {
        return {};
    }
    const auto bytes = static_cast<std::int64_t>(element_bytes(v.type));
    const std::int64_t row_reach = (v.rows - 1) * v.row_stride;
    const std::int64_t col_reach = (v.cols - 1) * v.col_stride;
    const std::int64_t lowest = (row_reach < 0 ? row_reach : 0) + (col_reach < 0 ? col_reach : 0);
    const std::int64_t highest = (row_reach > 0 ? row_reach : 0) + (col_reach > 0 ? col_reach : 0);
    const auto base = reinterpret_cast<std::uintptr_t>(v.data);
    return {base + static_cast<std::uintptr_t>(lowest * bytes),
            base + static_cast<std::uintptr_t>((highest + 1) * bytes)};
}

}  // namespace heptad
