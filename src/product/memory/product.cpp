#include "product/memory/product.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <new>
#include <optional>

#include "base/cancel_scope.hpp"
#include "base/complex_as_real.hpp"
#include "base/device_layout.hpp"
#include "base/fail_if.hpp"
#include "base/shared_state.hpp"
#include "base/thread_pool.hpp"
#include "base/types.hpp"
#include "base/workspace.hpp"
#include "io/machine_file.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/reference/reference_backend.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/complex_plan.hpp"
#include "plan/search/level_layout.hpp"
#include "plan/search/planner.hpp"
#include "product/memory/complex_product.hpp"
#include "product/memory/packed_bits.hpp"
#include "product/memory/validate.hpp"
#include "product/plan_cache.hpp"

namespace heptad {
namespace {

/// A plan with what is needed to carry it out at once.
struct ReadyPlan {
    ProductPlan plan;
    Backend* backend = nullptr;
    cpu::CpuBackend* cpu = nullptr;  // the same object when it is the CPU's
    int leaf_id = 0;
    std::shared_ptr<const ReadyPlan> real;  // of a complex product: one of those it is made of
};

constinit PlanCache<ReadyPlan> plan_cache;

Backend& backend_named(const std::string& name, int threads) {
    static constinit Guarded<std::map<std::pair<std::string, int>, std::unique_ptr<Backend>>> all;
    const auto backends = all.lock();
    auto& backend = (*backends)[{name, threads}];
    if (!backend) {
        if (name == "cpu") {
            backend = std::make_unique<cpu::CpuBackend>(shared_pool(threads));
        } else if (name == "reference") {
            backend = std::make_unique<ReferenceBackend>();
        } else {
            fail(ErrorCode::usage, "'{}' is not a device of this build; the devices are auto, cpu, reference and cuda",
                 name);
        }
    }
    return *backend;
}

std::shared_ptr<const Machine> machine_for(int threads) {
    static constinit Guarded<std::map<int, std::shared_ptr<const Machine>>> machines;
    const auto all = machines.lock();
    auto& machine = (*all)[threads];
    if (!machine) {
        machine = std::make_shared<const Machine>(load_machine(threads));
    }
    return machine;
}

void validate_leaf(const std::string& leaf, Type type, const Backend& backend) {
    std::vector<std::string> leaves = backend.leaves(type);
    if (has_packed_leaf(type, backend.name())) {
        leaves.emplace_back(kPackedLeaf);
    }
    if (is_float(type) && backend_traits(backend.name()).multiplies_bytes) {
        leaves.emplace_back(kResidueLeaf);
    }
    if (!leaf.empty() && std::ranges::find(leaves, leaf) == leaves.end()) {
        fail(ErrorCode::usage, "there is no leaf '{}' for {} on {}; choose one of {}", leaf, type_name(type),
             backend.name(), fmt::join(leaves, ", "));
    }
}

ReadyPlan make_ready(const ProductPlan& plan) {
    ReadyPlan ready;
    ready.plan = plan;
    if (is_complex(plan.type)) {
        ready.real = std::make_shared<const ReadyPlan>(make_ready(real_plan(plan)));
        return ready;
    }
    ready.backend = &backend_named(plan.backend, plan.threads);
    ready.cpu = dynamic_cast<cpu::CpuBackend*>(ready.backend);
    for (const std::string& leaf : {plan.leaf, plan.fringe_leaf}) {  // before C is touched
        validate_leaf(leaf, leaf_type(plan), *ready.backend);
    }
    if (ready.cpu != nullptr && plan.leaf != kPackedLeaf && !leaf_traits(plan.leaf).by_residues) {
        ready.leaf_id = cpu::CpuBackend::leaf_id(plan.leaf);
    }
    return ready;
}

std::int64_t workspace_limit(const Options& options, const ProductContext& context) {
    return context.workspace_bytes < 0
               ? options.workspace_limit_bytes
               : std::min(options.workspace_limit_bytes, lent_memory(context.workspace, context.workspace_bytes).bytes);
}

/// Bit types have one more way, which the planner does not know: packed.
ProductPlan plan_or_pack(const Problem& problem, const Machine& machine, const std::string& backend) {
    const Options& options = problem.options;
    const bool wanted = options.leaf == kPackedLeaf;
    const bool free = options.algorithm == "auto" && options.levels <= 0 && options.mode == "auto";
    if (!has_packed_leaf(problem.type, backend) ||
        (!wanted && (!free || options.levels == 0 || options.leaf != "auto"))) {
        return make_plan(problem, machine);
    }
    fail_if(!free, ErrorCode::usage,
            "the leaf 'packed' chooses its own levels; set algorithm, levels and mode to auto");
    Problem plain = problem;
    plain.options.leaf = "auto";
    const ProductPlan unpacked = make_plan(plain, machine), packed = packed_plan(unpacked);
    const bool fits = packed.workspace_bytes <= options.workspace_limit_bytes;
    fail_if(wanted && !fits, ErrorCode::resource,
            "packed bits take {} bytes of workspace, but workspace_limit_bytes is {}; raise it or set leaf to auto",
            packed.workspace_bytes, options.workspace_limit_bytes);
    return fits && (wanted || packed.predicted_s < unpacked.predicted_s) ? packed : unpacked;
}

std::shared_ptr<const ReadyPlan> ready_plan(std::int64_t m, std::int64_t k, std::int64_t n, Type type,
                                            const Options& options, bool accumulate, const ProductContext& context) {
    const int threads = effective_threads(context);
    const std::int64_t limit = workspace_limit(options, context);
    const PlanQuestion question{m, k, n, type, type, threads, accumulate, limit, options};
    if (auto kept = plan_cache.find(question)) {
        return kept;
    }
    const Backend& backend = backend_named(options.device == "auto" ? "cpu" : options.device, threads);
    if (options.leaf != "auto") {
        validate_leaf(options.leaf, is_complex(type) ? part_type(type) : type, backend);
    }
    Problem problem{m, k, n, type, threads, options};
    problem.options.accumulate = accumulate;
    problem.options.workspace_limit_bytes = limit;
    return plan_cache.keep(question, make_ready(plan_or_pack(problem, *machine_for(threads), backend.name())));
}

RunReport execute(const ReadyPlan& ready, Factor alpha, const ConstView& a, const ConstView& b, Factor beta,
                  const View& c, const ProductContext& context, void* taken = nullptr);

/// As the plan of its real products says; without levels and workspace where A and B do not allow that plan.
RunReport execute_complex(const ReadyPlan& ready, Factor alpha, const ConstView& a, const ConstView& b, Factor beta,
                          const View& c, void* workspace, const RunHooks& hooks) {
    const auto multiply = [&](double real_alpha, const ConstView& real_a, const ConstView& real_b, double real_beta,
                              const View& real_c, void* rest, const RunHooks& real_hooks, bool planned) {
        ProductContext context{ready.plan.threads, nullptr, 0, nullptr, real_hooks};
        return planned ? execute(*ready.real, real_alpha, real_a, real_b, real_beta, real_c, context, rest)
                       : multiply_in_memory(real_alpha, real_a, real_b, real_beta, real_c, without_levels({}), context);
    };
    return multiply_complex(ready.plan, alpha, a, b, beta, c, workspace, hooks, multiply);
}

/// `taken`: workspace that was found for the plan; null: the caller's, or what there is.
RunReport execute(const ReadyPlan& ready, Factor alpha, const ConstView& a, const ConstView& b, Factor beta,
                  const View& c, const ProductContext& context, void* taken) {
    const ProductPlan& plan = ready.plan;
    const CancelScope heeded(context.hooks.cancel);
    const bool packed = plan.leaf == kPackedLeaf;
    if (plan.levels.empty() && ready.cpu != nullptr && !packed && !is_by_residues(plan)) {
        start_product(context.hooks);
        context.hooks.result_changes(beta != 0.0);
        ready.cpu->multiply_one({alpha.real(), a, b, beta.real(), c}, ready.leaf_id);
        finish_product(context.hooks);
        return {};
    }
    const auto run = [&](void* workspace) {
        if (ready.real) {
            return execute_complex(ready, alpha, a, b, beta, c, workspace, context.hooks);
        }
        context.hooks.result_changes(packed && beta != 0.0);
        return packed ? multiply_packed_bits(plan, alpha.real(), a, b, beta.real(), c, workspace, context.hooks)
                      : run_plan(plan, *ready.backend, alpha.real(), a, b, beta.real(), c, workspace, context.hooks);
    };
    if (plan.workspace_bytes == 0 || taken != nullptr) {
        return run(taken);
    }
    if (context.workspace_bytes >= 0) {
        const LentMemory given = lent_memory(context.workspace, context.workspace_bytes);
        fail_if(given.bytes < plan.workspace_bytes, ErrorCode::usage,
                "the plan needs {} bytes of workspace on a {}-byte boundary; the context has {} from such a boundary "
                "on",
                plan.workspace_bytes, kWorkspaceAlignment, given.bytes);
        return run(given.data);
    }
    const Workspace workspace(plan.workspace_bytes);
    return run(workspace.data());
}

/// The best plan whose workspace is to be had now, down to none: nothing that fits in memory without workspace fails or
/// is killed for want of it. The limit of the options may only lower it.
RunReport run_with_what_is_free(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                                const Options& options, const ProductContext& context, ProductPlan* carried_out) {
    bool changed = false;
    ProductContext watched = context;
    watched.hooks.before_change = [&] {
        context.hooks.result_changes(true);
        changed = true;
    };
    std::optional<Options> lowered;
    for (;;) {
        const auto ready =
            ready_plan(a.rows, a.cols, b.cols, a.type, lowered ? *lowered : options, beta != 0.0, context);
        const std::int64_t bytes = ready->plan.workspace_bytes;
        if (carried_out != nullptr) {
            *carried_out = ready->plan;
        }
        if (bytes == 0 || context.workspace_bytes >= 0) {
            return execute(*ready, alpha, a, b, beta, c, watched);
        }
        std::int64_t limit = 0;
        if (Workspace workspace; workspace.try_take(bytes, byte_range(c), limit)) {
            try {
                return execute(*ready, alpha, a, b, beta, c, watched, workspace.data());
            } catch (const std::exception& problem) {  // the leaves may run out of memory, too
                const auto* const error = dynamic_cast<const Error*>(&problem);
                const bool ran_out = error != nullptr ? error->code() == ErrorCode::resource
                                                      : dynamic_cast<const std::bad_alloc*>(&problem) != nullptr;
                if (!ran_out || (changed && beta != 0.0) || ready->plan.overwrite_inputs) {
                    throw;
                }
            }
            workspace = Workspace();
            release_kept_workspace();
        }
        if (!lowered) {
            lowered = options;
        }
        lowered->workspace_limit_bytes = limit;
    }
}

void require_single_rounding(const Factor& alpha, const Factor& beta, const View& c) {
    fail_if(!is_rounded_once(alpha, beta, c), ErrorCode::usage,
            "exact products of {} take real alpha and beta, and a C with contiguous rows or columns; give those or use "
            "accuracy strict",
            type_name(c.type));
}

/// Up to here tens of nanoseconds show: a library takes 20 to 200 us for a square of 96 to 256.
bool is_short(std::int64_t m, std::int64_t k, std::int64_t n) {
    constexpr std::int64_t kLongest = std::int64_t{1} << 16, kLargestVolume = std::int64_t{256} * 256 * 256;
    return m <= kLongest && k <= kLongest && n <= kLongest && m * k * n <= kLargestVolume;
}

}  // namespace

int effective_threads(const ProductContext& context) {
    return threads_or_default(context.threads);
}

double expected_growth_here(const ProductPlan& plan) {
    return plan.levels.empty() ? complex_growth(plan) : expected_growth(plan, *machine_for(plan.threads));
}

bool repeat_product(double alpha, const ConstView& a, const ConstView& b, double beta, const View& c,
                    const Options& options, int threads) {
    if (!is_short(a.rows, a.cols, b.cols) || !is_plainly_valid(a, b, c)) {
        return false;
    }
    const ReadyPlan* const ready =
        plan_cache.recent({a.rows, a.cols, b.cols, a.type, a.type, threads_or_default(threads), beta != 0,
                           options.workspace_limit_bytes, options});
    if (ready == nullptr || !ready->plan.levels.empty() || ready->cpu == nullptr || is_by_residues(ready->plan)) {
        return false;
    }
    ready->cpu->multiply_one({alpha, a, b, beta, c}, ready->leaf_id);
    return true;
}

Options without_levels(Options options) {
    options.levels = 0;
    return options;
}

ProductPlan plan_product(std::int64_t m, std::int64_t k, std::int64_t n, Type type, const Options& options,
                         const ProductContext& context) {
    auto ready = ready_plan(m, k, n, type, options, options.accumulate, context);
    const bool by_default = options.workspace_limit_bytes == Options{}.workspace_limit_bytes;
    if (const std::int64_t bytes = ready->plan.workspace_bytes;
        by_default && context.workspace_bytes < 0 && bytes > 0) {
        Options limited = options;
        limited.workspace_limit_bytes = room_for_workspace(bytes, {});
        if (limited.workspace_limit_bytes < bytes) {
            ready = ready_plan(m, k, n, type, limited, options.accumulate, context);
        }
    }
    return ready->plan;
}

ProductPlan plan_library_product(std::int64_t m, std::int64_t k, std::int64_t n, Type type, const Options& options,
                                 const ProductContext& context) {
    const int threads = effective_threads(context);
    return library_plan({m, k, n, type, threads, options}, *machine_for(threads));
}

RunReport multiply_in_memory(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                             const Options& options, const ProductContext& context, ProductPlan* carried_out) {
    const bool has_real_factors = alpha.imag() == 0 && beta.imag() == 0;
    const bool is_cancelled = context.hooks.cancel != nullptr && context.hooks.cancel->cancelled();
    const bool asks_for_nothing_else = context.workspace_bytes < 0 && !context.hooks.progress &&
                                       !context.hooks.before_change && !is_cancelled && carried_out == nullptr;
    if (asks_for_nothing_else && has_real_factors &&
        repeat_product(alpha.real(), a, b, beta.real(), c, options, context.threads)) {
        return {};
    }
    validate_product(alpha, a, b, beta, c);
    const bool by_columns = c.cols > 1 && c.col_stride != 1 && (c.rows <= 1 || c.row_stride == 1);
    if (is_complex(c.type) && by_columns) {  // rows of C are what real products make
        return multiply_in_memory(alpha, turned(b), turned(a), beta, transposed(c), options, context, carried_out);
    }
    if (is_complex(c.type) && options.accuracy == Accuracy::exact) {
        require_single_rounding(alpha, beta, c);
    }
    validate_workspace(context.workspace, context.workspace_bytes, a, b, c);
    if (options.overwrite_inputs && !may_serve_as_scratch(a, b)) {
        Options keeping = options;
        keeping.overwrite_inputs = false;
        return multiply_in_memory(alpha, a, b, beta, c, keeping, context, carried_out);
    }
    return run_with_what_is_free(alpha, a, b, beta, c, c.type == a.type ? options : without_levels(options), context,
                                 carried_out);
}

RunReport multiply_in_memory(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                             const ProductPlan& plan, const ProductContext& context) {
    validate_product(alpha, a, b, beta, c);
    validate_workspace(context.workspace, context.workspace_bytes, a, b, c);
    validate_plan(plan, a, b, std::abs(beta), c);
    if (is_complex(c.type) && is_by_residues(plan)) {
        require_single_rounding(alpha, beta, c);
    }
    return execute(make_ready(plan), alpha, a, b, beta, c, context);
}

void scale_in_memory(Factor beta, const View& c, int threads, Accuracy accuracy) {
    const ConstView a(nullptr, c.type, c.rows, 0, 1, 1), b(nullptr, c.type, 0, c.cols, c.cols, 1);
    Options options;
    options.accuracy = accuracy;
    const bool changes = beta != 1.0 || accuracy == Accuracy::exact;  // an exact zero is positive
    if (changes && c.rows > 0 && c.cols > 0) {
        multiply_in_memory(0, a, b, beta, c, options, {.threads = threads});
    }
}

}  // namespace heptad
