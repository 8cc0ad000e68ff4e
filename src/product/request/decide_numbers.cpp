// How a product of numbers in memory is made: as a plan of the caller says, over devices, on one, or on the processor.
#include "base/fail_if.hpp"
#include "io/device_machine.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/device_choice.hpp"
#include "product/device/device_list.hpp"
#include "product/device/device_product.hpp"
#include "product/device/over_devices.hpp"
#include "product/request/memory_limits.hpp"
#include "product/request/request_plan.hpp"

namespace heptad {
namespace {

/// A plan for an NVIDIA device does not say which one; the request may. -1: the processor.
int planned_device(const ProductPlan& plan, const Request& request) {
    const std::string& asked = request.options.device;
    if (is_device_product(plan.backend)) {
        return cuda::device_index(cuda::is_device_name(asked) ? asked : plan.backend);
    }
    fail_if(cuda::is_device_name(asked), ErrorCode::usage,
            "{} is a plan for {}, not for {}; leave --device out, or plan with it", request.plan_file, plan.backend,
            asked);
    return -1;
}

void require_workspace(const ProductPlan& given, std::int64_t left, const Request& request) {
    fail_if(given.workspace_bytes > left, ErrorCode::resource,
            "the plan of {} needs a workspace of {} bytes, but {} bytes are left beside the matrices; "
            "plan with a smaller --memory",
            request.plan_file, given.workspace_bytes, left);
}

/// As the plan of the caller says.
void take_given_plan(const Request& request, const OperandFacts& facts, RequestPlan& plan) {
    const ProductPlan& given = *request.plan;
    plan.given = true;
    require_fitting_plan(given, request, facts.type, facts.size);
    fail_if(is_packed(given), ErrorCode::input, "{} plans a product of packed bits, and this one is not packed",
            request.plan_file);
    if (given.host) {
        plan.decide(given_over_devices(given, request, plan.operand_bytes));
        return;
    }
    plan.device = planned_device(given, request);
    const std::int64_t left = plan.device >= 0 ? device_workspace_after(plan.operand_bytes, request, plan.device)
                                               : workspace_after(plan.operand_bytes, request);
    require_workspace(given, left, request);
    plan.decided = given;
}

}  // namespace

void require_fitting_plan(const ProductPlan& given, const Request& request, Type type, const ProblemSize& size) {
    fail_if(given.m != size.m || given.k != size.k || given.n != size.n || given.type != type, ErrorCode::input,
            "{} plans a product of {} x {} x {} in {}, but the files hold one of {} x {} x {} in {}", request.plan_file,
            given.m, given.k, given.n, type_name(given.type), size.m, size.k, size.n, type_name(type));
    fail_if(given.overwrite_inputs && request.verify, ErrorCode::input,
            "{} plans a product that overwrites A and B, and --verify needs them; leave one out", request.plan_file);
    fail_if(request.beta != 0.0 && !given.accumulate, ErrorCode::input,
            "{} plans a product that is not added to a matrix; plan it with --beta {}", request.plan_file,
            factor_text(request.beta));
}

HostDecision given_over_devices(const ProductPlan& given, const Request& request, std::int64_t operand_bytes) {
    require_workspace(given, workspace_after(operand_bytes, request), request);
    open_devices(parse_device_list(given.host->devices));  // told before the files are read
    return {given, check_plan_over_devices(given)};
}

void take_device_that_pays(const ProblemSize& size, Type type, std::int64_t operand_bytes, Options& options,
                           const ProductContext& context) {
    Options there = options;
    there.device = device_that_pays(size, type, type, options, context);
    if (there.device != options.device && !goes_beyond_device(operand_bytes, there)) {
        options.device = there.device;
    }
}

bool goes_over_devices(const Request& request, std::int64_t operand_bytes) {
    const Options& options = request.options;
    return is_device_list(options.device) ||
           (is_device_product(options.device) && goes_beyond_device(operand_bytes, options));
}

RequestPlan decide_numbers(const Request& request, const OperandFacts& facts, bool carried_out) {
    const auto& [m, k, n] = facts.size;
    const std::int64_t operand_bytes = facts.bytes_of(request);
    RequestPlan plan{facts.type, facts.size, operand_bytes, {}, request.options};
    Options& options = plan.options;
    options.accumulate = request.beta != 0.0;
    if (carried_out && !request.plan_file.empty()) {
        take_given_plan(request, facts, plan);
        return plan;
    }
    const ProductContext context{.threads = request.threads};
    take_device_that_pays(facts.size, facts.type, operand_bytes, options, context);
    if (goes_over_devices(request, operand_bytes)) {
        if (carried_out || request.memory_bytes) {
            options.workspace_limit_bytes = workspace_after(operand_bytes, request);
        }
        plan.decide(make_plan_over_devices(facts.size, facts.type, facts.type, options, context));
        if (carried_out) {
            open_devices(parse_device_list(options.device));  // told before the files are read
        }
    } else if (!is_device_product(options.device)) {
        const auto limit = carried_out ? workspace_limit_after : planned_workspace_limit;
        options.workspace_limit_bytes = limit(operand_bytes, request);
        plan.decided = plan_product(m, k, n, facts.type, options, context);
    } else {
        plan.device = cuda::device_index(options.device);
        if (carried_out) {
            options.workspace_limit_bytes = device_workspace_after(operand_bytes, request, plan.device);
        } else {
            if (request.memory_bytes) {
                options.workspace_limit_bytes = workspace_after(operand_bytes, request);
            }
            const Machine machine = load_device_machine(plan.device);
            plan.machine = machine.cpu;
            plan.machine_measured = machine.measured;
        }
        TransferDecision made =
            plan_host_operands(facts.size, facts.type, facts.type, options.accumulate, options, context);
        if (made.is_divided()) {
            plan.divided = std::move(made);
        }
        plan.decided = plan.divided ? plan.divided->plan : plan_device_product(m, k, n, facts.type, options, context);
    }
    look_at_library(plan, context);
    return plan;
}

}  // namespace heptad
