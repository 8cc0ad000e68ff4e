// The multiplying stage of a product from file to file: on the processor, on an NVIDIA device, or cut up by the host
// for several devices, by levels of a fast algorithm where they pay (P3 3.7). Levels never reach beyond a step, so that
// tiles stay the unit of the journal.
#include <algorithm>
#include <limits>

#include "backend/cuda/device.hpp"
#include "base/error.hpp"
#include "file_product.hpp"
#include "operands.hpp"
#include "place/devices/device_list.hpp"
#include "place/devices/device_product.hpp"
#include "place/devices/device_steps.hpp"
#include "place/devices/over_devices.hpp"

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

/// Of one step: the host cuts it up once more, by levels or by segments, and feeds its devices (docs/devices.md).
HostPlan step_plan(const Options& options, int threads, const ProblemSize& size, Type type, bool accumulate,
                   std::int64_t host_bytes) {
    Options limited = options;
    limited.accumulate = accumulate;
    limited.workspace_limit_bytes = host_bytes;
    ProductContext context;
    context.threads = threads;
    return make_plan_over_devices(size, type, type, limited, context);
}

std::int64_t step_bytes(const HostPlan& plan, bool in_host_memory) {
    return plan.host_bytes + (in_host_memory ? plan.device_count * plan.device_bytes : 0);
}

StageProducts over_devices_stage(const ProductOptions& asked) {
    const DeviceList list = parse_device_list(asked.options.device);
    open_devices(list);  // told before anything is touched
    const Options options = asked.options;
    const int threads = asked.threads;
    StageProducts stage;
    stage.plan = [=](const StageProduct& product, Type type) {
        ProductPlan plan;
        plan.m = plan.core_m = product.m;
        plan.k = plan.core_k = product.k;
        plan.n = plan.core_n = product.n;
        plan.type = type;
        plan.threads = std::max(threads, 1);
        plan.accumulate = product.accumulate;
        plan.leaf = plan.fringe_leaf = "over-devices";
        try {
            const HostPlan cut = step_plan(options, threads, {product.m, product.k, product.n}, type,
                                           product.accumulate, product.workspace_limit_bytes);
            plan.workspace_bytes = step_bytes(cut, !list.cuda);
            plan.predicted_s = cut.predicted_s;
            plan.error_bound = cut.error_bound;
        } catch (const Error& error) {
            if (error.code() != ErrorCode::resource) {
                throw;
            }
            plan.predicted_s = std::numeric_limits<double>::infinity();  // the cut goes on to smaller steps
        }
        return plan;
    };
    stage.how = [=](const ProductPlan& plan) {
        return bits_decided_by(
            step_plan(options, threads, {plan.m, plan.k, plan.n}, plan.type, plan.accumulate, plan.workspace_bytes));
    };
    stage.multiply = [=](double alpha, const ConstView& a, const ConstView& b, double beta, const View& c,
                         const ProductPlan& plan, void*, std::int64_t) {
        Options limited = options;
        limited.workspace_limit_bytes = plan.workspace_bytes;
        ProductContext context;
        context.threads = threads;
        multiply_over_devices(alpha, a, b, beta, c, limited, context);
    };
    return stage;
}

/// Several devices, or levels that were asked for at the host.
bool is_cut_up_by_host(const Options& options) {
    const HostOptions& host = options.host;
    return is_device_list(options.device) ||
           (is_device_product(options.device) && (host.levels >= 0 || host.algorithm != "auto" || host.pipelines > 0));
}

}  // namespace

StageProducts stage_products(const ProductOptions& product) {
    if (is_cut_up_by_host(product.options)) {
        return over_devices_stage(product);
    }
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
