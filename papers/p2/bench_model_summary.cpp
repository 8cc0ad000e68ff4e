#include "papers/p2/bench_model_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace heptad::cli {

ModelSummary summarise_model(const std::vector<BenchRecord>& records) {
    struct Choice {
        double predicted_s = HUGE_VAL, measured_s = HUGE_VAL;  // of the one predicted to be the fastest
        double fastest_s = HUGE_VAL;
    };
    std::map<std::tuple<Type, std::int64_t, std::int64_t, std::int64_t>, Choice> choices;
    ModelSummary summary;
    for (const BenchRecord& record : records) {
        if (std::min({record.size.m, record.size.k, record.size.n}) >= kPredictedFrom) {
            const double off = std::abs(record.predicted_s / record.heptad_s - 1);
            ++summary.predictions;
            summary.predictions_close += off <= kCloseTo ? 1 : 0;
            if (off > summary.worst) {
                summary.worst = off;
                summary.worst_case = fmt::format("{} {}x{}x{} {}", type_name(record.type), record.size.m, record.size.k,
                                                 record.size.n, record.variant);
            }
        }
        if (record.variant.find("atomic") != std::string::npos) {
            continue;
        }
        Choice& choice = choices[{record.type, record.size.m, record.size.k, record.size.n}];
        choice.fastest_s = std::min(choice.fastest_s, record.heptad_s);
        if (record.predicted_s < choice.predicted_s) {
            choice.predicted_s = record.predicted_s;
            choice.measured_s = record.heptad_s;
        }
    }
    for (const auto& [shape, choice] : choices) {
        ++summary.choices;
        summary.choices_good += choice.measured_s <= choice.fastest_s * (1 + kGoodChoice) ? 1 : 0;
    }
    return summary;
}

std::string to_string(const ModelSummary& summary) {
    return fmt::format(
        "{} of {} predictions for sides from {} up within {:.0f} % of the time measured{}\n"
        "{} of {} shapes where the way predicted to be the fastest was within {:.0f} % of the fastest one\n",
        summary.predictions_close, summary.predictions, kPredictedFrom, 100 * kCloseTo,
        summary.worst > 0 ? fmt::format(" (worst {:.0f} %: {})", 100 * summary.worst, summary.worst_case) : "",
        summary.choices_good, summary.choices, 100 * kGoodChoice);
}

}  // namespace heptad::cli
