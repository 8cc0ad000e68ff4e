// heptad mul: C = alpha * op(A) * op(B) + beta * C0, from files to a file, in memory, on an NVIDIA device or over
// several devices. Packed bit matrices go their own way (bit_product.cpp), and so do matrices that do not fit
// (mul_files.cpp).
//
// Everything that can be refused is refused before the product starts. The result takes its name by a rename when it is
// complete, so C may name an input: that file is replaced at the very end.
#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "api/context.hpp"
#include "base/error.hpp"
#include "base/size.hpp"
#include "base/timing.hpp"
#include "bit_operands.hpp"
#include "check_result.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "interrupt.hpp"
#include "io/matrix_read.hpp"
#include "io/matrix_write.hpp"
#include "kernels/cuda/device/device.hpp"
#include "mul_files.hpp"
#include "mul_over_devices.hpp"
#include "operands.hpp"
#include "option_words.hpp"
#include "output.hpp"
#include "plan/model/plan.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan_text.hpp"
#include "product/device/device_list.hpp"
#include "product/device/device_product.hpp"
#include "product/device/host_operand_plan.hpp"
#include "product/device/host_operands.hpp"
#include "product/device/over_devices.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

/// Told before the files are read; multiply() would refuse the same things after.
void require_fitting_plan(const ProductPlan& given, const MulArguments& mul, const OperandFacts& facts) {
    if (given.m != facts.size.m || given.k != facts.size.k || given.n != facts.size.n || given.type != facts.type) {
        fail(ErrorCode::input, "{} plans a product of {} x {} x {} in {}, but the files hold one of {} x {} x {} in {}",
             mul.plan_file, given.m, given.k, given.n, type_name(given.type), facts.size.m, facts.size.k, facts.size.n,
             type_name(facts.type));
    }
    if (given.overwrite_inputs && mul.verify) {
        fail(ErrorCode::input, "{} plans a product that overwrites A and B, and --verify needs them; leave one out",
             mul.plan_file);
    }
    if (mul.product.beta != 0 && !given.accumulate) {
        fail(ErrorCode::input, "{} plans a product that is not added to a matrix; plan it with --beta {}",
             mul.plan_file, mul.product.beta);
    }
}

/// A plan for an NVIDIA device does not say which one; --device may.
std::optional<int> planned_device(const ProductPlan& plan, const MulArguments& mul) {
    const std::string& asked = mul.product.options.device;
    if (is_device_product(plan.backend)) {
        return cuda::device_index(cuda::is_device_name(asked) ? asked : plan.backend);
    }
    if (cuda::is_device_name(asked)) {
        fail(ErrorCode::usage, "{} is a plan for {}, not for {}; leave --device out, or plan with it", mul.plan_file,
             plan.backend, asked);
    }
    return std::nullopt;
}

/// The number of the NVIDIA device to multiply on; nothing: the processor does it.
std::optional<int> device_of(const std::string& name) {
    return is_device_product(name) ? std::optional<int>(cuda::device_index(name)) : std::nullopt;
}

/// What came of it.
struct Done {
    RunReport report;
    std::optional<Plan> plan = {};  // where another one was carried out than was decided
};

/// What was decided, and how it is carried out: with another plan where memory ran short meanwhile, which is told then.
struct Decision {
    std::string text;
    int levels = 0;
    std::int64_t workspace_bytes = 0;
    double predicted_s = 0, error_bound = 0;
    double growth = 0;  // of errors, on random data; 0: not known
    std::function<Done(const ConstView&, const ConstView&, const View&)> multiply;
};

/// The host cuts the product up for its devices.
Decision decide_over_devices(const MulArguments& mul, const OperandFacts& facts, std::int64_t operand_bytes,
                             const Context& context) {
    Options options = mul.product.options;
    options.accumulate = mul.product.beta != 0;
    options.workspace_limit_bytes = workspace_after(operand_bytes, mul.product);
    const HostPlan cut =
        make_plan_over_devices(facts.size, facts.type, facts.type, options, heptad::product_context(context));
    open_devices(parse_device_list(options.device));  // told before the files are read
    return {to_string(cut),
            cut.levels,
            cut.host_bytes,
            cut.predicted_s,
            cut.error_bound,
            0,
            [=, product = mul.product](const ConstView& a, const ConstView& b, const View& c) {
                return Done{multiply_over_devices(product.alpha, a, b, product.beta, c, options,
                                                  heptad::product_context(context))};
            }};
}

