#include "papers/p0/p0_plan.hpp"

#include "base/error.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

struct Figures {
    const char* algorithm;
    const char* outer;  // products apart from additions
    const char* last;   // additions that belong to a product follow it at once
};
constexpr Figures known_figures[] = {{"strassen", "p0-figure-8", "p0-figure-4"},
                                     {"winograd", "p0-figure-15", "p0-figure-5"}};

const Figures& figures_of(const std::string& algorithm) {
    for (const Figures& figures : known_figures) {
        if (algorithm == figures.algorithm) {
            return figures;
        }
    }
    fail(ErrorCode::usage,
         "Li, Ranka and Sahni have implementations of the algorithms strassen and winograd, not of '{}'", algorithm);
}

}  // namespace

P0Thresholds p0_thresholds(std::int64_t n, int levels) {
    if (levels < 0 || levels > 62 || n < 1 || n >> levels == 0) {
        fail(ErrorCode::usage, "{} levels of a product of size {} are not possible; each halves the size", levels, n);
    }
    return levels == 0 ? P0Thresholds{n, n} : P0Thresholds{n >> levels, n >> (levels - 1)};
}

std::vector<LevelPlan> p0_levels(std::int64_t n, const std::string& algorithm, const P0Thresholds& thresholds) {
    if (thresholds.tau1 < 1 || thresholds.tau2 < thresholds.tau1) {
        fail(ErrorCode::usage, "the thresholds tau1 = {} and tau2 = {} are not 1 <= tau1 <= tau2", thresholds.tau1,
             thresholds.tau2);
    }
    const Figures& figures = figures_of(algorithm);
    std::vector<LevelPlan> levels;
    for (; n > thresholds.tau2; n /= 2) {
        levels.push_back({algorithm, LevelMode::serial, figures.outer});
    }
    if (n > thresholds.tau1) {
        levels.push_back({algorithm, LevelMode::serial, figures.last});
    }
    return levels;
}

ProductPlan p0_plan(std::int64_t n, Type type, const std::string& algorithm, const P0Thresholds& thresholds,
                    const Options& options, const Machine& machine) {
    if (n < 0) {
        fail(ErrorCode::usage, "a product of size {} is not possible; sizes are not negative", n);
    }
    if (type != Type::f32 && type != Type::i32) {
        fail(ErrorCode::usage, "the implementations of Li, Ranka and Sahni are of f32 and i32, not of {}",
             type_name(type));
    }
    if (options.accumulate) {
        fail(ErrorCode::usage,
             "the implementations of Li, Ranka and Sahni make C = A*B and cannot add to C; plan with beta = 0");
    }
    ProductPlan plan =
        plan_with_levels({n, n, n, type, machine.threads, options}, machine, p0_levels(n, algorithm, thresholds));
    if (plan.workspace_bytes > options.workspace_limit_bytes) {
        fail(ErrorCode::resource, "{} levels of {} at n = {} need {} bytes of workspace, and {} are allowed; {}",
             plan.levels.size(), algorithm, n, plan.workspace_bytes, options.workspace_limit_bytes,
             "raise the limit, or the thresholds");
    }
    return plan;
}

}  // namespace heptad
