// What a product on a cluster will take, from the rates of its nodes: a simulation stage by stage, at any number of
// ranks, of a plan that need not be carried out.
//
// Stages bear P4's names: DR and DW read and write disks, NS and NR send and receive, MM multiplies, and RS receives
// and adds partial results. Stages of one step overlap, so a step takes as long as its longest stage.
//
// P4's equations for the distribution from the root, whose terms are printed one by one:
//
//   (2) pegmm       T_dr(A) + T_scatter(A) + T_dw(A[id]) + T_dr(B) + T_bcast(B)   + T_dw(B)
//   (3) mod-pegmm   T_dr(A) + T_scatter(A) + T_dw(A[id]) + T_dr(B) + T_scatter(B) + T_dw(B[id])
#pragma once

#include <string>
#include <vector>

#include "plan/search/cluster_plan.hpp"

namespace heptad {

/// How the root hands B to everybody.
enum class Broadcast : std::uint8_t {
    linear,     // to one rank after the other, as P4 does
    pipelined,  // along a chain of ranks, block after block
};

struct ForecastStage {
    std::string step;  // "distribute", "multiply", "collect"
    std::string name;  // "DR", "NR" ...
    double bytes = 0;  // of the busiest rank; MM: operations
    double seconds = 0;
};

struct EquationTerm {
    std::string name;  // "T_dr(A)"
    double seconds = 0;
};

struct ClusterForecast {
    double received_bytes = 0;     // per rank while multiplying, the busiest one where sizes do not divide
    double formula_bytes = 0;      // the grid's formula, for sizes that divide; of mod-pegmm (1 - 1/p) kn, of pegmm 0
    double lower_bound_bytes = 0;  // of any way to share the work equally
    std::vector<ForecastStage> stages;
    std::vector<EquationTerm> terms;  // P4's algorithms, scattered: equation (2) or (3)
    double equation_s = 0;            // their sum
    double distribute_s = 0, multiply_s = 0, collect_s = 0;
    double total_s() const { return distribute_s + multiply_s + collect_s; }
    /// The time of one node over the ranks' time together.
    double efficiency = 0;
};

struct ForecastOptions {
    bool scatter = false;  // the files are on the root alone: P4's setting
    Broadcast broadcast = Broadcast::pipelined;
};

ClusterForecast forecast(const ProductPlan& plan, const ClusterRates& rates, const ForecastOptions& options);

}  // namespace heptad
