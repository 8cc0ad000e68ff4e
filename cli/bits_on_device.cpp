#include "bits_on_device.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/size.hpp"
#include "base/timing.hpp"
#include "bit_operands.hpp"
#include "check/verify_bits.hpp"
#include "check_result.hpp"
#include "interrupt.hpp"
#include "io/bit_file.hpp"
#include "io/matrix_write.hpp"
#include "io/npy.hpp"
#include "kernels/cuda/device/device.hpp"
#include "output.hpp"
#include "plan_text.hpp"
#include "product/device/bit_device_product.hpp"
#include "product/device/bit_host_operands.hpp"
#include "product/device/device_bits.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

/// A plan for a device may be handed back without naming the device again.
int device_of(const ProductOptions& product) {
    const std::string& name = product.options.device;
    return cuda::is_device_name(name) ? cuda::device_index(name) : 0;
}

cuda::BitOperation operation_of(const ProductOptions& product, Type algebra) {
    if (product.count) {
        return cuda::BitOperation::count;
    }
    return algebra == Type::gf2 ? cuda::BitOperation::parity : cuda::BitOperation::any;
}

/// Bytes of A, B and C on the device.
std::int64_t device_operand_bytes(const ProblemSize& size, const ProductOptions& product) {
    const std::int64_t result =
        product.count ? matrix_bytes(Type::i32, size.m, size.n) : DeviceBits::bytes(size.m, size.n);
    return checked_add(checked_add(DeviceBits::bytes(size.m, size.k), DeviceBits::bytes(size.k, size.n)), result);
}

BitDeviceOptions device_options(const ProductOptions& product, std::int64_t workspace_limit_bytes) {
    BitDeviceOptions options;
    options.algorithm = product.options.algorithm;
    options.levels = product.options.levels;
    options.leaf = product.options.leaf;
    options.workspace_limit_bytes = workspace_limit_bytes;
    return options;
}

BitDevicePlan decide(const MulArguments& mul, Type algebra, const ProblemSize& size, int device) {
    const std::int64_t limit_bytes =
        device_workspace_after(device_operand_bytes(size, mul.product), mul.product, device);
    const BitDeviceProblem problem{operation_of(mul.product, algebra), size, true};
    if (mul.plan_file.empty()) {
        return plan_bit_device_product(problem, device_options(mul.product, limit_bytes), bit_device_facts(device));
    }
    BitDevicePlan plan = parse_bit_device_plan(read_plan_text(mul.plan_file), bit_device_facts(device));
    const ProblemSize& planned = plan.problem.size;
    if (plan.problem.operation != problem.operation || planned.m != size.m || planned.k != size.k ||
        planned.n != size.n) {
        fail(ErrorCode::input, "{} plans '{}', but the files hold a product of {} x {} x {} in {}", mul.plan_file,
             plan.to_string(), size.m, size.k, size.n, mul.product.count ? "counts" : type_name(algebra));
    }
    if (plan.workspace_bytes() > limit_bytes) {
        fail(ErrorCode::resource, "the plan of {} needs a workspace of {} bytes, but {} bytes are left on cuda:{}",
             mul.plan_file, plan.workspace_bytes(), limit_bytes, device);
    }
    return plan;
}

nlohmann::ordered_json plan_object(const BitDevicePlan& plan, Type algebra, std::int64_t operand_bytes) {
    const ProblemSize& size = plan.problem.size;
    return {{"m", size.m},
            {"k", size.k},
            {"n", size.n},
            {"type", type_name(algebra)},
            {"levels", plan.levels()},
            {"d_h", 0},
            {"d_s", plan.serial_levels},
            {"d_p", plan.parallel_levels},
            {"operand_bytes", operand_bytes},
            {"workspace_bytes", plan.workspace_bytes()},
            {"predicted_s", plan.predicted_s},
            {"error_bound", 0.0},
            {"plan", plan.to_string()}};
}

void require_count_alone(const MulArguments& mul) {
    if (mul.product.beta != 0 || mul.verify) {
        fail(ErrorCode::usage, "--count makes a matrix of its own, unchecked: leave --add, --beta and --verify out");
    }
}

/// Writes what a product told: one JSON object or one line.
void report(const MulArguments& mul, Type algebra, const BitDevicePlan& plan, double multiply_s,
            const std::optional<VerifyResult>& checked) {
    const ProblemSize& size = plan.problem.size;
    const double rate = operation_count(size) / multiply_s;
    if (mul.product.json) {
        nlohmann::ordered_json object = plan_object(plan, algebra, device_operand_bytes(size, mul.product));
        object["output"] = mul.output;
        object["multiply_s"] = multiply_s;
        object["effective_tops"] = rate / 1e12;
        object["verified"] = checked.has_value();
        if (checked) {
            object["verification"] = to_json(*checked);
        }
        print(object);
        return;
    }
    print(fmt::format(
        "{}: {} x {} {} on cuda:{}, multiplied in {} ({} effective, transfers included, {} level{}, leaf {}, "
        "workspace {}){}\n",
        visible(mul.output), size.m, size.n, mul.product.count ? "counts" : type_name(algebra), device_of(mul.product),
        format_seconds(multiply_s), format_rate(rate, algebra), plan.levels(), plan.levels() == 1 ? "" : "s", plan.leaf,
        format_bytes(plan.workspace_bytes()), checked ? ", " + describe_passed(*checked) : ""));
}

}  // namespace

