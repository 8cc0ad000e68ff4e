// How a product of packed bits in memory is made: over devices, on one, or on the processor.
#include <limits>

#include "base/fail_if.hpp"
#include "base/matrix.hpp"
#include "base/quantity_text.hpp"
#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "io/device_machine.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/bit_device_product.hpp"
#include "product/device/device_bits.hpp"
#include "product/device/device_list.hpp"
#include "product/device/over_devices.hpp"
#include "product/request/memory_limits.hpp"
#include "product/request/request_plan.hpp"
#include "run/bits/bit_plan.hpp"

namespace heptad {
namespace {

/// The plan of the caller, for a product like this one.
ProductPlan given_plan(const Request& request, Type algebra, const ProblemSize& size) {
    const ProductPlan& plan = *request.plan;
    require_fitting_plan(plan, request, algebra, size);
    fail_if(plan.count != request.count, ErrorCode::input,
            "{} {} common ones, and this product {}; plan it with the same --count", request.plan_file,
            plan.count ? "counts" : "does not count", plan.count ? "does not" : "does");
    return plan;
}

/// Bytes of A, B and C on the device.
std::int64_t bytes_on_device(const ProblemSize& size, const Request& request) {
    const std::int64_t result =
        request.count ? matrix_bytes(Type::i32, size.m, size.n) : DeviceBits::bytes(size.m, size.n);
    return checked_add(checked_add(DeviceBits::bytes(size.m, size.k), DeviceBits::bytes(size.k, size.n)), result);
}

/// What is planned with so much memory of the device for the workspace.
ProductPlan plan_on_device(const Request& request, Type algebra, const ProblemSize& size,
                           std::int64_t workspace_limit_bytes) {
    ProductPlan plan = plan_bit_device_product({bit_operation(algebra, request.count), size},
                                               bit_device_options(bit_options(request), workspace_limit_bytes),
                                               bit_device_facts(bit_device_of(request)));
    plan.type = algebra;
    return plan;
}

/// The memory of a device that need not be there is that of an H200.
std::int64_t planned_device_bytes(const DeviceInfo* device, const Request& request, std::int64_t operand_bytes) {
    const std::int64_t memory =
        request.memory_bytes.value_or(device != nullptr ? device->free_bytes : assumed_device().memory_bytes);
    fail_if(operand_bytes >= memory, ErrorCode::resource,
            "the matrices take {} ({} bytes) on the device, of {} ({} bytes)", format_bytes(operand_bytes),
            operand_bytes, format_bytes(memory), memory);
    return memory - operand_bytes;
}

ProductPlan whole_plan(const Request& request, const OperandFacts& facts) {
    ProductPlan plan = request.plan_file.empty()
                           ? fitting_bit_plan(facts, request, workspace_limit_after(facts.bytes, request))
                           : given_plan(request, facts.type, facts.size);
    const std::int64_t left = workspace_after(facts.bytes, request);
    fail_if(plan.workspace_bytes > left, ErrorCode::resource,
            "the packed copies and sums take {} ({} bytes), but {} are left beside the matrices; use fewer --threads, "
            "fewer --levels or a larger --memory",
            format_bytes(plan.workspace_bytes), plan.workspace_bytes, format_bytes(left));
    return plan;
}

}  // namespace

void require_whole_count(const Request& request) {
    fail_if(request.count && cuda::is_device_name(request.options.device) && goes_beyond_device(0, request.options),
            ErrorCode::usage,
            "--count runs on one device as a whole; leave out --device-memory, --host-levels, --host-algorithm and "
            "--pipelines");
}

void require_no_count(const Request& request) {
    fail_if(request.count, ErrorCode::usage, "--count is a product of an NVIDIA device; use --device cuda");
}

int bit_device_of(const Request& request) {
    const std::string& name = request.options.device;
    return cuda::is_device_name(name) ? cuda::device_index(name) : 0;
}

ProductPlan fitting_bit_plan(const OperandFacts& facts, const Request& request, std::int64_t limit_bytes) {
    return bits::make_fitting_bit_plan(facts.type, facts.size, bit_options(request),
                                       threads_or_default(request.threads),
                                       request.memory_bytes ? std::numeric_limits<std::int64_t>::max() : limit_bytes);
}

bool bits_go_over_devices(const Request& request, const OperandFacts& facts) {
    const std::string& device = request.options.device;
    return is_device_list(device) ||
           (cuda::is_device_name(device) && !request.count && goes_beyond_device(facts.bytes, request.options));
}

bool bits_go_to_device(const Request& request, const OperandFacts& facts) {
    return cuda::is_device_name(request.options.device) && !bits_go_over_devices(request, facts);
}

RequestPlan decide_bits(const Request& request, const OperandFacts& facts, bool carried_out) {
    RequestPlan plan{facts.type, facts.size, facts.bytes, {}, request.options};
    if (carried_out && request.plan && request.plan->host) {
        plan.decide(given_over_devices(given_plan(request, facts.type, facts.size), request, facts.bytes));
        return plan;
    }
    if ((carried_out && !request.plan_file.empty()) || !bits_go_over_devices(request, facts)) {
        plan.decided = carried_out
                           ? whole_plan(request, facts)
                           : fitting_bit_plan(facts, request,
                                              request.memory_bytes ? 0 : planned_workspace_limit(facts.bytes, request));
        return plan;
    }
    if (carried_out || request.memory_bytes) {
        plan.options.host.host_memory_bytes = workspace_after(facts.bytes, request);
    }
    bits::BitOptions options = bit_options(request);
    options.host = plan.options.host;
    const ProductContext context{.threads = request.threads};
    plan.decide(make_bit_plan_over_devices(facts.type, facts.size, request.beta != 0.0, options, context));
    return plan;
}

RequestPlan decide_bits_on_device(const Request& request, const OperandFacts& facts, bool carried_out) {
    const Type algebra = facts.type;
    const ProblemSize& size = facts.size;
    const int device = bit_device_of(request);
    RequestPlan plan{algebra, size, bytes_on_device(size, request), {}, request.options, device, request.count};
    if (!carried_out) {
        const DeviceReport found = cuda::report();
        const DeviceInfo* const known = found.find(device);
        plan.decided = plan_on_device(request, algebra, size, planned_device_bytes(known, request, plan.operand_bytes));
        plan.machine = known != nullptr ? known->name : assumed_device().name + " (assumed)";
        return plan;
    }
    const std::int64_t limit_bytes = device_workspace_after(plan.operand_bytes, request, device);
    if (request.plan_file.empty()) {
        plan.decided = plan_on_device(request, algebra, size, limit_bytes);
        return plan;
    }
    ProductPlan given = given_plan(request, algebra, size);
    fail_if(given.workspace_bytes > limit_bytes, ErrorCode::resource,
            "the plan of {} needs a workspace of {} bytes, but {} bytes are left on cuda:{}", request.plan_file,
            given.workspace_bytes, limit_bytes, device);
    plan.decided = std::move(given);
    return plan;
}

}  // namespace heptad
