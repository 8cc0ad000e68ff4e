#include "papers/p1/bench_p1_entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "io/device_kernels.hpp"
#include "io/device_machine.hpp"
#include "papers/p1/timed_backend.hpp"
#include "plan/search/planner.hpp"
#include "run/dense/runner.hpp"
#include "tune/device_tuning.hpp"

namespace heptad::cli {
namespace {

/// One step of the ablation or a dead end, and what it is made of in words.
struct Step {
    P1Variant variant;
    cuda::P1Style style = cuda::P1Style::plain;
    bool two_streams = false;
    const char* words = "";
};

const std::vector<Step>& steps() {
    using cuda::P1Style;
    static const std::vector<Step> all{
        {{"naive"}, P1Style::plain, false, "one addition a call, every product in place copied back"},
        {{"double-add", true}, P1Style::plain, false, "sums of three in one call"},
        {{"swaps", true, true}, P1Style::plain, false, "and six of seven copies are swaps of pointers"},
        {{"hoisted", true, true, true}, P1Style::plain, false, "swaps; bases changed once for all levels"},
        {{"keeps-inputs", true, true, false, true}, P1Style::plain, false, "swaps; on copies of A and B"},
        {{"two-streams", true, true}, P1Style::plain, true, "swaps; products on two streams in turn"},
        {{"prefetch", true, true}, P1Style::prefetch, false, "swaps; additions prefetch"},
        {{"device-scalars", true, true}, P1Style::device_scalars, false, "swaps; scalars in device memory"},
    };
    return all;
}

Problem square_problem(Type type, std::int64_t n, bool overwrite_inputs) {
    Problem problem{n, n, n, type, 1, {}};
    problem.options.device = "cuda";
    problem.options.accuracy = Accuracy::fast;
    problem.options.overwrite_inputs = overwrite_inputs;
    return problem;
}

P1Entry plan_entry(const std::string& name, const ProductPlan& plan, cuda::CudaBackend& backend) {
    P1Entry entry;
    entry.variant = name;
    entry.levels = static_cast<int>(plan.levels.size());
    entry.plan = to_string(plan);
    entry.workspace_bytes = plan.workspace_bytes - plan.vendor_workspace_bytes;  // cuBLAS has the backend's own
    entry.error_bound = plan.error_bound;
    entry.run = [plan, &backend](const P1Operands& x, void* workspace, P1Times* times) {
        if (times != nullptr) {
            TimedBackend timed(backend, *times);
            run_plan(plan, timed, 1, x.a, x.b, 0, x.c, workspace);
        } else {
            run_plan(plan, backend, 1, x.a, x.b, 0, x.c, workspace);
        }
    };
    return entry;
}

P1Entry step_entry(const Step& step, Type type, std::int64_t n, int levels, double error_bound,
                   const std::shared_ptr<P1CudaDevice>& device) {
    P1Entry entry;
    entry.variant = step.variant.name;
    entry.levels = levels;
    entry.plan = fmt::format("Baraw and Bennur, algorithm 1, {} levels, depth first: {}", levels, step.words);
    entry.workspace_bytes = p1_workspace_bytes(step.variant, type, n, levels);
    entry.error_bound = error_bound;
    entry.run = [&step, levels, device](const P1Operands& x, void* workspace, P1Times* times) {
        device->set_times(times);
        device->begin();
        run_p1(step.variant, levels, *device, x.a, x.b, x.c, workspace);
        device->end();
        device->set_times(nullptr);
    };
    return entry;
}

}  // namespace

std::int64_t p1_unit(Type type, int levels) {
    return (std::int64_t{1} << levels) * (16 / static_cast<std::int64_t>(element_bytes(type)));
}

std::vector<P1Entry> p1_entries(Type type, std::int64_t n, const std::vector<int>& levels, const cuda::Stream& stream,
                                cuda::CudaBackend& backend, const Machine& machine) {
    backend.set_pass_shapes(pass_shapes(machine));
    backend.set_vendor_kernels(vendor_kernels(machine));
    std::vector<P1Entry> entries;
    const auto with_levels = [&](int count, LevelMode mode, const char* schedule, bool overwrite) {
        return plan_with_levels(
            square_problem(type, n, overwrite), machine,
            std::vector<LevelPlan>(static_cast<std::size_t>(count), {"alternative-basis", mode, schedule}));
    };
    std::vector<std::shared_ptr<P1CudaDevice>> devices;
    for (const Step& step : steps()) {
        devices.push_back(std::make_shared<P1CudaDevice>(stream, backend, step.style, step.two_streams));
    }
    for (const int count : levels) {
        const ProductPlan every_level = with_levels(count, LevelMode::serial, "p1-algorithm-1", true);
        const ProductPlan hoisted = with_levels(count, LevelMode::parallel, "", true);
        const double bound = std::max(every_level.error_bound, hoisted.error_bound);
        for (std::size_t i = 0; i < steps().size(); ++i) {
            entries.push_back(step_entry(steps()[i], type, n, count, bound, devices[i]));
        }
        entries.push_back(plan_entry("plan-every-level", every_level, backend));
        entries.push_back(plan_entry("plan-hoisted", hoisted, backend));
        entries.push_back(plan_entry("plan-keeps-inputs", with_levels(count, LevelMode::parallel, "", false), backend));
    }
    PlannerLimits limits;
    limits.smallest_leaf = 512;
    entries.push_back(plan_entry("plan-auto", make_plan(square_problem(type, n, false), machine, limits), backend));
    return entries;
}

}  // namespace heptad::cli
