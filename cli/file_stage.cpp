// The multiplying stage of a product from file to file, on the processor or on an NVIDIA device.
#include <algorithm>
#include <limits>

#include "backend/cuda/device.hpp"
#include "base/error.hpp"
#include "file_product.hpp"
#include "operands.hpp"
#include "place/devices/device_product.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kDeviceReservedBytes = std::int64_t{512} << 20;  // the library, its kernels, padded rows

/// Copies of a strip, a panel and their result go to the device and back for every step.
StageProducts device_stage(const ProductOptions& product) {
    const int device = cuda::device_index(product.options.device);
    cuda::require_device(device);
    const std::int64_t free = cuda::report().devices.at(static_cast<std::size_t>(device)).free_bytes;
    const std::int64_t room = std::min(product.options.host.device_memory_bytes, free) - kDeviceReservedBytes;
    StageProducts stage;
    stage.workspace_on_host = false;
    Options within_device = product.options;
    within_device.host = {};  // the file's own cut fits
    stage.plan = [options = within_device, room](std::int64_t m, std::int64_t k, std::int64_t n, Type type,
                                                 bool accumulate, std::int64_t) {
        const auto element = static_cast<std::int64_t>(element_bytes(type));
        const std::int64_t operands = (m * k + k * n + m * n) * element;
        Options limited = options;
        limited.accumulate = accumulate;
        limited.workspace_limit_bytes = std::max<std::int64_t>(room - operands, 0);
        ProductPlan plan = plan_device_product(m, k, n, type, limited, {});
        if (operands > room) {  // never carried out: the cut goes on to smaller steps
            plan.predicted_s = std::numeric_limits<double>::infinity();
        }
        return plan;
    };
    stage.multiply = [device](double alpha, const ConstView& a, const ConstView& b, double beta, const View& c,
                              const ProductPlan& plan, void*,
                              std::int64_t) { multiply_on_device(alpha, a, b, beta, c, plan, device, {}); };
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
