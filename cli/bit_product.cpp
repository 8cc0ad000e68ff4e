// heptad mul, plan and verify for packed bit matrices.
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/context.hpp"
#include "base/error.hpp"
#include "base/size.hpp"
#include "base/timing.hpp"
#include "bit_operands.hpp"
#include "bits_on_device.hpp"
#include "check/verify_bits.hpp"
#include "check_result.hpp"
#include "commands.hpp"
#include "interrupt.hpp"
#include "io/bit_file.hpp"
#include "io/npy.hpp"
#include "kernels/cuda/device/device.hpp"
#include "mul_files.hpp"
#include "mul_over_devices.hpp"
#include "output.hpp"
#include "plan_text.hpp"
#include "product/device/device_list.hpp"
#include "product/device/over_devices.hpp"
#include "run/bits/bit_product.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

int thread_count_of(const ProductOptions& product) {
    return product.threads > 0 ? product.threads : available_cores();
}

/// What was decided, and how it is carried out.
struct BitDecision {
    nlohmann::ordered_json object;
    int levels = 0;
    std::string how;  // leaf or devices, for people
    std::int64_t workspace_bytes = 0;
    std::function<void(const ConstBitView&, const ConstBitView&, const BitView&)> multiply;
};

/// A count is one product on one device.
void require_whole_count(const ProductOptions& product) {
    if (product.count && goes_beyond_device(0, product.options)) {
        fail(ErrorCode::usage,
             "--count runs on one device as a whole; leave out --device-memory, --host-levels, --host-algorithm and "
             "--pipelines");
    }
}

void require_no_count(const ProductOptions& product) {
    if (product.count) {
        fail(ErrorCode::usage, "--count is a product of an NVIDIA device; say --device cuda");
    }
}

/// With as many levels as stay within so many bytes of workspace. --memory asks for files instead of fewer levels.
bits::BitPlan fitting_plan(Type algebra, const ProblemSize& size, const ProductOptions& product,
                           std::int64_t limit_bytes) {
    return bits::make_fitting_bit_plan(algebra, size, bit_options(product), thread_count_of(product),
                                       product.memory_bytes ? std::numeric_limits<std::int64_t>::max() : limit_bytes);
}

bits::BitPlan bit_plan_of(const MulArguments& mul, Type algebra, const BitFacts& facts) {
    const ProductOptions& product = mul.product;
    bits::BitPlan plan = mul.plan_file.empty() ? fitting_plan(algebra, facts.size, product,
                                                              workspace_limit_after(facts.operand_bytes, product))
                                               : bits::parse_bit_plan(read_plan_text(mul.plan_file));
    const ProblemSize& size = plan.size;
    if (plan.algebra != algebra || size.m != facts.size.m || size.k != facts.size.k || size.n != facts.size.n) {
        fail(ErrorCode::input, "{} plans a product of {} x {} x {} in {}, but the files hold one of {} x {} x {} in {}",
             mul.plan_file, size.m, size.k, size.n, type_name(plan.algebra), facts.size.m, facts.size.k, facts.size.n,
             type_name(algebra));
    }
    const std::int64_t left = workspace_after(facts.operand_bytes, product);
    if (plan.workspace_bytes() > left) {
        fail(ErrorCode::resource,
             "the packed copies and sums take {} ({} bytes), but {} are left beside the matrices; use fewer --threads, "
             "fewer --levels or a larger --memory",
             format_bytes(plan.workspace_bytes()), plan.workspace_bytes(), format_bytes(left));
    }
    return plan;
}

/// On the processor, from files and to a file that can be gone through piece by piece: do the matrices fit in memory,
/// and not the product's copies of them?
bool leaves_no_workspace(const MulArguments& mul, Type algebra, const BitFacts& facts) {
    const ProductOptions& product = mul.product;
    const std::string& device = product.options.device;
    const auto in_pieces = [](const std::string& path, std::optional<std::int64_t> columns) {
        const BitFormat format = read_bit_header(path, columns).format;
        return format == BitFormat::pbm || format == BitFormat::npy_packed;
    };
    const bool possible = (device == "auto" || device == "cpu") && mul.plan_file.empty() && !product.count &&
                          in_pieces(mul.a, facts.columns_a) && in_pieces(mul.b, facts.columns_b) &&
                          (product.add.empty() || in_pieces(product.add, facts.columns_c)) &&
                          is_written_in_pieces(mul.output, product.columns.has_value());
    if (!possible) {
        return false;
    }
    const bits::BitPlan plan =
        fitting_plan(algebra, facts.size, product, workspace_limit_after(facts.operand_bytes, product));
    return checked_add(facts.operand_bytes, plan.workspace_bytes()) > memory_limit_bytes(product);
}

nlohmann::ordered_json plan_object(const bits::BitPlan& plan, std::int64_t operand_bytes) {
    return {{"m", plan.size.m},
            {"k", plan.size.k},
            {"n", plan.size.n},
            {"type", type_name(plan.algebra)},
            {"levels", plan.levels},
            {"operand_bytes", operand_bytes},
            {"workspace_bytes", plan.workspace_bytes()},
            {"predicted_s", plan.predicted_s},
            {"error_bound", 0.0},
            {"plan", plan.to_string()}};
}

