// How good the predictions of a run were, from its records alone.
#pragma once

#include <string>
#include <vector>

#include "bench/suites/bench_product.hpp"

namespace heptad::cli {

struct ModelSummary {
    int predictions = 0;        // of products with all sides at least kPredictedFrom
    int predictions_close = 0;  // within kCloseTo of the time measured
    double worst = 0;           // largest |predicted / measured - 1|
    std::string worst_case;
    int choices = 0;       // shapes
    int choices_good = 0;  // where the way predicted to be the fastest was within kGoodChoice of the fastest one
};
inline constexpr std::int64_t kPredictedFrom = 2048;
inline constexpr double kCloseTo = 0.15, kGoodChoice = 0.03;

/// Every record is one variant of one type and shape; those that are not reproducible ("atomic") are never chosen.
ModelSummary summarise_model(const std::vector<BenchRecord>& records);
std::string to_string(const ModelSummary& summary);

}  // namespace heptad::cli
