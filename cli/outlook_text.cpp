#include "outlook_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace heptad::cli {
namespace {

/// Two digits are more than anybody knows.
std::string times_text(double factor) {
    return factor < 100 ? fmt::format("{:.2g}", factor) : fmt::format("{:.0f}", factor);
}

/// Leaves of our own have no name outside.
std::string library_words(const std::string& leaf) {
    for (const std::string_view library : {"openblas", "blis", "mkl", "cublas"}) {
        if (leaf.starts_with(library)) {
            return std::string(library);
        }
    }
    return "the classical product";
}

std::string speed_words(const Outlook& outlook) {
    if (outlook.speedup <= 0) {
        return "";
    }
    const bool faster = outlook.speedup >= 1;
    return fmt::format("; {:.2f} x {} than {} (predicted)", faster ? outlook.speedup : 1 / outlook.speedup,
                       faster ? "faster" : "slower", library_words(outlook.library));
}

}  // namespace

std::string expectation_text(const Outlook& outlook) {
    const ErrorPromise& error = outlook.error;
    const std::string speed = speed_words(outlook);
    if (error.over == BoundOver::nothing) {
        return "expected error: none (exact)" + speed;
    }
    if (error.over == BoundOver::result) {
        return "expected error: one rounding of the exact product" + speed;
    }
    if (error.over == BoundOver::entries) {
        return "expected error: the classical product's" + speed;
    }
    return fmt::format("expected error: {} x the classical product's (typical {:.1g} of |a_i||b_j|){}",
                       times_text(error.growth), error.typical, speed);
}

std::string bound_text(const ErrorPromise& error) {
    const char* const over = bound_over_text(error.over);
    switch (error.over) {
        case BoundOver::nothing:
            return "error bound: 0 (exact)";
        case BoundOver::result:
            return fmt::format("error bound: |AB - computed|_ij <= {:.3g} {}, guaranteed: the same bits everywhere",
                               error.bound, over);
        case BoundOver::entries:
            return std::isfinite(error.bound)
                       ? fmt::format("error bound: |AB - computed|_ij <= {:.3g} {}, guaranteed", error.bound, over)
                       : "error bound: none, k is too large for one";
        case BoundOver::lines:
            return fmt::format(
                "error bound: |AB - computed|_ij <= c u {}, c u = {:.3g}, c = {:.3g}, guaranteed for all finite data",
                over, error.bound, error.bound / error.roundoff);
        default:
            return fmt::format("error bound: |AB - computed|_ij <= {:.3g} {}, guaranteed for the whole matrix only",
                               error.bound, over);
    }
}

nlohmann::ordered_json outlook_json(const Outlook& outlook) {
    using Json = nlohmann::ordered_json;
    const ErrorPromise& error = outlook.error;
    const bool exact = error.over == BoundOver::nothing, bounded = std::isfinite(error.bound);
    Json bound{{"value", bounded ? Json(error.bound) : Json(nullptr)},
               {"norm", exact ? Json(nullptr) : Json(bound_over_text(error.over))}};
    bound["c"] = exact || !bounded ? Json(nullptr) : Json(error.bound / error.roundoff);
    return {{"expected_error_growth", error.growth},
            {"typical_error", error.typical},
            {"guaranteed_bound", std::move(bound)},
            {"predicted_speedup", outlook.speedup > 0 ? Json(outlook.speedup) : Json(nullptr)},
            {"predicted_against", outlook.speedup > 0 ? Json(library_words(outlook.library)) : Json(nullptr)}};
}

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