Decision decision_of(const Plan& plan, std::optional<int> device, const ProductOptions& product,
                     const Context& context) {
    return {plan.to_string(),
            plan.levels(),
            plan.workspace_bytes(),
            plan.predicted_s(),
            plan.error_bound(),
            expected_growth(parse_plan(plan.to_string()).levels),
            [=](const ConstView& a, const ConstView& b, const View& c) {
                const ProductPlan decided = parse_plan(plan.to_string());
                const ProductContext where = heptad::product_context(context);
                // A plan does not say which of several devices.
                return Done{device ? multiply_on_device(product.alpha, a, b, product.beta, c, decided, *device, where)
                                   : multiply_in_memory(product.alpha, a, b, product.beta, c, decided, where)};
            }};
}

/// On the processor, with less workspace where the plan's is not to be had any more when the matrices were read.
Decision decide_on_processor(const Plan& expected, const Options& options, const ProductOptions& product,
                             const Context& context) {
    Decision decision = decision_of(expected, std::nullopt, product, context);
    decision.multiply = [=](const ConstView& a, const ConstView& b, const View& c) {
        ProductPlan carried_out;
        const RunReport report = multiply_in_memory(product.alpha, a, b, product.beta, c, options,
                                                    heptad::product_context(context), &carried_out);
        return Done{report, Plan::parse(to_string(carried_out))};
    };
    return decision;
}

/// One NVIDIA device holds all, and the matrices arrive and leave beside the products.
Decision decision_of(const HostOperandPlan& plan, int device, const ProductOptions& product, const Context& context) {
    return {to_string(plan),
            plan.levels,
            plan.workspace_bytes,
            plan.schedule.predicted_s,
            plan.error_bound,
            0,
            [=](const ConstView& a, const ConstView& b, const View& c) {
                return Done{multiply_host_operands(product.alpha, a, b, product.beta, c, plan.schedule, plan.options,
                                                   device, heptad::product_context(context))};
            }};
}

Decision decide(const MulArguments& mul, const OperandFacts& facts, std::int64_t operand_bytes,
                const Context& context) {
    if (mul.plan_file.empty()) {
        if (goes_over_devices(mul.product, operand_bytes)) {
            return decide_over_devices(mul, facts, operand_bytes, context);
        }
        Options options = mul.product.options;
        const std::optional<int> device = device_of(options.device);
        options.workspace_limit_bytes = device ? device_workspace_after(operand_bytes, mul.product, *device)
                                               : workspace_limit_after(operand_bytes, mul.product);
        options.accumulate = mul.product.beta != 0;
        if (device) {
            const HostOperandPlan divided = plan_host_operands(facts.size, facts.type, facts.type, options.accumulate,
                                                               options, heptad::product_context(context));
            if (divided.is_divided()) {
                return decision_of(divided, *device, mul.product, context);
            }
        }
        const Plan expected = plan(facts.size, facts.type, options, context);
        return device ? decision_of(expected, device, mul.product, context)
                      : decide_on_processor(expected, options, mul.product, context);
    }
    const Plan given = read_plan_file(mul.plan_file);
    const ProductPlan read = parse_plan(given.to_string());
    require_fitting_plan(read, mul, facts);
    const std::optional<int> device = planned_device(read, mul);
    const std::int64_t workspace_bytes = device ? device_workspace_after(operand_bytes, mul.product, *device)
                                                : workspace_after(operand_bytes, mul.product);
    if (given.workspace_bytes() > workspace_bytes) {
        fail(ErrorCode::resource,
             "the plan of {} needs a workspace of {} bytes, but {} bytes are left beside the matrices; "
             "plan with a smaller --memory",
             mul.plan_file, given.workspace_bytes(), workspace_bytes);
    }
    return decision_of(given, device, mul.product, context);
}

/// A plan from a file does not say what it was made for: one that grows errors by more than `balanced` allows is fast.
Accuracy accuracy_kept(const MulArguments& mul, double growth) {
    return !mul.plan_file.empty() && growth > check::kBalancedGrowth ? Accuracy::fast : mul.product.options.accuracy;
}

/// A matrix of the same shape and order with the same elements.
Matrix copy_of(const Matrix& matrix) {
    Matrix copy(matrix.type(), matrix.rows(), matrix.cols(), matrix.order());
    std::copy_n(static_cast<const std::byte*>(matrix.data()), matrix.size_bytes(),
                static_cast<std::byte*>(copy.data()));
    return copy;
}

}  // namespace

