// What a product from file to file would do, before anything is touched.
#include <limits>

#include "base/types.hpp"
#include "plan/search/planner.hpp"
#include "product/file/file_product.hpp"
#include "product/file/product_inputs.hpp"
#include "product/file/step_plans.hpp"
#include "product/memory/by_definition.hpp"
#include "product/memory/packed_bits.hpp"
#include "product/memory/product.hpp"

namespace heptad {

StageProducts processor_stage(const Options& options, int threads) {
    StageProducts stage;
    stage.plan = [options, threads](const StageProduct& product, Type type) {
        Options limited = options_of_step(options, product, product.workspace_limit_bytes);
        const ProductContext context{.threads = threads};
        ProductPlan plan = plan_product(product.m, product.k, product.n, type, limited, context);
        while (options.accuracy == Accuracy::balanced && unit_roundoff(type) > 0 && !plan.levels.empty() &&
               product.outer_growth > 1 &&
               product.outer_growth * expected_growth_here(plan) > PlannerLimits{}.balanced_growth) {
            limited.levels = static_cast<int>(plan.levels.size()) - 1;
            plan = plan_product(product.m, product.k, product.n, type, limited, context);
        }
        return plan;
    };
    stage.check = check_plan_in_memory;
    stage.multiply = [threads](Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                               const ProductPlan& plan, void* workspace, std::int64_t workspace_bytes) {
        return multiply_in_memory(alpha, a, b, beta, c, plan,
                                  {.threads = threads, .workspace = workspace, .workspace_bytes = workspace_bytes});
    };
    return stage;
}

FileProblem file_problem(const FileProductRequest& request) {
    const ProductSources sources = find_product_sources(request);
    const auto with_usual_block = [](const MatrixSource& source, bool transpose) {
        FileLayout layout = source.layout;
        layout.block_bytes = source.by_library ? 1 : kUsualBlockBytes;
        return as_operand(layout, transpose);
    };
    return problem_of(request, sources, with_usual_block(sources.a, request.transpose_a),
                      with_usual_block(sources.b, request.transpose_b));
}

FileLaunch plan_file_product(const FileProblem& problem, const StageProducts& stage, const OuterLevels& outer) {
    const StageProducts within = within_levels(stage, outer);
    return plan_file_launch(problem, outer, [&](const StageProduct& product) {
        try {
            const ProductPlan plan = within.plan(product, problem.type);
            return StagePrediction{plan.predicted_s, within.open_device ? 0 : plan.workspace_bytes};
        } catch (const Error& error) {
            if (error.code() != ErrorCode::resource) {
                throw;
            }
            return StagePrediction{0, std::numeric_limits<std::int64_t>::max()};  // residues take some in any case
        }
    });
}

ProductPlan plan_steps(const FileProblem& problem, const FileLaunch& launch, const StageProducts& stage) {
    const OuterLevels outer = launch.layers ? launch.layers->outer : OuterLevels{};
    const FileSchedule schedule = schedule_of(problem, launch);
    return with_steps(problem, launch, schedule, StepPlans(schedule, launch, within_levels(stage, outer)));
}

}  // namespace heptad
