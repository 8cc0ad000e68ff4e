#include "product/request/file_stage.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "base/bit_bytes.hpp"
#include "base/error.hpp"
#include "base/size.hpp"
#include "kernels/cuda/device/device.hpp"
#include "plan/search/stage_choice.hpp"
#include "product/device/device_list.hpp"
#include "product/device/device_product.hpp"
#include "product/device/device_steps.hpp"
#include "product/device/over_devices.hpp"
#include "product/file/bit_stage.hpp"
#include "product/request/bit_operands.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kDeviceReservedBytes = std::int64_t{512} << 20;  // the library, its kernels, padded rows
constexpr std::int64_t kBitsOfByte = 8;
constexpr std::int64_t kPaddedRowsBytes = std::int64_t{64} << 20;  // of those, for the latter

/// The buffers of strips, panels and tiles have copies on the device; where tiles do not fit, a strip at a time.
StageProducts device_stage(const Request& asked) {
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

/// How the host cuts up a step of that size once more, by levels or by segments, to feed its devices (docs/devices.md),
/// with so many bytes for buffers.
using CutStep = std::function<HostDecision(const ProblemSize& size, bool accumulate, std::int64_t host_bytes)>;

/// What a step takes of the memory of the host: buffers of blocks, or those that transfers in place go through; and the
/// blocks themselves where cores are the devices.
std::int64_t step_bytes(const HostForecast& told, bool in_host_memory) {
    return told.host_bytes + (in_host_memory ? told.devices * told.device_bytes : 0);
}

/// The plan of a step whose cut is made anew when it is multiplied.
ProductPlan plan_of_cut(const StageProduct& product, Type type, int threads, bool in_host_memory, const CutStep& cut) {
    ProductPlan plan;
    plan.m = plan.core_m = product.m;
    plan.k = plan.core_k = product.k;
    plan.n = plan.core_n = product.n;
    plan.type = type;
    plan.threads = std::max(threads, 1);
    plan.accumulate = product.accumulate;
    plan.leaf = plan.fringe_leaf = "over-devices";
    try {
        const HostForecast made =
            cut({product.m, product.k, product.n}, product.accumulate, product.workspace_limit_bytes).forecast;
        plan.workspace_bytes = step_bytes(made, in_host_memory);
        plan.predicted_s = made.predicted_s;
        plan.error_bound = made.error_bound;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::resource) {
            throw;
        }
        plan.predicted_s = std::numeric_limits<double>::infinity();  // the cut goes on to smaller steps
    }
    return plan;
}

StageProducts over_devices_stage(const Request& asked) {
    const DeviceList list = parse_device_list(asked.options.device);
    open_devices(list);  // told before anything is touched
    const Options options = asked.options;
    const int threads = asked.threads;
    ProductContext context;
    context.threads = threads;
    const auto cut = [=](Type type) -> CutStep {
        return [=](const ProblemSize& size, bool accumulate, std::int64_t host_bytes) {
            Options limited = options;
            limited.accumulate = accumulate;
            limited.workspace_limit_bytes = host_bytes;
            return make_plan_over_devices(size, type, type, limited, context);
        };
    };
    StageProducts stage;
    stage.plan = [=](const StageProduct& product, Type type) {
        return plan_of_cut(product, type, threads, !list.cuda, cut(type));
    };
    stage.how = [=](const ProductPlan& plan) {
        return bits_decided_by(cut(plan.type)({plan.m, plan.k, plan.n}, plan.accumulate, plan.workspace_bytes).plan);
    };
    stage.multiply = [=](double alpha, const ConstView& a, const ConstView& b, double beta, const View& c,
                         const ProductPlan& plan, void*, std::int64_t) {
        Options limited = options;
        limited.workspace_limit_bytes = plan.workspace_bytes;
        return multiply_over_devices(alpha, a, b, beta, c, limited, context);
    };
    return stage;
}

/// Plans of steps that came before: they come again and again.
using BitCuts = std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>, ProductPlan>;

StageProducts bits_over_devices_stage(const Request& asked, Type algebra) {
    const DeviceList list = parse_device_list(asked.options.device);
    const auto devices = std::make_shared<const DeviceSet>(open_devices(list));
    const auto known = std::make_shared<BitCuts>();
    const bits::BitOptions options = bit_options(asked);
    const int threads = asked.threads;
    ProductContext context;
    context.threads = threads;
    const auto cut = [=](const ProblemSize& size, bool accumulate, std::int64_t host_bytes) {
        bits::BitOptions limited = options;
        limited.host.host_memory_bytes = std::min(options.host.host_memory_bytes, host_bytes);
        return make_bit_plan_over_devices(algebra, {size.m, size.k, round_up(size.n, kBitsOfByte)}, accumulate, limited,
                                          context);
    };
    StageProducts stage;
    stage.plan = [=](const StageProduct& product, Type type) {
        return plan_of_cut(product, type, threads, !list.cuda, cut);
    };
    stage.multiply = [=](double, const ConstView& a, const ConstView& b, double beta, const View& c,
                         const ProductPlan& plan, void*, std::int64_t) {
        // The cut that the step was planned with: where a file's rows begin inside words, buffers come on top of it.
        const bool adds = beta != 0;
        const BitCuts::key_type key{plan.m, plan.k, plan.n, adds};
        if (!known->contains(key)) {
            (*known)[key] = cut({plan.m, plan.k, plan.n}, adds, plan.workspace_bytes).plan;
        }
        const std::int64_t cols = round_up(plan.n, kBitsOfByte);
        run_host_plan((*known)[key], *devices, bits_of_bytes(a, plan.k), bits_of_bytes(b, cols), bits_of_bytes(c, cols),
                      adds, context);
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
std::optional<StageChoice> choice_for(const Request& request, const FileProblem& problem, const FilePlan& plan,
                                      const StageProducts& on_device) {
    const bool accumulate = plan.depth < plan.k || plan.adds;
    const double step_s =
        on_device
            .plan({plan.strip_m, plan.depth, plan.tile_n, accumulate, 0, plan.tile_bytes, plan.panel_bytes},
                  problem.type)
            .predicted_s;
    Options options = request.options;
    options.host = {};
    options.accumulate = accumulate;
    const double unlimited_s =
        plan_device_product(plan.strip_m, plan.depth, plan.tile_n, problem.type, options, {}).predicted_s;
    if (!(unlimited_s < step_s)) {
        return std::nullopt;
    }
    options.host = request.options.host;
    options.workspace_limit_bytes = problem.memory_bytes - plan.tile_bytes - plan.panel_bytes - plan.check_bytes;
    ProductContext context;
    context.threads = request.threads;
    try {
        return choose_stage(problem, plan, step_s,
                            make_plan_over_devices({plan.strip_m, plan.depth, plan.tile_n}, problem.type, problem.type,
                                                   options, context)
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
    const FilePlan plan = plan_file_product(problem, on_device);
    if (disk_binds(problem, plan)) {
        return {std::move(on_device), ""};
    }
    const std::optional<StageChoice> choice = choice_for(request, problem, plan, on_device);
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
