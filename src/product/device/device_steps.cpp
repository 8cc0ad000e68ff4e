#include "product/device/device_steps.hpp"

#include <mutex>
#include <set>
#include <vector>

#include "base/complex_as_real.hpp"
#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "kernels/cuda/device/device.hpp"
#include "move/locked_pages.hpp"
#include "product/device/device_product.hpp"

namespace heptad {
namespace {

/// Rows that begin on 16-byte boundaries are faster to read, whatever they are on the host.
std::int64_t device_stride(Type type, std::int64_t line) {
    return round_up(line, 16 / static_cast<std::int64_t>(element_bytes(type)));
}

std::int64_t slot_bytes(Type type, std::int64_t rows, std::int64_t cols, bool by_columns) {
    const std::int64_t lines = by_columns ? cols : rows, line = by_columns ? rows : cols;
    return checked_mul(checked_mul(lines, device_stride(type, line)), static_cast<std::int64_t>(element_bytes(type)));
}

std::int64_t slot_bytes(Type type, const StepBuffers& buffers) {
    return slot_bytes(type, buffers.rows, buffers.cols, buffers.by_columns);
}

View device_view(void* data, Type type, std::int64_t rows, std::int64_t cols, bool by_columns) {
    return by_columns ? View(data, type, rows, cols, 1, device_stride(type, rows))
                      : View(data, type, rows, cols, device_stride(type, cols), 1);
}

/// Between two views stored alike, one of them on the device; waits.
void transfer(const ConstView& from, const View& to, bool by_columns, const cuda::Stream& stream) {
    const auto element = static_cast<std::int64_t>(element_bytes(from.type));
    const std::int64_t lines = by_columns ? from.cols : from.rows, length = by_columns ? from.rows : from.cols;
    const auto pitch = [&](const ConstView& view) {
        return (lines <= 1 ? length : by_columns ? view.col_stride : view.row_stride) * element;
    };
    const cuda::DeviceScope scope(stream.device());
    cuda::copy_rows(from.data, pitch(from), to.data, pitch(to), length * element, lines, stream.handle());
    stream.synchronize();
}

class DeviceSteps final : public StepDevice {
public:
    DeviceSteps(const StepDeviceSizes& sizes, int device, bool holds_tiles)
        : sizes_(sizes), device_(device), holds_tiles_(holds_tiles), up_(device), multiply_(device), down_(device) {
        const cuda::DeviceScope scope(device);
        const auto take = [&](std::vector<cuda::DeviceMemory>& slots, std::int64_t count, std::int64_t bytes) {
            for (std::int64_t i = 0; i < count; ++i) {
                slots.emplace_back(device, bytes, multiply_.handle());
            }
        };
        take(left_, sizes.left.slots, slot_bytes(sizes.type, sizes.left));
        take(right_, sizes.right.slots, slot_bytes(sizes.type, sizes.right));
        const StepBuffers& tiles = sizes.tiles;
        take(tiles_, holds_tiles ? tiles.slots : 1,
             holds_tiles ? slot_bytes(sizes.type, tiles)
                         : slot_bytes(sizes.type, sizes.strip_rows, tiles.cols, tiles.by_columns));
        workspace_ = cuda::DeviceMemory(device, sizes.workspace_bytes, multiply_.handle());
        multiply_.synchronize();
        left_views_.resize(left_.size());
        right_views_.resize(right_.size());
    }
    ~DeviceSteps() override { unlock_pages(); }
    DeviceSteps(const DeviceSteps&) = delete;
    DeviceSteps& operator=(const DeviceSteps&) = delete;

    bool holds_tiles() const override { return holds_tiles_; }

    void lock(std::byte* memory, std::int64_t bytes) override {
        {
            const std::lock_guard lock(mutex_);
            if (!asked_.insert(memory).second) {
                return;
            }
        }
        touch_pages(memory, bytes);
        const cuda::DeviceScope scope(device_);
        if (cuda::lock_pages(memory, bytes)) {
            const std::lock_guard lock(mutex_);
            locked_.push_back(memory);
        }
    }
    void unlock_all() override { unlock_pages(); }

