#include "cluster_text.hpp"

#include <nlohmann/json.hpp>

namespace heptad::cli {

nlohmann::ordered_json forecast_json(const ProductPlan& plan, const ClusterForecast& predicted) {
    nlohmann::ordered_json stages = nlohmann::ordered_json::array();
    for (const ForecastStage& stage : predicted.stages) {
        const char* amount = stage.name == "MM" ? "operations" : "bytes";
        stages.push_back(
            {{"step", stage.step}, {"stage", stage.name}, {amount, stage.bytes}, {"seconds", stage.seconds}});
    }
    nlohmann::ordered_json object{{"ranks", plan.rank->ranks},
                                  {"idle_ranks", idle_ranks(plan)},
                                  {"algorithm", cluster_algorithm_name(plan.rank->algorithm)},
                                  {"received_bytes_per_rank", predicted.received_bytes},
                                  {"formula_bytes_per_rank", predicted.formula_bytes},
                                  {"lower_bound_bytes_per_rank", predicted.lower_bound_bytes},
                                  {"stages", stages}};
    if (!predicted.terms.empty()) {
        nlohmann::ordered_json terms;
        for (const EquationTerm& term : predicted.terms) {
            terms[term.name] = term.seconds;
        }
        object["equation"] = {{"number", plan.rank->algorithm == ClusterAlgorithm::pegmm ? 2 : 3},
                              {"terms", terms},
                              {"seconds", predicted.equation_s}};
    }
    object["distribute_s"] = predicted.distribute_s;
    object["multiply_s"] = predicted.multiply_s;
    object["collect_s"] = predicted.collect_s;
    object["predicted_s"] = predicted.total_s();
    object["efficiency"] = predicted.efficiency;
    object["plan"] = to_string(plan);
    return object;
}

}  // namespace heptad::cli