void run_bits_on_device(const MulArguments& mul, Type algebra) {
    const ProductOptions& product = mul.product;
    const int device = device_of(product);
    if (product.count) {
        require_count_alone(mul);
    }
    cuda::require_device(device);
    ProgressMeter meter;
    const BitFacts facts = read_bit_facts(mul.a, mul.b, product);
    if (product.count) {
        check_matrix_writable(mul.output, Type::i32);
    } else {
        require_writable_format(mul.output);
        check_writable(mul.output);
    }
    const BitDevicePlan plan = decide(mul, algebra, facts.size, device);
    stop_if_interrupted();
    const BitMatrix a = read_bit_operand(mul.a, facts.columns_a, product.transpose_a, meter, "read A", product.threads);
    const BitMatrix b = read_bit_operand(mul.b, facts.columns_b, product.transpose_b, meter, "read B", product.threads);
    stop_if_interrupted();
    const RunHooks hooks{[&](const Progress& progress) { meter.update(progress.fraction); }, &interrupt_token()};
    const auto timed = [&](auto&& multiply) {
        meter.begin("multiply", operation_count(facts.size), algebra);
        const auto start = Clock::now();
        multiply();
        return seconds_since(start);
    };
    if (product.count) {
        Matrix counts(Type::i32, facts.size.m, facts.size.n);
        const double multiply_s = timed([&] {
            count_host_bits_on_device(plan, a, b, static_cast<std::int32_t*>(counts.data()), facts.size.n, device,
                                      hooks);
        });
        write_matrix(mul.output, counts, file_hooks(meter, "write C", product.threads));
        meter.clear();
        report(mul, algebra, plan, multiply_s, std::nullopt);
        return;
    }
    const bool adds = product.beta != 0;
    BitMatrix c = adds ? read_bit_operand(product.add, facts.columns_c, false, meter, "read C0", product.threads)
                       : BitMatrix(facts.size.m, facts.size.n);
    const std::optional<BitMatrix> c0 = adds && mul.verify ? std::optional<BitMatrix>(c) : std::nullopt;
    const double multiply_s = timed([&] { multiply_host_bits_on_device(plan, a, b, c.view(), adds, device, hooks); });
    std::optional<VerifyResult> checked;
    if (mul.verify) {
        meter.begin("verify");
        VerifyOptions options;
        options.threads = product.threads;
        options.cancel = interrupt_token();
        checked = verify_bits(algebra, a, b, c, c0 ? std::optional<ConstBitView>(*c0) : std::nullopt, options);
        meter.clear();
        require_passed(*checked, "the result", "; " + mul.output + " was not written");
    }
    stop_if_interrupted();
    write_bits(mul.output, c, product.columns.has_value(), file_hooks(meter, "write C", product.threads));
    meter.clear();
    report(mul, algebra, plan, multiply_s, checked);
}

void run_bits_on_device(const PlanArguments& arguments, Type algebra) {
    const ProductOptions& product = arguments.product;
    const int device = device_of(product);
    const ProblemSize& size = arguments.size;
    const std::int64_t operand_bytes = device_operand_bytes(size, product);
    // With a device, what is free there; without one, the memory of an H200.
    constexpr std::int64_t kMemoryOfH200 = std::int64_t{139} << 30;
    const cuda::Report found = cuda::report();
    const bool there = found.available && static_cast<std::size_t>(device) < found.devices.size();
    const std::int64_t memory = product.memory_bytes.value_or(
        there ? found.devices[static_cast<std::size_t>(device)].free_bytes : kMemoryOfH200);
    if (operand_bytes >= memory) {
        fail(ErrorCode::resource, "the matrices take {} ({} bytes) on the device, of {} ({} bytes)",
             format_bytes(operand_bytes), operand_bytes, format_bytes(memory), memory);
    }
    const BitDevicePlan plan =
        plan_bit_device_product({operation_of(product, algebra), size, true},
                                device_options(product, memory - operand_bytes), bit_device_facts(device));
    if (product.json) {
        nlohmann::ordered_json object = plan_object(plan, algebra, operand_bytes);
        object["machine"] = there ? found.devices[static_cast<std::size_t>(device)].name : "NVIDIA H200 (assumed)";
        print(object);
        return;
    }
    print(fmt::format(
        "{}\n# operands        {}, packed, on the device\n# workspace       {} ({} bytes)\n"
        "# predicted       {} ({} effective){}\n# error bound     0 (exact)\n# machine         {}\n",
        plan.to_string(), format_bytes(operand_bytes), format_bytes(plan.workspace_bytes()), plan.workspace_bytes(),
        format_seconds(plan.predicted_s), format_rate(operation_count(size) / plan.predicted_s, algebra),
        plan.first_panel_k > 0
            ? fmt::format("; less where tiles of C are all ones after {} bits of k", plan.first_panel_k)
            : "",
        there ? found.devices[static_cast<std::size_t>(device)].name : "NVIDIA H200 (assumed)"));
}

}  // namespace heptad::cli
