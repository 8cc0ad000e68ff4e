#include "io/read_sums.hpp"

#include <algorithm>
#include <future>

#include "base/size.hpp"
#include "io/checksum.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kLargeWindow_bytes = std::int64_t{4} << 20;
constexpr std::int64_t kParts = 4;  // of a large window, at once: one core alone is not much faster than a good disk

struct Lines {
    const std::byte* data;
    std::int64_t stride_bytes, line_bytes;

    std::uint64_t checksum_of(std::int64_t first, std::int64_t count) const {
        std::uint64_t sum = 0;
        for (std::int64_t line = first; line < first + count; ++line) {
            sum = checksum(data + line * stride_bytes, line_bytes, sum);
        }
        return sum;
    }
};

}  // namespace

std::uint64_t view_checksum(const ConstView& view) {
    const bool by_columns = view.row_stride == 1 && view.col_stride != 1;
    const auto element = static_cast<std::int64_t>(element_bytes(view.type));
    const std::int64_t count = by_columns ? view.cols : view.rows;
    const Lines lines{static_cast<const std::byte*>(view.data),
                      element * (by_columns ? view.col_stride : view.row_stride),
                      element * (by_columns ? view.rows : view.cols)};
    // The parts are the same on every machine, and so is the sum.
    const std::int64_t parts = count * lines.line_bytes < kLargeWindow_bytes ? 1 : std::min(kParts, count);
    const std::int64_t each = count == 0 ? 0 : ceil_div(count, parts);
    std::vector<std::future<std::uint64_t>> others;
    for (std::int64_t first = each; first < count; first += each) {
        // By itself where no thread can be had.
        others.push_back(std::async([=] { return lines.checksum_of(first, std::min(each, count - first)); }));
    }
    std::uint64_t sum = lines.checksum_of(0, std::min(each, count));
    for (std::future<std::uint64_t>& other : others) {
        const std::uint64_t next = other.get();
        sum = checksum(&next, sizeof next, sum);
    }
    return sum;
}

void ReadSums::take(const ReadWindow& window, const ConstView& view, const MatrixFile& file) {
    const std::uint64_t sum = view_checksum(view);
    const std::lock_guard lock(mutex_);
    const auto [known, is_new] = sums_.emplace(window, sum);
    if (is_new) {
        new_.emplace(window, sum);
    } else if (known->second != sum) {
        throw InputChanged(file.name());
    }
}

WindowSums ReadSums::take_new() {
    const std::lock_guard lock(mutex_);
    return std::exchange(new_, {});
}

}  // namespace heptad
