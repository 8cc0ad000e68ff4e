// heptad plan M K N: what a product would do, its workspace, predicted time and error bound. Multiplies nothing.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/context.hpp"
#include "base/error.hpp"
#include "base/matrix.hpp"
#include "base/size.hpp"
#include "bit_operands.hpp"
#include "commands.hpp"
#include "io/device_machine.hpp"
#include "kernels/cuda/device/device.hpp"
#include "mul_files.hpp"
#include "mul_over_devices.hpp"
#include "operands.hpp"
#include "output.hpp"
#include "plan_cluster.hpp"
#include "plan_text.hpp"
#include "product/device/device_product.hpp"
#include "product/device/over_devices.hpp"

namespace heptad::cli {
namespace {

/// One to a byte, they are multiplied in memory only.
bool is_bit(Type type) {
    return type == Type::gf2 || type == Type::boolean;
}

}  // namespace

void run(const PlanArguments& arguments) {
    if (arguments.cluster) {
        print_cluster_plan(arguments);
        return;
    }
    if (arguments.files) {
        run_files(arguments);
        return;
    }
    const ProblemSize& size = arguments.size;
    const Type type = arguments.product.type.value_or(Type::f32);
    const std::optional<Type> algebra =
        arguments.product.columns
            ? packed_algebra_of_files("--columns is for matrices of packed bits", arguments.product)
            : packed_algebra(type, arguments.product);
    if (algebra) {
        refuse_outer_levels(arguments.product, "these are packed bits");
        run_bits(arguments, *algebra);
        return;
    }
    if (arguments.product.count) {
        fail(ErrorCode::usage, "--count is for matrices of bits; say --type gf2 or --type bool and --device cuda");
    }
    Options options = arguments.product.options;
    options.accumulate = arguments.product.beta != 0;
    const std::int64_t c_bytes = matrix_bytes(type, size.m, size.n);
    std::int64_t operand_bytes =
        checked_add(checked_add(matrix_bytes(type, size.m, size.k), matrix_bytes(type, size.k, size.n)), c_bytes);
    if (options.accumulate && arguments.verify) {
        operand_bytes = checked_add(operand_bytes, c_bytes);  // mul keeps C0 for the check
    }
    if (arguments.product.memory_bytes.value_or(operand_bytes) < operand_bytes && !is_bit(type)) {
        run_files(arguments);
        return;
    }
    refuse_outer_levels(arguments.product, "this product is made in memory, which --memory or --files would change");
    const bool over_devices = goes_over_devices(arguments.product, operand_bytes);
    if (arguments.product.memory_bytes || !(over_devices || is_device_product(options.device))) {
        options.workspace_limit_bytes = planned_workspace_limit(operand_bytes, arguments.product);
    }
    Context context;
    context.set_threads(arguments.product.threads);
    if (over_devices) {
        const HostPlan cut = make_plan_over_devices(size, type, type, options, heptad::product_context(context));
        arguments.product.json ? print(plan_json(cut, operand_bytes)) : print(print_plan(cut));
        return;
    }
    const ProductPlan decided = parse_plan(plan(size, type, options, context).to_string());
    nlohmann::ordered_json object = plan_json(decided, operand_bytes);
    std::string text = print_plan(decided);
    if (is_device_product(options.device)) {
        const Machine machine = load_device_machine(cuda::device_index(options.device));
        object["machine"] = machine.cpu;
        object["machine_measured"] = machine.measured;
        text += fmt::format("# machine         {}, {}\n", machine.measured ? "measured" : "not measured", machine.cpu);
    }
    if (arguments.product.json) {
        print(object);
    } else {
        print(text);
    }
}

}  // namespace heptad::cli
