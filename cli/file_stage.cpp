// The multiplying stage of a product from file to file, on the processor or on an NVIDIA device.
#include <algorithm>
#include <limits>

#include "backend/cuda/device.hpp"
#include "base/error.hpp"
#include "file_product.hpp"
#include "operands.hpp"
#include "place/devices/device_product.hpp"
#include "place/devices/device_steps.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kDeviceReservedBytes = std::int64_t{512} << 20;  // the library, its kernels, padded rows
constexpr std::int64_t kPaddedRowsBytes = std::int64_t{64} << 20;       // of those, for the latter

/// The buffers of strips, panels and tiles have copies on the device; where tiles do not fit, a strip at a time.
StageProducts device_stage(const ProductOptions& asked) {
    const int device = cuda::device_index(asked.options.device);
    cuda::require_device(device);
    const std::int64_t free = cuda::report().devices.at(static_cast<std::size_t>(device)).free_bytes;
    const std::int64_t room = std::min(asked.options.host.device_memory_bytes, free) - kDeviceReservedBytes;
    StageProducts stage;
    Options within_device = asked.options;
    within_device.host = {};  // the file's own cut fits
    stage.plan = [options = within_device, room](const StageProduct& product, Type type) {
        const auto element = static_cast<std::int64_t>(element_bytes(type));
        const std::int64_t with_tiles = product.panel_bytes + product.tile_bytes;
        const std::int64_t with_strips = product.panel_bytes + product.m * product.n * element;
        const std::int64_t taken = with_tiles <= room ? with_tiles : with_strips;
        Options limited = options;
        limited.accumulate = product.accumulate;
        limited.workspace_limit_bytes = std::max<std::int64_t>(room - taken, 0);
        ProductPlan plan = plan_device_product(product.m, product.k, product.n, type, limited, {});
        if (taken > room) {  // never carried out: the cut goes on to smaller steps
            plan.predicted_s = std::numeric_limits<double>::infinity();
        }
        return plan;
    };
    stage.open_device = [device, room](const StepDeviceSizes& sizes) {
        return open_device_steps(sizes, device, room + kPaddedRowsBytes);
    };
    return stage;
}

}  // namespace

StageProducts stage_products(const ProductOptions& product) {
    return is_device_product(product.options.device) ? device_stage(product)
                                                     : processor_stage(product.options, product.threads);
}

std::int64_t file_memory_bytes(const ProductOptions& product) {
    constexpr double kShareOfFree = 0.8;  // the rest is for the system's own cache
    return product.memory_bytes
               ? *product.memory_bytes
               : static_cast<std::int64_t>(kShareOfFree * static_cast<double>(memory_limit_bytes(product)));
}

}  // namespace heptad::cli
