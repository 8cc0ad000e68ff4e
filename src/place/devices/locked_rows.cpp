#include "place/devices/locked_rows.hpp"

#include <algorithm>
#include <chrono>

#include "backend/cuda/device.hpp"
#include "base/size.hpp"
#include "bits/bit_words.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kPageBytes = 4096;
/// Smaller matrices are moved in no time, and share pages with others.
constexpr std::int64_t kLeastBytes = std::int64_t{4} << 20;
/// Long enough for the link, short enough to begin soon.
constexpr std::int64_t kBandBytes = std::int64_t{256} << 20;

std::int64_t bytes_of(const ConstBitView& view) {
    return view.rows > 0 ? 8 * ((view.rows - 1) * view.stride + bits::words_of(view.cols)) : 0;
}

}  // namespace

LockedRows::LockedRows(const ConstBitView& view, bool lockable)
    : view_(view), band_rows_(std::max<std::int64_t>(view.rows, 1)) {
    const std::int64_t row_bytes = 8 * view.stride;
    // Two locked ranges must not share a page, and no copy may reach from one into another: bands begin with pages, or
    // there is only one.
    constexpr std::int64_t kUnitRows = 64;
    if (reinterpret_cast<std::uintptr_t>(view.words) % kPageBytes == 0 && row_bytes % (kPageBytes / kUnitRows) == 0) {
        band_rows_ = round_up(std::max<std::int64_t>(1, kBandBytes / std::max<std::int64_t>(row_bytes, 1)), kUnitRows);
    }
    bands_.resize(static_cast<std::size_t>(ceil_div(view.rows, band_rows_)));
    if (!lockable || bytes_of(view) < kLeastBytes || cuda::is_locked(view.words)) {
        std::fill(bands_.begin(), bands_.end(), Band{nullptr, true});
    }
}

void LockedRows::lock(std::size_t band) {
    const std::lock_guard held(mutex_);
    if (bands_[band].tried) {
        return;
    }
    bands_[band].tried = true;
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t first = static_cast<std::int64_t>(band) * band_rows_;
    const std::int64_t last = std::min(first + band_rows_, view_.rows);
    const auto begin = reinterpret_cast<std::uintptr_t>(view_.words + first * view_.stride);
    // The last row of all may end before its stride does, and the memory with it.
    const std::uintptr_t end = last < view_.rows ? reinterpret_cast<std::uintptr_t>(view_.words + last * view_.stride)
                                                 : reinterpret_cast<std::uintptr_t>(view_.words) +
                                                       static_cast<std::uintptr_t>(bytes_of(view_));
    const std::uintptr_t page = begin / kPageBytes * kPageBytes;
    auto* const memory = reinterpret_cast<void*>(page);  // NOLINT(performance-no-int-to-ptr): the start of a page
    if (cuda::lock_pages(memory, round_up(static_cast<std::int64_t>(end - page), kPageBytes))) {
        bands_[band].locked = memory;
    }
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool share_pages(const ConstBitView& x, const ConstBitView& y) {
    if (x.words == y.words && x.rows == y.rows && x.stride == y.stride && x.cols == y.cols) {
        return false;  // the same bands, locked once
    }
    const auto first_page = [](const ConstBitView& view) {
        return reinterpret_cast<std::uintptr_t>(view.words) / kPageBytes;
    };
    const auto end_page = [](const ConstBitView& view) {
        return (reinterpret_cast<std::uintptr_t>(view.words) + static_cast<std::uintptr_t>(bytes_of(view)) +
                kPageBytes - 1) /
               kPageBytes;
    };
    return first_page(x) < end_page(y) && first_page(y) < end_page(x);
}

void LockedRows::unlock() noexcept {
    for (Band& band : bands_) {
        if (band.locked != nullptr) {
            cuda::unlock_pages(band.locked);
            band.locked = nullptr;
        }
    }
}

}  // namespace heptad
