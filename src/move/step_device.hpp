// A device that multiplies the steps of a product from file to file. It holds copies of the pipeline's buffers, slot by
// slot: what is read goes there, what is finished comes back, and both while other steps are multiplied. One thread
// uploads, one multiplies, one downloads; each call returns when its work is done.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/view.hpp"
#include "plan/model/plan.hpp"

namespace heptad {

/// Equal buffers, and the largest window that each has to hold.
struct StepBuffers {
    std::int64_t slots = 0, rows = 0, cols = 0;
    bool by_columns = false;
    bool conjugate = false;  ///< what they hold is multiplied as its conjugate
};

struct StepDeviceSizes {
    Type type = Type::f32;
    StepBuffers left, right, tiles;
    std::int64_t strip_rows = 0;  ///< of a tile, multiplied at a time
    std::int64_t workspace_bytes = 0;
};

/// Rows of a tile of C, which may be smaller than its slot.
struct TilePlace {
    std::int64_t slot = 0, tile_rows = 0, tile_cols = 0;
    std::int64_t row = 0, rows = 0;
};

/// Rows of a strip of the left matrix, as it was uploaded.
struct StripPlace {
    std::int64_t slot = 0, row = 0, rows = 0;
};

class StepDevice {
public:
    virtual ~StepDevice() = default;
    /// Does it hold whole tiles of C? Otherwise each strip goes there and back with every step.
    virtual bool holds_tiles() const = 0;

    /// Makes transfers from and to this memory fast, until unlock_all(), as far as the system allows.
    virtual void lock(std::byte* memory, std::int64_t bytes) = 0;
    virtual void unlock_all() = 0;

    virtual void upload_left(std::int64_t slot, const ConstView& from) = 0;
    virtual void upload_right(std::int64_t slot, const ConstView& from) = 0;
    virtual void upload_result(const TilePlace& place, const ConstView& from) = 0;
    /// result = alpha * left * right + beta * result
    virtual void multiply(std::complex<double> alpha, const StripPlace& left, std::int64_t right_slot,
                          std::complex<double> beta, const TilePlace& result, const ProductPlan& plan) = 0;
    virtual void download(const TilePlace& place, const View& to) = 0;
};

using OpenStepDevice = std::function<std::unique_ptr<StepDevice>(const StepDeviceSizes& sizes)>;

}  // namespace heptad
