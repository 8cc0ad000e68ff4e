// Products whose operands all lie in memory: checks what the caller gave, plans, finds workspace, runs.
#pragma once

#include <complex>

#include "plan/model/plan.hpp"
#include "plan/model/problem.hpp"
#include "run/dense/runner.hpp"

namespace heptad {

class StageTrace;

/// The caller's side of a product: threads, scratch memory, hooks.
struct ProductContext {
    int threads = 0;  // 0: all cores
    void* workspace = nullptr;
    std::int64_t workspace_bytes = -1;  // -1: none given, take our own
    void* stream = nullptr;             // of a device (a cudaStream_t)
    RunHooks hooks = {};
    StageTrace* trace = nullptr;  // of matrices in host memory that one device multiplies: null, or told of the steps
};

/// Threads that a context means.
int effective_threads(const ProductContext& context);

/// The same but for the levels: for results that are wider than their operands, whose sums would not fit them.
Options without_levels(Options options);

/// The plan for a problem on this machine; made once and kept for problems that come again. Without a limit of the
/// options or a workspace of the context it stays within what is free now (base/workspace.hpp).
ProductPlan plan_product(std::int64_t m, std::int64_t k, std::int64_t n, Type type, const Options& options,
                         const ProductContext& context);

/// The library's classical product in its place.
ProductPlan plan_library_product(std::int64_t m, std::int64_t k, std::int64_t n, Type type, const Options& options,
                                 const ProductContext& context);

/// The short way for a product that is not large and like one before it, where the plan is a single call of a leaf:
/// tens of nanoseconds above that call. `threads`: as in ProductContext. False: nothing was done; take
/// multiply_in_memory().
bool repeat_product(double alpha, const ConstView& a, const ConstView& b, double beta, const View& c,
                    const Options& options, int threads);

/// A factor of a product; complex only where its matrices are.
using Factor = std::complex<double>;

/// c = alpha * a * b + beta * c. Validates everything; throws Error. Options: with as much workspace as their limit and
/// what is free allow; `carried_out` becomes the plan, of the transposed product where C is complex and by columns. A
/// plan: as it says, or Error(resource).
RunReport multiply_in_memory(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                             const Options& options, const ProductContext& context = {},
                             ProductPlan* carried_out = nullptr);
RunReport multiply_in_memory(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                             const ProductPlan& plan, const ProductContext& context);

/// c = beta * c. `exact`: rounded once, as that of other sizes.
void scale_in_memory(Factor beta, const View& c, int threads, Accuracy accuracy = Accuracy::balanced);

/// Growth of a plan's errors as it is expected on this machine (plan/predict/error_bound.hpp).
double expected_growth_here(const ProductPlan& plan);

}  // namespace heptad