void run(const MulArguments& arguments) {
    MulArguments mul = arguments;
    mul.output = claim_output(mul.output);
    mul.trace_file = mul.trace_file.empty() ? "" : claim_output(mul.trace_file);
    mul.product.type = product_type({mul.a, mul.b, mul.product.add}, mul.product);
    const ProductOptions& product = mul.product;
    if (!mul.plan_file.empty() &&
        (is_device_list(product.options.device) ||
         (cuda::is_device_name(product.options.device) && goes_beyond_device(0, product.options)))) {
        fail(ErrorCode::usage,
             "{} plans a product as a whole, but with --device {} and its limits the host cuts the product up; leave "
             "--plan out, or name one device without limits",
             mul.plan_file, product.options.device);
    }
    const bool other_plan = !mul.plan_file.empty() && !read_plan_text(mul.plan_file).starts_with("bits ");
    if (const std::optional<Type> algebra = packed_algebra(mul.a, mul.b, product); algebra && !other_plan) {
        refuse_outer_levels(product, "these are packed bits");
        run_bits(mul, *algebra);
        return;
    }
    if (product.count) {
        fail(ErrorCode::usage, "--count is for matrices of bits; say --type gf2 or --type bool and --device cuda");
    }
    ProgressMeter meter;
    const OperandFacts facts = read_operand_facts(mul.a, mul.b, product);
    const bool adds = product.beta != 0;
    std::int64_t operand_bytes = checked_add(checked_add(facts.a_bytes, facts.b_bytes), facts.c_bytes);
    if (adds && mul.verify) {
        operand_bytes = checked_add(operand_bytes, facts.c_bytes);  // C0 is kept for the check
    }
    if (goes_by_files(mul, operand_bytes)) {
        run_files(mul);
        return;
    }
    refuse_outer_levels(product, "this product is made in memory, which --memory, --overlap or --resume would change");
    check_matrix_writable(mul.output, facts.type);
    const Context context = product_context(meter, product.threads);
    Decision chosen = decide(mul, facts, operand_bytes, context);
    stop_if_interrupted();

    const Matrix a = read_matrix(name_of(mul.a, product, product.raw_a), file_hooks(meter, "read A", product.threads));
    const Matrix b = read_matrix(name_of(mul.b, product, product.raw_b), file_hooks(meter, "read B", product.threads));
    Matrix c = adds ? read_matrix(name_of(product.add, product, {}), file_hooks(meter, "read C0", product.threads))
                    : Matrix(facts.type, facts.size.m, facts.size.n);
    std::optional<Matrix> c0;
    if (adds && mul.verify) {
        c0 = copy_of(c);
    }
    const ConstView a_view = oriented(a, product.transpose_a);
    const ConstView b_view = oriented(b, product.transpose_b);
    stop_if_interrupted();

    meter.begin("multiply", operation_count(facts.size), facts.type);
    const Clock::time_point start = Clock::now();
    const Done done = chosen.multiply(a_view, b_view, c.view());
    const double multiply_s = seconds_since(start);
    if (done.plan) {
        chosen = decision_of(*done.plan, std::nullopt, product, context);
    }

    VerifyResult checked;
    if (mul.verify) {
        meter.begin("verify");
        VerifyOptions options;
        options.alpha = product.alpha;
        options.beta = product.beta;
        if (c0) {
            options.c0 = std::as_const(*c0).view();
        }
        options.by = {accuracy_kept(mul, chosen.growth), chosen.growth};
        options.threads = product.threads;
        options.cancel = interrupt_token();
        checked = verify(a_view, b_view, c, options);
        meter.clear();
        require_passed(checked, "the result", "; " + mul.output + " was not written");
    }
    stop_if_interrupted();
    write_matrix(mul.output, c, file_hooks(meter, "write C", product.threads));
    meter.clear();

    const double rate = operation_count(facts.size) / multiply_s;
    if (product.json) {
        nlohmann::ordered_json object{{"output", mul.output},
                                      {"type", type_name(facts.type)},
                                      {"m", facts.size.m},
                                      {"k", facts.size.k},
                                      {"n", facts.size.n},
                                      {"multiply_s", multiply_s},
                                      {"predicted_s", chosen.predicted_s},
                                      {"effective_tops", rate / 1e12},
                                      {"levels", chosen.levels},
                                      {"workspace_bytes", chosen.workspace_bytes},
                                      {"error_bound", chosen.error_bound},
                                      {"plan", chosen.text},
                                      {"fell_back", done.report.fell_back},
                                      {"uneven", done.report.uneven},
                                      {"verified", mul.verify}};
        if (mul.verify) {
            object["verification"] = to_json(checked);
        }
        print(object);
        return;
    }
    print(fmt::format("{}: {} x {} {}, multiplied in {} ({} effective, {} level{}, workspace {}){}{}\n",
                      visible(mul.output), facts.size.m, facts.size.n, type_name(facts.type),
                      format_seconds(multiply_s), format_rate(rate, facts.type), chosen.levels,
                      chosen.levels == 1 ? "" : "s", format_bytes(chosen.workspace_bytes),
                      mul.verify ? ", " + describe_passed(checked) : "", remark_on(done.report)));
}

namespace {

Command add_mul(CLI::App& root, const std::string& /*typed*/) {
    const MulWords words = add_mul_words(root);
    return {words.app, [words] { return [mul = words.arguments()] { run(mul); }; }};
}

const RegisterCommand registered({.order = 1, .add = add_mul});

}  // namespace
}  // namespace heptad::cli