std::int64_t bit_operand_bytes(const ProblemSize& size) {
    return checked_add(checked_add(bit_bytes(size.m, size.k), bit_bytes(size.k, size.n)), bit_bytes(size.m, size.n));
}

/// Cut up by the host: for several devices, and for one NVIDIA device where it was asked for or nothing else fits.
bool over_devices(const ProductOptions& product, const ProblemSize& size) {
    const std::string& device = product.options.device;
    return is_device_list(device) || (cuda::is_device_name(device) && !product.count &&
                                      goes_beyond_device(bit_operand_bytes(size), product.options));
}

bool on_one_device(const ProductOptions& product, const ProblemSize& size) {
    return cuda::is_device_name(product.options.device) && !over_devices(product, size);
}

BitDecision decide(const MulArguments& mul, Type algebra, const BitFacts& facts, const Context& context,
                   ProgressMeter& meter) {
    const bool adds = mul.product.beta != 0;
    if (mul.plan_file.empty() && over_devices(mul.product, facts.size)) {
        bits::BitOptions options = bit_options(mul.product);
        options.host.host_memory_bytes = workspace_after(facts.operand_bytes, mul.product);
        const HostPlan cut =
            make_bit_plan_over_devices(algebra, facts.size, adds, options, heptad::product_context(context));
        return {plan_json(cut, facts.operand_bytes), cut.levels, "over " + cut.devices, cut.host_bytes,
                [=](const ConstBitView& a, const ConstBitView& b, const BitView& c) {
                    multiply_bits_over_devices(algebra, a, b, c, adds, options, heptad::product_context(context));
                }};
    }
    const bits::BitPlan plan = bit_plan_of(mul, algebra, facts);
    return {plan_object(plan, facts.operand_bytes), plan.levels, fmt::format("leaf {}", plan.leaf->name),
            plan.workspace_bytes(), [=, &meter](const ConstBitView& a, const ConstBitView& b, const BitView& c) {
                bits::multiply_bits(plan, a, b, c, adds, {&interrupt_token(), [&meter](const Progress& progress) {
                                                              meter.update(progress.fraction);
                                                          }});
            }};
}

}  // namespace

void run_bits(const MulArguments& mul, Type algebra) {
    const ProductOptions& product = mul.product;
    const bool planned_for_device =
        !mul.plan_file.empty() && read_plan_text(mul.plan_file).find(" device cuda ") != std::string::npos;
    if (!mul.plan_file.empty() && !planned_for_device && cuda::is_device_name(product.options.device)) {
        fail(ErrorCode::usage, "the plan in '{}' is for the processor; leave out --device {}", mul.plan_file,
             product.options.device);
    }
    ProgressMeter meter;
    const BitFacts facts = read_bit_facts(mul.a, mul.b, product);
    if (cuda::is_device_name(product.options.device)) {
        require_whole_count(product);
    }
    if (goes_by_files(mul, facts.operand_bytes) || leaves_no_workspace(mul, algebra, facts)) {
        require_no_count(product);
        run_bit_files(mul, algebra, facts);
        return;
    }
    if (planned_for_device || on_one_device(product, facts.size)) {
        run_bits_on_device(mul, algebra);
        return;
    }
    require_no_count(product);
    require_writable_format(mul.output);
    check_writable(mul.output);
    const Context context = product_context(meter, product.threads);
    const BitDecision chosen = decide(mul, algebra, facts, context, meter);
    stop_if_interrupted();
    const BitMatrix a = read_bit_operand(mul.a, facts.columns_a, product.transpose_a, meter, "read A", product.threads);
    const BitMatrix b = read_bit_operand(mul.b, facts.columns_b, product.transpose_b, meter, "read B", product.threads);
    const bool adds = product.beta != 0;
    BitMatrix c = adds ? read_bit_operand(product.add, facts.columns_c, false, meter, "read C0", product.threads)
                       : BitMatrix(facts.size.m, facts.size.n);
    std::optional<BitMatrix> c0;
    if (adds && mul.verify) {
        c0 = c;
    }
    stop_if_interrupted();

    meter.begin("multiply", operation_count(facts.size), algebra);
    const auto start = Clock::now();
    chosen.multiply(a, b, c.view());
    meter.clear();
    const double multiply_s = seconds_since(start);

    VerifyResult checked;
    if (mul.verify) {
        meter.begin("verify");
        VerifyOptions options;
        options.threads = product.threads;
        options.cancel = interrupt_token();
        checked = verify_bits(algebra, a, b, c, c0 ? std::optional<ConstBitView>(*c0) : std::nullopt, options);
        meter.clear();
        require_passed(checked, "the result", "; " + mul.output + " was not written");
    }
    stop_if_interrupted();
    write_bits(mul.output, c, product.columns.has_value(), file_hooks(meter, "write C", product.threads));
    meter.clear();

    const double rate = operation_count(facts.size) / multiply_s;
    if (product.json) {
        nlohmann::ordered_json object = chosen.object;
        object["output"] = mul.output;
        object["multiply_s"] = multiply_s;
        add_wall_over_bound(object, multiply_s);
        object["effective_tops"] = rate / 1e12;
        object["verified"] = mul.verify;
        if (mul.verify) {
            object["verification"] = to_json(checked);
        }
        print(object);
        return;
    }
    print(fmt::format("{}: {} x {} {}, multiplied in {} ({} effective, {} level{}, {}, workspace {}){}\n",
                      visible(mul.output), facts.size.m, facts.size.n, type_name(algebra), format_seconds(multiply_s),
                      format_rate(rate, algebra), chosen.levels, chosen.levels == 1 ? "" : "s", chosen.how,
                      format_bytes(chosen.workspace_bytes), mul.verify ? ", " + describe_passed(checked) : ""));
}

