// heptad plan --machine c1060: the plan and counts of the paper's GPU, see docs/p0.md.
#include <CLI/CLI.hpp>
#include <array>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/matrix.hpp"
#include "cli/output.hpp"
#include "cli/plan_machine.hpp"
#include "cli/plan_text.hpp"
#include "cli/text.hpp"
#include "papers/p0/c1060.hpp"

namespace heptad::cli {
namespace {

/// The thresholds of the paper; see c1060.hpp.
struct C1060Arguments {
    std::optional<int> levels;  // empty: by the thresholds
    std::int64_t tau1 = 0, tau2 = 0;
};

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

ProductPlan c1060_plan(const PlanArguments& arguments, const C1060Arguments& c1060) {
    // Square or not is for the plan to say; thresholds need one size.
    const P0Thresholds thresholds =
        c1060.levels ? thresholds_for_levels(arguments.size.n, *c1060.levels) : P0Thresholds{c1060.tau1, c1060.tau2};
    return plan_for_c1060(arguments.size, arguments.request.options.algorithm, thresholds);
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

/// Prints the plan, then arithmetics, transactions and volume beside those of the classical product. Throws
/// Error(usage) for sizes or an algorithm that the paper has no counts for.
void print_c1060_plan(const PlanArguments& arguments, const C1060Arguments& c1060) {
    const ProductPlan plan = c1060_plan(arguments, c1060);
    if (!arguments.json) {
        print(print_plan(plan, counts_text(plan)));
        return;
    }
    nlohmann::ordered_json object =
        plan_json(RequestPlan{plan.type, arguments.size, 3 * matrix_bytes(plan.type, plan.n, plan.n), plan});
    object["machine"] = "c1060";
    object.update(counts_json(plan));
    print(object);
}

/// As typed.
struct Thresholds {
    std::string tau1, tau2;
    bool any() const { return !tau1.empty() || !tau2.empty(); }
};

C1060Arguments c1060_arguments(const ProductWords& words, const Thresholds& given) {
    // The counts are those of one implementation in f32; what it has no choice of is refused, not ignored.
    if (!words.device.empty() || !words.accuracy.empty() || !words.mode.empty() || !words.threads.empty() ||
        !words.memory.empty() || !words.alpha.empty() || !words.beta.empty() || !words.columns.empty() ||
        words.plain.transpose_a || words.plain.transpose_b || words.plain.verify || words.by_files() ||
        !words.raw_a.empty() || !words.raw_b.empty() || words.host.given() ||
        !(words.type.empty() || words.type == "f32") || !(words.leaf.empty() || words.leaf == "gpu8")) {
        fail(ErrorCode::usage,
             "--machine c1060 counts C = A*B in f32 with the leaf gpu8; it takes --algorithm, --levels, --tau1, --tau2 "
             "and --json only");
    }
    const bool levels = !words.levels.empty() && words.levels != "auto";
    if (levels == given.any() || given.tau1.empty() != given.tau2.empty()) {
        fail(ErrorCode::usage, "--machine c1060 takes --levels N, or both --tau1 N and --tau2 N");
    }
    C1060Arguments arguments;
    if (levels) {
        arguments.levels = static_cast<int>(parse_integer("--levels", words.levels, 0, kMostProductLevels));
    } else {
        arguments.tau1 = parse_integer("--tau1", given.tau1, 1, kLargestSize);
        arguments.tau2 = parse_integer("--tau2", given.tau2, 1, kLargestSize);
    }
    return arguments;
}

AskMachine add_c1060(CLI::App& plan) {
    auto given = std::make_shared<Thresholds>();
    add_value(plan, "--tau1 N", given->tau1, "c1060: up to this size, the classical product");
    add_value(plan, "--tau2 N", given->tau2, "c1060: up to this size, one level");
    return [given](const ProductWords& words, bool named) -> PrintPlan {
        if (named) {
            return [c1060 = c1060_arguments(words, *given)](const PlanArguments& arguments) {
                print_c1060_plan(arguments, c1060);
            };
        }
        if (given->any()) {
            fail(ErrorCode::usage, "--tau1 and --tau2 are thresholds of --machine c1060; give that too");
        }
        return {};
    };
}

const RegisterMachine registered_c1060({.name = "c1060",
                                        .does = "count arithmetics, transactions and volume as in docs/p0.md",
                                        .add = add_c1060});

}  // namespace
}  // namespace heptad::cli