    void upload_left(std::int64_t slot, const ConstView& from) override {
        left_views_[index(slot)] = place(left_[index(slot)], from, sizes_.left.by_columns);
        transfer(from, left_views_[index(slot)], sizes_.left.by_columns, up_);
    }
    void upload_right(std::int64_t slot, const ConstView& from) override {
        right_views_[index(slot)] = place(right_[index(slot)], from, sizes_.right.by_columns);
        transfer(from, right_views_[index(slot)], sizes_.right.by_columns, up_);
    }
    /// With tiles this is the uploading thread's, without them the multiplying one's, like all of a step.
    void upload_result(const TilePlace& place, const ConstView& from) override {
        transfer(from, result(place), sizes_.tiles.by_columns, holds_tiles_ ? up_ : multiply_);
    }

    void multiply(Factor alpha, const StripPlace& left, std::int64_t right_slot, Factor beta, const TilePlace& place,
                  const ProductPlan& plan) override {
        const ProductContext context{
            .workspace = workspace_.data(), .workspace_bytes = sizes_.workspace_bytes, .stream = multiply_.handle()};
        const View& strip = left_views_[index(left.slot)];
        multiply_on_device(alpha, conjugated(block(strip, left.row, 0, left.rows, strip.cols), sizes_.left.conjugate),
                           conjugated(right_views_[index(right_slot)], sizes_.right.conjugate), beta, result(place),
                           plan, device_, context);
        multiply_.synchronize();
    }

    void download(const TilePlace& place, const View& to) override {
        transfer(result(place), to, sizes_.tiles.by_columns, holds_tiles_ ? down_ : multiply_);
    }

private:
    static std::size_t index(std::int64_t slot) { return static_cast<std::size_t>(slot); }

    View place(const cuda::DeviceMemory& memory, const ConstView& like, bool by_columns) const {
        return device_view(memory.data(), sizes_.type, like.rows, like.cols, by_columns);
    }

    View result(const TilePlace& place) const {
        const bool by_columns = sizes_.tiles.by_columns;
        if (!holds_tiles_) {
            return device_view(tiles_.front().data(), sizes_.type, place.rows, place.tile_cols, by_columns);
        }
        const View tile =
            device_view(tiles_[index(place.slot)].data(), sizes_.type, place.tile_rows, place.tile_cols, by_columns);
        return block(tile, place.row, 0, place.rows, place.tile_cols);
    }

    void unlock_pages() {
        const std::lock_guard lock(mutex_);
        for (std::byte* const memory : locked_) {
            cuda::unlock_pages(memory);
        }
        locked_.clear();
        asked_.clear();
    }

    StepDeviceSizes sizes_;
    int device_;
    bool holds_tiles_;
    cuda::Stream up_, multiply_, down_;  // before the memory, which is given back in the order of one of them
    std::vector<cuda::DeviceMemory> left_, right_, tiles_;
    cuda::DeviceMemory workspace_;
    std::vector<View> left_views_, right_views_;
    std::mutex mutex_;
    std::set<std::byte*> asked_;
    std::vector<std::byte*> locked_;
};

/// On the device beside the workspace: with whole tiles of C, and with a strip of one at a time.
std::int64_t step_device_bytes(const StepDeviceSizes& sizes, bool holds_tiles) {
    const StepBuffers& tiles = sizes.tiles;
    const std::int64_t of_c = holds_tiles ? checked_mul(tiles.slots, slot_bytes(sizes.type, tiles))
                                          : slot_bytes(sizes.type, sizes.strip_rows, tiles.cols, tiles.by_columns);
    return checked_add(checked_add(checked_mul(sizes.left.slots, slot_bytes(sizes.type, sizes.left)),
                                   checked_mul(sizes.right.slots, slot_bytes(sizes.type, sizes.right))),
                       of_c);
}

}  // namespace

std::unique_ptr<StepDevice> open_device_steps(const StepDeviceSizes& sizes, int device, std::int64_t room_bytes) {
    cuda::require_device(device);
    const std::int64_t with_tiles = checked_add(step_device_bytes(sizes, true), sizes.workspace_bytes);
    const std::int64_t with_strips = checked_add(step_device_bytes(sizes, false), sizes.workspace_bytes);
    fail_if(with_strips > room_bytes, ErrorCode::resource,
            "the steps take {} bytes on cuda:{}, and {} are free or allowed; allow more device memory, or less "
            "host memory, which makes smaller steps",
            with_strips, device, room_bytes);
    return std::make_unique<DeviceSteps>(sizes, device, with_tiles <= room_bytes);
}

}  // namespace heptad
