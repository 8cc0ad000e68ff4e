// Dense products over devices.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/complex_as_real.hpp"
#include "base/fail_if.hpp"
#include "base/free_memory.hpp"
#include "base/types.hpp"
#include "io/machine_file.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "move/layer_stages.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/planner.hpp"
#include "product/device/dense_blocks.hpp"
#include "product/device/device_list.hpp"
#include "product/device/device_mirror.hpp"
#include "product/device/device_product.hpp"
#include "product/device/over_devices.hpp"
#include "product/memory/packed_bits.hpp"
#include "product/memory/validate.hpp"
#include "run/dense/evenness.hpp"
#include "run/residue/exact_operands.hpp"

namespace heptad {
namespace {

/// Of one product on one device.
Options device_options(const Options& options, const DeviceList& list, bool widens) {
    Options one = options;
    one.device = list.cuda ? fmt::format("cuda:{}", list.indices.front()) : "cpu";
    one.overwrite_inputs = false;  // an operand may serve several products
    one.host = {};
    return widens ? without_levels(one) : one;
}

BlockPlanner block_planner(const Options& one, Type type) {
    return [=](const ProblemSize& block, bool accumulate, std::int64_t workspace_bytes) {
        Options options = one;
        options.accumulate = accumulate;
        options.workspace_limit_bytes = workspace_bytes;
        return plan_where_asked(block, type, options, {.threads = 1});
    };
}

/// Complex numbers are copied and added as the reals they are made of, along their lines.
BlockCut cut_of(const BlockLayout& layout, int blocks_in_row) {
    const View block = lines_as_reals(layout.view(nullptr), layout.by_rows);
    return {block.rows, block.cols, blocks_in_row};
}
View reals_of(const BlockLayout& layout, void* data) {
    return lines_as_reals(layout.view(data), layout.by_rows);
}

class DenseMatrices final : public HostMatrices {
public:
    DenseMatrices(const BlockGrid& grid, const SubProduct& product, const ConstView& a, const ConstView& b,
                  const View& c, const ProductExponents& lines, double alpha, double beta, ThreadPool& pool)
        : a_(lines_as_reals(a, product.left.by_rows)),
          b_(lines_as_reals(b, product.right.by_rows)),
          c_(lines_as_reals(c, product.result.by_rows)),
          lines_(lines),
          product_(product),
          cut_a_(cut_of(product.left, grid.k)),
          cut_b_(cut_of(product.right, grid.n)),
          cut_c_(cut_of(product.result, grid.n)),
          alpha_(alpha),
          beta_(beta),
          backend_(pool) {}

