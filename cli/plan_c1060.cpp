#include "plan_c1060.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/matrix.hpp"
#include "output.hpp"
#include "plan/c1060.hpp"
#include "plan_text.hpp"

namespace heptad::cli {
namespace {

/// One count of a plan beside that of GPU8 alone.
struct CountRow {
    const char* name;
    SizePolynomial formula;
    std::int64_t count = 0, gpu8 = 0;
    double ratio() const { return static_cast<double>(count) / static_cast<double>(gpu8); }
};

std::int64_t whole(const Rational& value) {
    if (value.denominator() != 1) {
        fail(ErrorCode::internal, "a count is {}, not a whole number", value.to_string());
    }
    return value.numerator();
}

std::array<CountRow, 3> count_rows(const ProductPlan& plan) {
    const DeviceCounts counts = counts_on_c1060(plan);
    const DeviceCounts gpu8 = gpu8_counts();
    const auto row = [&](const char* name, SizePolynomial DeviceCounts::*field) {
        return CountRow{name, counts.*field, whole((counts.*field).at(plan.n)), whole((gpu8.*field).at(plan.n))};
    };
    return {row("arithmetics", &DeviceCounts::arithmetics), row("transactions", &DeviceCounts::transactions),
            row("volume_bytes", &DeviceCounts::volume_bytes)};
}

ProductPlan c1060_plan(const PlanArguments& arguments) {
    const C1060Arguments& c1060 = *arguments.c1060;
    // Square or not is for the plan to say; thresholds need one size.
    const P0Thresholds thresholds =
        c1060.levels ? thresholds_for_levels(arguments.size.n, *c1060.levels) : P0Thresholds{c1060.tau1, c1060.tau2};
    return plan_for_c1060(arguments.size, arguments.product.options.algorithm, thresholds);
}

std::string counts_text(const ProductPlan& plan) {
    std::string text = fmt::format("# {:14}{:>20}{:>20}{:>9}\n", "c1060", "this plan", "gpu8 alone", "ratio");
    for (const CountRow& row : count_rows(plan)) {
        text += fmt::format("# {:14}{:>20}{:>20}{:>9.4f}  {}\n", row.name, row.count, row.gpu8, row.ratio(),
                            row.formula.to_string());
    }
    return text;
}

nlohmann::ordered_json counts_json(const ProductPlan& plan) {
    nlohmann::ordered_json counts, gpu8, ratios, formulas;
    for (const CountRow& row : count_rows(plan)) {
        counts[row.name] = row.count;
        gpu8[row.name] = row.gpu8;
        ratios[row.name] = row.ratio();
        formulas[row.name] = row.formula.to_string();
    }
    return {{"counts", counts}, {"counts_gpu8", gpu8}, {"ratio_to_gpu8", ratios}, {"formulas", formulas}};
}

}  // namespace

void print_c1060_plan(const PlanArguments& arguments) {
    const ProductPlan plan = c1060_plan(arguments);
    if (!arguments.product.json) {
        print(print_plan(plan) + counts_text(plan));
        return;
    }
    nlohmann::ordered_json object = plan_json(plan, 3 * matrix_bytes(plan.type, plan.n, plan.n));
    object["machine"] = "c1060";
    object.update(counts_json(plan));
    print(object);
}

}  // namespace heptad::cli
