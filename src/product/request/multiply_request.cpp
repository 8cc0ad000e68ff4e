// The way of a product of files, by what is asked and what fits.
#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "io/bit_file.hpp"
#include "io/npy.hpp"
#include "io/whole_matrix.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/device_list.hpp"
#include "product/device/over_devices.hpp"
#include "product/request/file_stage.hpp"
#include "product/request/memory_limits.hpp"
#include "product/request/plan_file.hpp"
#include "product/request/routes.hpp"

namespace heptad {
namespace {

/// On the processor, from files and to a file that can be gone through piece by piece: do the matrices fit in memory,
/// and not the product's copies of them?
bool leaves_no_workspace(const Request& request, const OperandFacts& facts) {
    const std::string& device = request.options.device;
    const auto in_pieces = [](const std::string& path, std::optional<std::int64_t> columns) {
        const BitFormat format = read_bit_header(path, columns).format;
        return format == BitFormat::pbm || format == BitFormat::npy_packed;
    };
    const bool possible = (device == "auto" || device == "cpu") && request.plan_file.empty() && !request.count &&
                          in_pieces(request.a, facts.columns_a) && in_pieces(request.b, facts.columns_b) &&
                          (request.add.empty() || in_pieces(request.add, facts.columns_c)) &&
                          is_written_in_pieces(request.output, request.columns.has_value());
    if (!possible) {
        return false;
    }
    const ProductPlan plan = fitting_bit_plan(facts, request, workspace_limit_after(facts.bytes, request));
    return checked_add(facts.bytes, plan.workspace_bytes) > memory_limit_bytes(request);
}

void require_count_alone(const Request& request) {
    fail_if(request.beta != 0.0 || request.verify, ErrorCode::usage,
            "--count makes a matrix of its own, unchecked: leave --add, --beta and --verify out");
}

void require_bit_output(const Request& request) {
    require_writable_format(request.output);
    check_writable(request.output);
}

Report route_bits(const Request& request, Type algebra, const RequestHooks& hooks) {
    const bool on_cuda = cuda::is_device_name(request.options.device);
    const bool whole = request.plan && !request.plan->host && !request.plan->disk;
    const bool planned_for_device = whole && is_on_device(*request.plan);
    fail_if(whole && !planned_for_device && on_cuda, ErrorCode::usage,
            "the plan in '{}' is for the processor; leave out --device {}", request.plan_file, request.options.device);
    const OperandFacts facts = read_bit_facts(request, algebra);
    require_whole_count(request);
    if (goes_by_files(request, facts.bytes) || leaves_no_workspace(request, facts)) {
        require_no_count(request);
        return multiply_by_files(request, facts, hooks);
    }
    if (planned_for_device || (!(request.plan && request.plan->host) && bits_go_to_device(request, facts))) {
        if (request.count) {
            require_count_alone(request);
        }
        cuda::require_device(bit_device_of(request));
        request.count ? check_matrix_writable(request.output, Type::i32) : require_bit_output(request);
        return multiply_whole(request, facts, decide_bits_on_device(request, facts, true), hooks);
    }
    require_no_count(request);
    require_bit_output(request);
    return multiply_whole(request, facts, decide_bits(request, facts, true), hooks);
}

/// A plan that a host cuts up names its devices, and one of a whole product is for no list of them.
void require_devices_of_plan(const Request& request) {
    const std::string& device = request.options.device;
    if (!request.plan || request.plan->disk || device == "auto") {
        return;
    }
    if (request.plan->host) {
        const std::string& planned = request.plan->host->devices;
        fail_if(device != planned, ErrorCode::usage,
                "{} is a plan for {}, not for {}; leave --device out, or plan with it", request.plan_file, planned,
                device);
    } else if (is_device_list(device) || (cuda::is_device_name(device) && goes_beyond_device(0, request.options))) {
        fail(ErrorCode::usage,
             "{} plans a product as a whole, but with --device {} and its limits the host cuts the product up; leave "
             "--plan out, or name one device without limits",
             request.plan_file, device);
    }
}

}  // namespace

Report multiply_request(const Request& given, const RequestHooks& hooks) {
    Request request = given;
    request.type = product_type({given.a, given.b, given.add}, given);
    if (!given.plan_file.empty()) {
        request.plan = read_plan_file(given.plan_file);
    }
    require_devices_of_plan(request);
    const bool other_plan = request.plan && !request.plan->disk && !is_packed(*request.plan);
    if (const std::optional<Type> algebra = packed_algebra(request); algebra && !other_plan) {
        refuse_outer_levels(request, "these are packed bits");
        return route_bits(request, *algebra, hooks);
    }
    fail_if(request.count, ErrorCode::usage,
            "--count is for matrices of bits; use --type gf2 or --type bool and --device cuda");
    const OperandFacts facts = read_operand_facts(request);
    require_factors_of(facts.type, request);
    if (goes_by_files(request, facts.bytes_of(request))) {
        return multiply_by_files(request, facts, hooks);
    }
    refuse_outer_levels(request, "this product is made in memory, which --memory, --overlap or --resume would change");
    check_matrix_writable(request.output, facts.type);
    return multiply_whole(request, facts, decide_numbers(request, facts, true), hooks);
}

VerifyResult verify_request(const VerifyRequest& given, const RequestHooks& hooks) {
    Request request = given.product;
    request.type = product_type({request.a, request.b, request.output, request.add}, request);
    VerifyOptions options;
    options.all_rows = given.all_rows;
    options.seed = given.seed;
    if (const std::optional<Type> algebra = packed_algebra(request)) {
        const OperandFacts facts = read_bit_facts(request, *algebra);
        const BitFileHeader result = read_bit_header(request.output, facts.columns_c);
        require_size_of_result(request, result.rows, result.cols, facts.size);
        workspace_after(facts.bytes, request);
        return verify_whole(request, facts, options, hooks);
    }
    constexpr int kRounds = 20;  // who asks for nothing but the check gets a chance of a miss of 2^-20 for floats
    options.rounds = kRounds;
    options.by.accuracy = request.options.accuracy;
    const OperandFacts facts = read_operand_facts(request);
    require_factors_of(facts.type, request);
    const MatrixFacts result = matrix_facts(name_of(request.output, request));
    fail_if(result.type != facts.type, ErrorCode::input,
            "{} holds {} and {} holds {}; all matrices of a product must have the same type", request.a,
            type_name(facts.type), request.output, type_name(result.type));
    require_size_of_result(request, result.rows, result.cols, facts.size);
    workspace_after(request.beta != 0.0 ? checked_add(facts.bytes, facts.c_bytes) : facts.bytes, request);
    return verify_whole(request, facts, options, hooks);
}

}  // namespace heptad
