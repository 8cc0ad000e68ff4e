// Rows of a bit matrix in host memory, whose pages are locked band by band as transfers get to them.
#pragma once

#include <algorithm>
#include <heptad/bits.hpp>
#include <mutex>
#include <vector>

namespace heptad {

class LockedRows {
public:
    /// `lockable`: no other matrix of the product has rows on the same pages.
    LockedRows(const ConstBitView& view, bool lockable);
    /// Nothing may be under way any more.
    ~LockedRows() { unlock(); }
    LockedRows(const LockedRows&) = delete;
    LockedRows& operator=(const LockedRows&) = delete;

    /// May be called by several threads at once. Calls move(first, last) for rows from `first` to `last`, in ranges
    /// that lie in one band each, which is locked by then. Memory that cannot be locked is moved as it is.
    template <class Move>
    void each_band(std::int64_t first, std::int64_t last, Move&& move) {
        while (first < last) {
            const std::int64_t band = first / band_rows_;
            const std::int64_t end = std::min(last, (band + 1) * band_rows_);
            lock(static_cast<std::size_t>(band));
            move(first, end);
            first = end;
        }
    }

    void unlock() noexcept;
    /// Spent on locking so far.
    double seconds() const { return seconds_; }

private:
    struct Band {
        void* locked = nullptr;
        bool tried = false;
    };
    void lock(std::size_t band);

    ConstBitView view_;
    std::int64_t band_rows_ = 1;
    std::vector<Band> bands_;
    double seconds_ = 0;
    std::mutex mutex_;
};

/// Do two matrices lie on the same pages without being the same?
bool share_pages(const ConstBitView& x, const ConstBitView& y);

}  // namespace heptad
