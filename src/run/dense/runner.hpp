// Walks a plan over a backend: recursion, fringes, workspace, non-finite input.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/backend.hpp"
#include "plan/model/plan.hpp"
#include "run/work_meter.hpp"

namespace heptad {

/// Throws Error(cancelled) if the token is set already.
inline void start_product(const RunHooks& hooks) {
    stop_if_cancelled(hooks, "the product was cancelled before it began");
}
/// Tells that all is done.
inline void finish_product(const RunHooks& hooks) {
    if (hooks.progress) {
        hooks.progress({1.0, "multiply"});
    }
}

struct RunReport {
    std::int64_t workspace_used_bytes = 0;
    bool fell_back = false;  // to the classical product: non-finite or uneven input, or sums that could overflow
    bool uneven = false;     // A and B are so uneven that levels lose more than `balanced` allows (evenness.hpp)
    bool scaled = false;     // powers of two were taken out of rows and columns, and put back into C
    /// With fell_back: of numbers so short that the classical product is all but exact, and one with levels would not
    /// be.
    bool short_numbers = false;
    /// Of a product of several parts.
    void add(const RunReport& part) {
        workspace_used_bytes = std::max(workspace_used_bytes, part.workspace_used_bytes);
        fell_back = fell_back || part.fell_back;
        uneven = uneven || part.uneven;
        scaled = scaled || part.scaled;
        short_numbers = short_numbers || part.short_numbers;
    }
};

/// The product as the plan says. The views fit the plan and c overlaps nothing; beta is zero unless
/// the plan accumulates. A plan that overwrites its inputs leaves a and b destroyed; they do not overlap then.
/// `workspace` holds plan.workspace_bytes, aligned to kWorkspaceAlignment (null when that is zero).
RunReport run_plan(const ProductPlan& plan, Backend& backend, const Product& product, void* workspace,
                   const RunHooks& hooks = {});
inline RunReport run_plan(const ProductPlan& plan, Backend& backend, double alpha, const ConstView& a,
                          const ConstView& b, double beta, const View& c, void* workspace, const RunHooks& hooks = {}) {
    return run_plan(plan, backend, Product{alpha, a, b, beta, c}, workspace, hooks);
}

}  // namespace heptad
