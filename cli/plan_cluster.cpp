// heptad plan --nodes P: what a product on a cluster would take; see docs/cluster.md.

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "option_words.hpp"
#include "outlook_text.hpp"
#include "output.hpp"
#include "plan_text.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

std::string bytes_text(double bytes) {
    return format_bytes(std::llround(bytes));
}

std::string forecast_text(const ProductPlan& plan, const ClusterForecast& predicted,
                          const std::optional<ErrorPromise>& error) {
    std::string text = error ? fmt::format("# {}\n", expectation_text({*error})) : "";
    if (error && std::isfinite(error->bound)) {
        text += fmt::format("# {}\n", bound_text(*error));
    }
    text += fmt::format("# ranks           {} ({} idle)\n", plan.rank->ranks, idle_ranks(plan));
    text += fmt::format("# received        {} per rank while multiplying, formula {}, lower bound {}{}\n",
                        bytes_text(predicted.received_bytes), bytes_text(predicted.formula_bytes),
                        bytes_text(predicted.lower_bound_bytes),
                        predicted.lower_bound_bytes > 0
                            ? fmt::format(" (ratio {:.3f})", predicted.received_bytes / predicted.lower_bound_bytes)
                            : "");
    for (const ForecastStage& stage : predicted.stages) {
        const std::string amount =
            stage.name == "MM" ? fmt::format("{:.3g} operations", stage.bytes) : bytes_text(stage.bytes);
        text +=
            fmt::format("# {:<11}{:<4} {:>22} {:>12}\n", stage.step, stage.name, amount, format_seconds(stage.seconds));
    }
    if (!predicted.terms.empty()) {
        text += fmt::format("# equation ({})    ", plan.rank->algorithm == ClusterAlgorithm::pegmm ? 2 : 3);
        for (const EquationTerm& term : predicted.terms) {
            text += fmt::format("{}{} {}", &term == predicted.terms.data() ? "" : " + ", term.name,
                                format_seconds(term.seconds));
        }
        text += fmt::format(" = {}\n", format_seconds(predicted.equation_s));
    }
    text +=
        fmt::format("# predicted time  {} (distribute {}, multiply {}, collect {}), efficiency {:.3f}\n",
                    format_seconds(predicted.total_s()), format_seconds(predicted.distribute_s),
                    format_seconds(predicted.multiply_s), format_seconds(predicted.collect_s), predicted.efficiency);
    return text + to_string(plan) + "\n";
}

}  // namespace

void print_cluster_plan(const PlanArguments& arguments) {
    const auto [plan, rates, predicted, error] =
        forecast_cluster(arguments.request, arguments.size, *arguments.cluster);
    if (!arguments.json) {
        print(forecast_text(plan, predicted, error));
        return;
    }
    nlohmann::ordered_json object{
        {"m", plan.m}, {"k", plan.k}, {"n", plan.n}, {"type", type_name(arguments.request.type.value_or(Type::f32))}};
    object.update(forecast_json(plan, predicted));
    if (error) {
        object.update(outlook_json({*error}));
    }
    object["rates"] = {{"operations_per_s", rates.operations_per_s},
                       {"network_bytes_per_s", rates.network_bytes_per_s},
                       {"disk_bytes_per_s", rates.disk_bytes_per_s}};
    print(object);
}

}  // namespace heptad::cli
