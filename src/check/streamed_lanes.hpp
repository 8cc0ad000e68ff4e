// What the streamed checks of all kinds of elements have in common.
#pragma once

#include <cstdint>
#include <memory>

#include "base/view.hpp"
#include "check/streamed_residual.hpp"
#include "check/verify.hpp"
#include "plan/search/file_schedule.hpp"

namespace heptad {

/// Draws of signs for rounded sums.
inline constexpr int kRoundedLanes = 24;

/// One object serves a whole run. Tiles one after another; within a tile panel by panel, strip by strip.
class StreamedLanes {
public:
    virtual ~StreamedLanes() = default;
    virtual void begin_tile(const FileWindow& tile) = 0;
    virtual void add_panel(const ConstView& right) = 0;
    virtual void take_c0(std::int64_t row, const ConstView& strip) = 0;
    virtual void add_product(std::int64_t row, const ConstView& left, const ConstView& right) = 0;
    /// Rows of C from `row` of the tile on, which belong to a strip that begins there or before.
    virtual void compare(std::int64_t row, const ConstView& part, const FileWindow& window,
                         const FileWindow& strip) = 0;
    virtual VerifyResult result() const = 0;
};

/// Of packed bits. gf2: Freivalds' test with 64 random vectors, exact. bool: rows of every tile, drawn at random, are
/// recomputed.
std::unique_ptr<StreamedLanes> make_bit_lanes(Type algebra, std::int64_t columns, int threads);

}  // namespace heptad