    void make_left(const BlockProduct& instance, void* to) override {
        sum_blocks(backend_, a_, lines_.a, cut_a_, instance.left, reals_of(product_.left, to));
    }
    void make_right(const BlockProduct& instance, void* to) override {
        sum_blocks(backend_, b_, lines_.b, cut_b_, instance.right, reals_of(product_.right, to));
    }
    void make_result(const BlockResult& term, void* to) override {
        const BlockTerm whole{term.block, 1};
        sum_blocks(backend_, c_, {}, cut_c_, {&whole, 1}, reals_of(product_.result, to));
    }
    void update(const BlockResult& term, bool first, const void* from) override {
        update_block(backend_, c_, lines_.c(), cut_c_, term.block, alpha_ * term.coefficient, first ? beta_ : 1,
                     reals_of(product_.result, const_cast<void*>(from)));  // a view to read through
    }

private:
    ConstView a_, b_;
    View c_;
    ProductExponents lines_;
    const SubProduct& product_;
    BlockCut cut_a_, cut_b_, cut_c_;
    double alpha_, beta_;
    cpu::CpuBackend backend_;
};

/// Whether the levels at the host may be carried out, and whether `balanced` would.
struct LayerJudgement {
    bool safe = true, even = true, too_short = false;
    Evenness evenness = {};
};
LayerJudgement judge_sums(const ProductPlan& plan, const ConstView& a, const ConstView& b, const View& c, double alpha,
                          double beta, ThreadPool& pool) {
    if (plan.host->levels == 0 || !is_float(plan.type)) {
        return {};
    }
    cpu::CpuBackend backend(pool);
    const ScanResult of_a = backend.scan(a), of_b = backend.scan(b);
    const std::vector<LevelPlan> levels(static_cast<std::size_t>(plan.host->levels),
                                        LevelPlan{plan.host->algorithm, LevelMode::serial, ""});
    LayerJudgement judged;
    judged.safe = layer_sums_are_safe(layer_growth(layer_of(plan)), a.type, plan.k, alpha, beta,
                                      {of_a.max_abs, of_b.max_abs, beta == 0 ? 0 : backend.scan(c).max_abs});
    if (judged.safe) {
        judged.evenness = judge_evenness(backend, a, of_a, b, of_b,
                                         plan.least_evenness > 0 ? levels : std::vector<LevelPlan>{}, true);
        judged.even = judged.evenness.value >= least_evenness_of(levels);
        judged.too_short = judged.even && only_levels_round(judged.evenness, plan.k, levels);
        if (!judged.even || (judged.too_short && plan.least_evenness > 0)) {
            judged.evenness = {};
        }
    }
    return judged;
}

/// Cores as devices leave the host one thread for each stage.
int host_threads(const DeviceList& list, const ProductContext& context) {
    return list.cuda ? effective_threads(context) : 1;
}

}  // namespace

bool goes_beyond_device(std::int64_t operand_bytes, const Options& options) {
    constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
    const HostOptions& host = options.host;
    return host.device_memory_bytes < kNoLimit || host.host_memory_bytes < kNoLimit || host.levels >= 0 ||
           host.algorithm != "auto" || host.pipelines > 0 ||
           operand_bytes > device_facts(parse_device_list(options.device)).memory_bytes;
}

std::int64_t default_host_bytes() {
    constexpr std::int64_t kPart = 8, kOf = 10;  // the rest is for the caller and for pages of C that are still to come
    return free_memory_bytes() / kOf * kPart;
}

HostFacts host_facts(std::int64_t memory_bytes, int threads) {
    return {memory_bytes, load_machine(threads).combine_bytes_per_s};
}

void require_no_workspace_or_stream(const ProductContext& context) {
    fail_if(context.workspace_bytes >= 0 || context.stream != nullptr, ErrorCode::usage,
            "a product over several devices uses its own memory and streams; set neither a workspace nor a stream in "
            "its context");
}

HostDecision make_plan_over_devices(const ProblemSize& size, Type type, Type result_type, const Options& options,
                                    const ProductContext& context) {
    const DeviceList list = parse_device_list(options.device);
    const HostProblem problem{size, type, result_type, false, options.accumulate, options.accuracy, options.host};
    return make_host_plan(
        problem, device_facts(list),
        host_facts(std::min(options.workspace_limit_bytes, options.host.host_memory_bytes), effective_threads(context)),
        block_planner(device_options(options, list, type != result_type), type));
}

HostForecast check_plan_over_devices(const ProductPlan& plan) {
    check_host_cut(plan);
    const DeviceList list = parse_device_list(plan.host->devices);
    ProductPlan block = block_plan(plan);
    fail_if(is_device_product(plan.backend) != list.cuda, ErrorCode::input,
            "the plan is for {}, but its blocks are for {}", list.name, plan.backend);
    if (is_packed(plan)) {
        block = check_bit_block_plan(plan);
    } else {
        check_plan_in_memory(block);
    }
    const ProblemSize size{plan.m, plan.k, plan.n};
    const HostForecast told =
        host_forecast(host_problem(plan), *plan.host, cut_shape(*plan.host, size, plan.type), device_facts(list),
                      host_facts(plan.workspace_bytes, threads_or_default()), block);
    fail_if(told.host_bytes > plan.workspace_bytes || told.error_bound > plan.error_bound, ErrorCode::input,
            "the plan states {} bytes of buffers and an error bound of {}, but with its blocks it takes {} bytes and "
            "promises {}",
            plan.workspace_bytes, plan.error_bound, told.host_bytes, told.error_bound);
    return told;
}

RunReport run_host_plan(const ProductPlan& plan, const DeviceSet& devices, Factor alpha, const ConstView& a,
                        const ConstView& b, Factor beta, const View& c, const ProductContext& context,
                        const ProductExponents& lines) {
    if (beta.imag() != 0) {  // blocks are updated with real factors
        scale_in_memory(std::exchange(beta, 1), c, context.threads);
    }
    const HostLayer layer = layer_of(plan);
    const HostCut& cut = *plan.host;
    LayerRun run;
    run.layer = &layer;
    run.product.left = {a.type, false, is_row_contiguous(a), cut.block_m, cut.block_k, a.conjugate};
    run.product.right = {b.type, false, is_row_contiguous(b), cut.block_k, cut.block_n, b.conjugate};
    run.product.result = {c.type, false, is_row_contiguous(c), cut.block_m, cut.block_n};
    run.product.plan = block_plan(plan);
    run.product.cancel = context.hooks.cancel;
    run.alpha = layer.disjoint ? alpha : 1;  // levels, which are not, are for real numbers
    run.beta = brings_result(host_problem(plan)) ? beta.real() : 0;
    run.in_order = is_float(a.type);
    run.pipelines = cut.pipelines;
    DenseMatrices matrices(layer.grid, run.product, a, b, c, lines, layer.disjoint ? 1 : alpha.real(),
                           run.beta != 0 ? 0 : beta.real(),
                           shared_pool(host_threads(parse_device_list(cut.devices), context)));
    run_layer(run, devices, matrices, context.hooks);
    return {plan.workspace_bytes};
}

namespace {

/// Throws Error(input), with C as it was, where a block would be refused when others are in C already.
void require_exact_blocks(const ProductPlan& plan, const ConstView& a, const ConstView& b, const View& c,
                          const ProductContext& context) {
    if (takes_whole_k(host_problem(plan))) {
        cpu::CpuBackend backend(shared_pool(effective_threads(context)));
        ProductPlan blocks = plan;
        blocks.tile_m = plan.host->block_m;
        blocks.tile_n = plan.host->block_n;
        const Product product{1, a, b, 0, c};
        ExactOperands(backend, product).tiles(blocks);
    }
}

/// By the plan, or by segments within `limits` where the data does not bear its levels.
RunReport run_what_the_data_bears(const ProductPlan& plan, const DeviceSet& devices, Factor alpha, const ConstView& a,
                                  const ConstView& b, Factor beta, const View& c, const Options& limits,
                                  const ProductContext& context) {
    require_exact_blocks(plan, a, b, c, context);
    const LayerJudgement judged =
        judge_sums(plan, a, b, c, alpha.real(), beta.real(), shared_pool(effective_threads(context)));
    const bool bears = judged.safe && ((judged.even && !judged.too_short) || plan.least_evenness == 0);
    Options segments = limits;
    segments.host.levels = 0;
    segments.host.algorithm = "auto";
    RunReport report = run_host_plan(
        bears ? plan : make_plan_over_devices({plan.m, plan.k, plan.n}, a.type, c.type, segments, context).plan,
        devices, alpha, a, b, beta, c, context,
        judged.evenness.scales() ? ProductExponents{judged.evenness.of_a(), judged.evenness.of_b()}
                                 : ProductExponents{});
    report.fell_back = !bears;
    report.uneven = !judged.even;
    report.short_numbers = !bears && judged.too_short;
    report.scaled = judged.evenness.scales();
    return report;
}

/// Has nothing to multiply: no device is asked.
bool is_empty_product(Factor alpha, const ConstView& a, const View& c) {
    return alpha == 0.0 || c.rows == 0 || c.cols == 0 || a.cols == 0;
}

void validate_over_devices(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                           const ProductContext& context) {
    validate_product(alpha, a, b, beta, c);
    if (is_complex(c.type)) {  // whose lines are copied
        stored_by_rows("A", a);
        stored_by_rows("B", b);
        stored_by_rows("C", c);
    }
    require_no_workspace_or_stream(context);
}

}  // namespace

RunReport multiply_over_devices(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                                const Options& options, const ProductContext& context) {
    validate_over_devices(alpha, a, b, beta, c, context);
    const DeviceList list = parse_device_list(options.device);
    const DeviceSet devices = open_devices(list);
    Options chosen = options;
    chosen.accumulate = beta != 0.0;
    if (options.workspace_limit_bytes == Options{}.workspace_limit_bytes) {
        chosen.workspace_limit_bytes = default_host_bytes();
    }
    if (is_empty_product(alpha, a, c)) {
        chosen.device = "cpu";
        return multiply_in_memory(alpha, a, b, beta, c, chosen, context);
    }
    const ProductPlan plan = make_plan_over_devices({c.rows, a.cols, c.cols}, a.type, c.type, chosen, context).plan;
    return run_what_the_data_bears(plan, devices, alpha, a, b, beta, c, chosen, context);
}

RunReport multiply_over_devices(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                                const ProductPlan& plan, const ProductContext& context) {
    validate_over_devices(alpha, a, b, beta, c, context);
    validate_plan_of(plan, a, b, std::abs(beta));
    fail_if(c.type != plan.type, ErrorCode::usage,
            "products of {} into {} over devices take no plan; give the options instead", type_name(plan.type),
            type_name(c.type));
    fail_if(is_packed(plan), ErrorCode::usage, "the plan is for packed bits; use it for a product of packed bits");
    const HostForecast told = check_plan_over_devices(plan);
    if (is_empty_product(alpha, a, c)) {
        Options options;
        options.accuracy = takes_whole_k(host_problem(plan)) ? Accuracy::exact : Accuracy::balanced;
        return multiply_in_memory(alpha, a, b, beta, c, options, context);
    }
    const DeviceList list = parse_device_list(plan.host->devices);
    Options limits;
    limits.device = list.name;
    limits.accumulate = beta != 0.0;
    limits.host.device_memory_bytes = told.device_bytes;
    limits.workspace_limit_bytes = told.host_bytes + (list.cuda ? 0 : told.devices * told.device_bytes);
    return run_what_the_data_bears(plan, open_devices(list), alpha, a, b, beta, c, limits, context);
}

}  // namespace heptad
