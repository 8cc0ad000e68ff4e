#include "product/request/file_stage.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/bit_bytes.hpp"
#include "base/error.hpp"
#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "kernels/cuda/device/device.hpp"
#include "plan/search/stage_choice.hpp"
#include "product/device/device_list.hpp"
#include "product/device/device_product.hpp"
#include "product/device/device_steps.hpp"
#include "product/device/over_devices.hpp"
#include "product/memory/by_definition.hpp"
#include "product/request/bit_operands.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kStageReservedBytes = std::int64_t{512} << 20;  // the library, its kernels, padded rows
constexpr std::int64_t kBitsOfByte = 8;
constexpr std::int64_t kPaddedRowsBytes = std::int64_t{64} << 20;  // of those, for the latter

/// What `make` makes of a step, or a plan that is never carried out where memory is short: the cut goes on to smaller
/// steps.
template <class Make>
ProductPlan plan_or_none(const StageProduct& product, Type type, bool fits, Make&& make) {
    ProductPlan plan;
    try {
        plan = make();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::resource) {
            throw;
        }
        fits = false;
    }
    if (!fits) {
        plan.predicted_s = std::numeric_limits<double>::infinity();
    }
    plan.m = product.m;
    plan.k = product.k;
    plan.n = product.n;
    plan.type = type;
    return plan;
}

/// The buffers of strips, panels and tiles have copies on the device; where tiles do not fit, a strip at a time.
StageProducts device_stage(const Request& asked) {
    const int device = cuda::device_index(asked.options.device);
    cuda::require_device(device);
    const std::int64_t free = cuda::report().devices.at(static_cast<std::size_t>(device)).free_bytes;
    const std::int64_t room = std::min(asked.options.host.device_memory_bytes, free) - kStageReservedBytes;
    StageProducts stage;
    Options within_device = asked.options;
    within_device.host = {};  // the file's own cut fits
    stage.plan = [options = within_device, room](const StageProduct& product, Type type) {
        const auto element = static_cast<std::int64_t>(element_bytes(type));
        const std::int64_t with_tiles = product.panel_bytes + product.tile_bytes;
        const std::int64_t with_strips = product.panel_bytes + product.m * product.n * element;
        const std::int64_t taken = with_tiles <= room ? with_tiles : with_strips;
        const Options limited = options_of_step(options, product, std::max<std::int64_t>(room - taken, 0));
        return plan_or_none(product, type, taken <= room,
                            [&] { return plan_device_product(product.m, product.k, product.n, type, limited, {}); });
    };
    stage.open_device = [device, room](const StepDeviceSizes& sizes) {
        return open_device_steps(sizes, device, room + kPaddedRowsBytes);
    };
    return stage;
}

/// What a step takes of the memory of the host: buffers of blocks, or those that transfers in place go through; and the
/// blocks themselves where cores are the devices.
std::int64_t step_bytes(const HostForecast& told, bool in_host_memory) {
    return told.host_bytes + (in_host_memory ? told.devices * told.device_bytes : 0);
}

/// The host cuts up a step once more, by levels or by segments, to feed its devices (docs/devices.md).
template <class Cut>
ProductPlan plan_of_cut(const StageProduct& product, Type type, bool in_host_memory, Cut&& cut) {
    return plan_or_none(product, type, true, [&] {
        const HostDecision made = cut();
        ProductPlan plan = made.plan;
        plan.workspace_bytes = step_bytes(made.forecast, in_host_memory);
        return plan;
    });
}

StageProducts over_devices_stage(const Request& asked) {
    const DeviceList list = parse_device_list(asked.options.device);
    open_devices(list);  // told before anything is touched
    const ProductContext context{.threads = asked.threads};
    StageProducts stage;
    stage.plan = [=, options = asked.options](const StageProduct& product, Type type) {
        return plan_of_cut(product, type, !list.cuda, [&] {
            Options limited = options_of_step(options, product, product.workspace_limit_bytes);
            if (product.by_definition) {
                limited.host.levels = 0;
                limited.host.algorithm = "auto";
            }
            return make_plan_over_devices({product.m, product.k, product.n}, type, type, limited, context);
        });
    };
    stage.how = bits_decided_by;
    stage.multiply = [=](Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                         const ProductPlan& plan, void*,
                         std::int64_t) { return multiply_over_devices(alpha, a, b, beta, c, plan, context); };
    return stage;
}