void run_bits(const PlanArguments& arguments, Type algebra) {
    if (cuda::is_device_name(arguments.product.options.device)) {
        require_whole_count(arguments.product);
    }
    const std::int64_t operand_bytes = bit_operand_bytes(arguments.size);
    if (arguments.product.memory_bytes.value_or(operand_bytes) < operand_bytes && !arguments.product.count) {
        run_files(arguments);  // as mul does with packed files
        return;
    }
    if (on_one_device(arguments.product, arguments.size)) {
        run_bits_on_device(arguments, algebra);
        return;
    }
    require_no_count(arguments.product);
    const ProblemSize& size = arguments.size;
    if (over_devices(arguments.product, size)) {
        bits::BitOptions options = bit_options(arguments.product);
        if (arguments.product.memory_bytes) {
            options.host.host_memory_bytes = workspace_after(operand_bytes, arguments.product);
        }
        Context context;
        context.set_threads(arguments.product.threads);
        const HostPlan cut = make_bit_plan_over_devices(algebra, size, arguments.product.beta != 0, options,
                                                        heptad::product_context(context));
        arguments.product.json ? print(plan_json(cut, operand_bytes)) : print(print_plan(cut));
        return;
    }
    const bits::BitPlan plan =
        fitting_plan(algebra, size, arguments.product,
                     arguments.product.memory_bytes ? 0 : planned_workspace_limit(operand_bytes, arguments.product));
    const std::int64_t needed_bytes = checked_add(operand_bytes, plan.workspace_bytes());
    if (arguments.product.memory_bytes.value_or(needed_bytes) < needed_bytes) {  // as mul does with packed files
        run_files(arguments);
        return;
    }
    if (arguments.product.json) {
        print(plan_object(plan, operand_bytes));
        return;
    }
    print(fmt::format(
        "{}\n# operands        {}, packed\n# workspace       {} ({} bytes)\n# predicted time  {} ({} effective)\n"
        "# error bound     0 (exact)\n",
        plan.to_string(), format_bytes(operand_bytes), format_bytes(plan.workspace_bytes()), plan.workspace_bytes(),
        format_seconds(plan.predicted_s), format_rate(operation_count(size) / plan.predicted_s, algebra)));
}

void run_bits(const VerifyArguments& arguments, Type algebra) {
    const ProductOptions& product = arguments.product;
    const BitFacts facts = read_bit_facts(arguments.a, arguments.b, product);
    const BitFileHeader header_c = read_bit_header(arguments.c, facts.columns_c);
    if (header_c.rows != facts.size.m || header_c.cols != facts.size.n) {
        fail(ErrorCode::input, "{} is {} x {}, but the product of {} and {} is {} x {}", arguments.c, header_c.rows,
             header_c.cols, arguments.a, arguments.b, facts.size.m, facts.size.n);
    }
    workspace_after(facts.operand_bytes, product);
    ProgressMeter meter;
    const BitMatrix a =
        read_bit_operand(arguments.a, facts.columns_a, product.transpose_a, meter, "read A", product.threads);
    const BitMatrix b =
        read_bit_operand(arguments.b, facts.columns_b, product.transpose_b, meter, "read B", product.threads);
    const BitMatrix c = read_bit_operand(arguments.c, facts.columns_c, false, meter, "read C", product.threads);
    std::optional<BitMatrix> c0;
    if (product.beta != 0) {
        c0 = read_bit_operand(product.add, facts.columns_c, false, meter, "read C0", product.threads);
    }
    meter.begin("verify");
    VerifyOptions options;
    options.all_rows = arguments.all_rows;
    options.seed = arguments.seed;
    options.threads = product.threads;
    options.cancel = interrupt_token();
    const VerifyResult result =
        verify_bits(algebra, a, b, c, c0 ? std::optional<ConstBitView>(*c0) : std::nullopt, options);
    meter.clear();
    if (!product.json) {
        print(describe(result));
    }
    require_passed(result, arguments.c, "");
    if (product.json) {
        print(to_json(result));
    }
}

}  // namespace heptad::cli
