// Plans from file to file that were printed before and are given back: the same cuts, the same bits.
#include <filesystem>

#include "base/error.hpp"
#include "plan/predict/promised_error.hpp"
#include "product/file/file_product_fixture.hpp"
#include "product/file/step_plans.hpp"

namespace heptad {
namespace {

namespace fs = std::filesystem;

class GivenPlan : public FileProductTest {
protected:
    /// Floats that round.
    FileProductRequest prepare_floats(const Case& c) {
        FileProductRequest request = prepare(c);
        write_npy(folder_ / "A.npy", generate("uniform", c.m, c.k, c.type, 5));
        write_npy(folder_ / "B.npy", generate("uniform", c.k, c.n, c.type, 6));
        return request;
    }
    void expect_refused(const FileProductRequest& request, ErrorCode code, const std::string& word) {
        try {
            multiply(request);
            ADD_FAILURE() << "not refused: " << word;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code) << error.what();
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
        }
    }
};

TEST_F(GivenPlan, print_of_a_run_given_back_makes_the_same_bits) {
    for (const int levels : {0, 1, 2}) {
        for (const std::int64_t memory : {(2 * levels + 1) * (100 << 10), 700 << 10, 2 << 20}) {
            for (const bool adds : {false, true}) {
                FileProductRequest request =
                    prepare_floats({.m = 300, .k = 210, .n = 260, .memory_bytes = memory, .adds = adds});
                if (levels > 0) {
                    request.outer = {"strassen", levels};
                }
                const FileProductReport first = multiply(request);
                const std::string bits = result();
                request.plan = parse_plan(to_string(first.plan));
                request.outer = {};
                const FileProductReport again = multiply(request);
                EXPECT_EQ(result(), bits);
                EXPECT_EQ(again.plan, first.plan) << to_string(first.plan);
                EXPECT_EQ(again.tiles, first.tiles);
                EXPECT_EQ(again.layers.has_value(), levels > 0);
                EXPECT_EQ(again.moved_bytes(), first.moved_bytes());
            }
        }
    }
}

TEST_F(GivenPlan, its_levels_are_taken_and_not_those_of_the_stage) {
    const Case c{.m = 300, .k = 210, .n = 260, .memory_bytes = 2 << 20};
    FileProductRequest request = prepare_floats(c);
    Options options;
    options.levels = 1;
    options.algorithm = "winograd";
    const StageProducts with_level = processor_stage(options, 2);
    const FileProblem problem = file_problem(request);
    const ProductPlan plan = plan_steps(problem, plan_file_product(problem, with_level), with_level);
    ASSERT_EQ(plan.levels.size(), 1U) << to_string(plan);
    request.plan = plan;
    StageTrace trace(false);
    const FileProductReport report = multiply_files(request, processor_stage({}, 2), {}, trace);
    EXPECT_EQ(report.plan.levels, plan.levels) << to_string(report.plan);
    EXPECT_EQ(report.plan.error_bound, plan.error_bound);

    request.plan->workspace_bytes = 0;
    expect_refused(request, ErrorCode::input, "its steps need");
    request.plan = plan;
    request.plan->core_m -= 2;
    expect_refused(request, ErrorCode::input, "the plan is inconsistent");
}

TEST_F(GivenPlan, plan_of_another_product_or_beyond_the_memory_is_refused_and_nothing_is_touched) {
    FileProductRequest request = prepare(kTiled);
    const ProductPlan plan = multiply(request).plan;
    fs::remove(folder_ / "C.npy");
    request.plan = plan;
    request.memory_bytes = 20 << 10;
    expect_refused(request, ErrorCode::resource, "the plan takes");
    request.memory_bytes = kTiled.memory_bytes;
    request.plan->m += 1;
    expect_refused(request, ErrorCode::input, "301 x 210 x 260");
    request.plan = plan;
    request.plan->disk->tile_m = 301;
    expect_refused(request, ErrorCode::input, "cannot be carried out");
    request.plan = plan;
    request.plan->disk.reset();
    expect_refused(request, ErrorCode::input, "not for a product from file to file");
    request = prepare({.m = 300, .k = 210, .n = 260, .memory_bytes = 100 << 10, .adds = true});
    request.plan = plan;
    expect_refused(request, ErrorCode::input, "not added");
    EXPECT_FALSE(fs::exists(folder_ / "C.npy"));
    EXPECT_FALSE(fs::exists(folder_ / "C.npy.partial"));
}

TEST_F(GivenPlan, interrupted_run_goes_on_with_the_cuts_of_then_whatever_plan_is_given) {
    FileProductRequest request = prepare_floats(kTiled);
    const FileProductReport whole = multiply(request);
    const std::string bits = result();
    request.memory_bytes = 60 << 10;
    const ProductPlan other = multiply(request).plan;
    ASSERT_NE(other.disk, whole.plan.disk);
    fs::remove(folder_ / "C.npy");
    request.memory_bytes = kTiled.memory_bytes;
    interrupt_after_writes(request, 4);
    request.plan = other;
    const FileProductReport report = multiply(request);
    EXPECT_EQ(report.plan.disk, whole.plan.disk);
    EXPECT_EQ(result(), bits);
}

// The bound is told by the largest step. Smaller ones, such as the first and the last along k, may have room for levels
// where that has none.
TEST_F(GivenPlan, no_step_promises_less_than_the_largest) {
    Options options;
    options.accuracy = Accuracy::fast;
    options.levels = 2;
    options.algorithm = "winograd";
    const StageProducts stage = processor_stage(options, 1);
    int with_room = 0;
    for (const auto& [type, k] : {std::pair{Type::f32, 496}, {Type::c64, 496}, {Type::f32, 528}, {Type::c64, 528}}) {
        const auto element = static_cast<std::int64_t>(element_bytes(type));
        const ProblemSize size{200, k, 32};
        FileProductRequest request;
        request.a = {folder_ / "A.npy"};
        request.b = {folder_ / "B.npy"};
        request.output = folder_ / "C.npy";
        Matrix a(type, size.m, size.k), b(type, size.k, size.n);
        a.clear();
        b.clear();
        write_npy(folder_ / "A.npy", a.view());
        write_npy(folder_ / "B.npy", b.view());
        for (std::int64_t elements = 32000; elements < 100000; elements += 480) {
            request.memory_bytes = elements * element;
            const FileProblem problem = file_problem(request);
            FileLaunch launch;
            try {
                launch = plan_file_product(problem, stage);
            } catch (const Error&) {  // too little memory
                continue;
            }
            const FileSchedule schedule = schedule_of(problem, launch);
            const StepPlans steps(schedule, launch, stage);
            const ErrorPromise told = promised_error(steps.largest(), 1, false);
            for (const ProductPlan& step : steps.all()) {
                const ErrorPromise promise = promised_error(step, 1, false);
                EXPECT_LE(promise.over, told.over) << to_string(step);
                EXPECT_TRUE(promise.over < told.over || promise.bound <= told.bound) << to_string(step);
                const ProductPlan alone =
                    stage.plan({step.m, step.k, step.n, step.accumulate, launch.traffic.workspace_bytes,
                                launch.traffic.tile_bytes, launch.traffic.panel_bytes},
                               type);
                with_room += promised_error(alone, 1, false).over > told.over ? 1 : 0;
            }
        }
    }
    EXPECT_GT(with_room, 0);
}

}  // namespace
}  // namespace heptad