StageProducts bits_over_devices_stage(const Request& asked, Type algebra) {
    const DeviceList list = parse_device_list(asked.options.device);
    const auto devices = std::make_shared<const DeviceSet>(open_devices(list));
    const ProductContext context{.threads = asked.threads};
    StageProducts stage;
    stage.plan = [=, options = bit_options(asked)](const StageProduct& product, Type type) {
        return plan_of_cut(product, type, !list.cuda, [&] {
            bits::BitOptions limited = options;
            limited.host.host_memory_bytes = std::min(options.host.host_memory_bytes, product.workspace_limit_bytes);
            return make_bit_plan_over_devices(algebra, {product.m, product.k, round_up(product.n, kBitsOfByte)},
                                              product.accumulate, limited, context);
        });
    };
    stage.multiply = [=](Factor, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                         const ProductPlan& plan, void*, std::int64_t) {
        const std::int64_t cols = round_up(plan.n, kBitsOfByte);
        run_host_plan(plan, *devices, bits_of_bytes(a, plan.k), bits_of_bytes(b, cols), bits_of_bytes(c, cols),
                      beta != 0.0, context);
        return RunReport{};
    };
    return stage;
}

/// Several devices, or levels that were asked for at the host.
bool is_cut_up_by_host(const Options& options) {
    const HostOptions& host = options.host;
    return is_device_list(options.device) ||
           (is_device_product(options.device) && (host.levels >= 0 || host.algorithm != "auto" || host.pipelines > 0));
}

/// What the host would make of a whole step of the plan, if more workspace than the device has left would make the
/// step faster: else levels at the host cannot pay.
std::optional<StageChoice> choice_for(const Request& request, const FileProblem& problem, const FileChoice& choice,
                                      const StageProducts& on_device) {
    const DiskCut& cut = *choice.plan.disk;
    const FileTraffic& traffic = choice.traffic;
    const bool accumulate = cut.depth < problem.k || problem.adds;
    const double step_s =
        on_device
            .plan({cut.strip_m, cut.depth, cut.tile_n, accumulate, 0, traffic.tile_bytes, traffic.panel_bytes},
                  problem.type)
            .predicted_s;
    Options options = request.options;
    options.host = {};
    options.accumulate = accumulate;
    const double unlimited_s =
        plan_device_product(cut.strip_m, cut.depth, cut.tile_n, problem.type, options, {}).predicted_s;
    if (!(unlimited_s < step_s)) {
        return std::nullopt;
    }
    options.host = request.options.host;
    options.workspace_limit_bytes =
        problem.memory_bytes - traffic.tile_bytes - traffic.panel_bytes - traffic.check_bytes;
    const ProductContext context{.threads = request.threads};
    try {
        return choose_stage(
            problem, traffic, step_s,
            make_plan_over_devices({cut.strip_m, cut.depth, cut.tile_n}, problem.type, problem.type, options, context)
                .plan);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::resource) {
            throw;
        }
        return StageChoice{StepsCutBy::file, "the memory left for the host's buffers is too small for its levels"};
    }
}

}  // namespace

StageDecision decide_stage(const Request& request, const FileProblem& problem) {
    if (is_cut_up_by_host(request.options)) {
        return {over_devices_stage(request), ""};
    }
    if (!is_device_product(request.options.device)) {
        return {processor_stage(request.options, request.threads), ""};
    }
    StageProducts on_device = device_stage(request);
    if (problem.m == 0 || problem.k == 0 || problem.n == 0) {  // there are no steps
        return {std::move(on_device), ""};
    }
    const FileChoice planned = plan_file_product(problem, on_device);
    if (disk_binds(problem, planned.traffic)) {
        return {std::move(on_device), ""};
    }
    const std::optional<StageChoice> choice = choice_for(request, problem, planned, on_device);
    return {choice && choice->by == StepsCutBy::host ? over_devices_stage(request) : std::move(on_device),
            choice ? choice->reason : ""};
}

StageProducts stage_as_begun(const Request& request, bool host_cuts_steps) {
    if (is_cut_up_by_host(request.options)) {
        return over_devices_stage(request);
    }
    if (!is_device_product(request.options.device)) {
        return processor_stage(request.options, request.threads);
    }
    return host_cuts_steps ? over_devices_stage(request) : device_stage(request);
}

StageProducts bit_stage_products(const Request& request, Type algebra) {
    const std::string& device = request.options.device;
    return is_device_list(device) || is_device_product(device)
               ? bits_over_devices_stage(request, algebra)
               : packed_bits_stage(algebra, bit_options(request), request.threads);
}

}  // namespace heptad
