#include "plan/predict/cluster_forecast.hpp"

#include <algorithm>

#include "base/size.hpp"
#include "plan/model/operation_count.hpp"
#include "plan/search/cluster_caps.hpp"

namespace heptad {
namespace {

double real(std::int64_t value) {
    return static_cast<double>(value);
}

/// Byte counts of one plan and the stages they lead to.
class Simulation {
public:
    Simulation(const ProductPlan& plan, const ClusterRates& rates, const ForecastOptions& options)
        : plan_(plan),
          rates_(rates),
          options_(options),
          ranks_(real(plan.rank->ranks)),
          element_(real(static_cast<std::int64_t>(element_bytes(plan.type)))),
          a_(real(plan.m) * real(plan.k) * element_),
          b_(real(plan.k) * real(plan.n) * element_),
          c_(real(plan.m) * real(plan.n) * element_) {}

    ClusterForecast run() {
        bounds();
        if (options_.scatter) {
            distribute();
        }
        switch (plan_.rank->algorithm) {
            case ClusterAlgorithm::grid:
                multiply_on_grid();
                break;
            case ClusterAlgorithm::caps:
                multiply_by_caps();
                break;
            default:
                multiply_blocks();
        }
        if (options_.scatter) {
            const double others = c_ * (1 - 1 / ranks_);
            result_.collect_s = std::max({stage("collect", "DR", c_ / ranks_, rates_.disk_bytes_per_s),
                                          stage("collect", "NR", others, rates_.network_bytes_per_s),
                                          stage("collect", "DW", c_, rates_.disk_bytes_per_s)});
        }
        const double alone_s = operations(plan_.m, plan_.k, plan_.n) / rates_.operations_per_s;
        const double total_s = result_.total_s();
        result_.efficiency = total_s > 0 ? alone_s / (ranks_ * total_s) : 1;
        return result_;
    }

private:
    double operations(std::int64_t m, std::int64_t k, std::int64_t n) const {
        return operation_count({m, k, n}, plan_.type);
    }

    void bounds() {
        // The first rank has the largest blocks, but where sizes do not divide another one may hold less of them.
        const std::int64_t busy = plan_.rank->algorithm == ClusterAlgorithm::grid   ? plan_.rank->grid.ranks()
                                  : plan_.rank->algorithm == ClusterAlgorithm::caps ? caps_shape(plan_).ranks
                                                                                    : plan_.rank->ranks;
        for (std::int64_t rank = 0; rank < busy; ++rank) {
            result_.received_bytes = std::max(result_.received_bytes, real(heptad::received_bytes(plan_, rank)));
        }
        result_.lower_bound_bytes = element_ * least_received_elements(problem_size(plan_), plan_.rank->ranks);
        result_.formula_bytes = plan_.rank->algorithm == ClusterAlgorithm::grid
                                    ? element_ * received_elements(problem_size(plan_), plan_.rank->grid)
                                : plan_.rank->algorithm == ClusterAlgorithm::mod_pegmm ? b_ * (1 - 1 / ranks_)
                                                                                       : 0;
    }

    double stage(const char* step, const char* name, double bytes, double per_s) {
        result_.stages.push_back({step, name, bytes, bytes / per_s});
        return bytes / per_s;
    }

    void term(const char* name, double bytes, double per_s) {
        result_.terms.push_back({name, bytes / per_s});
        result_.equation_s += bytes / per_s;
    }

    /// How often B is sent, one after the other. A chain passes blocks on while others arrive, and its last rank begins
    /// to get them when the others before it have had the first.
    double broadcast_copies() const {
        if (options_.broadcast == Broadcast::linear || plan_.rank->ranks == 1) {
            return ranks_ - 1;
        }
        const std::int64_t blocks = ceil_div(plan_.k, plan_.rank->block.y) * ceil_div(plan_.n, plan_.rank->block.z);
        return 1 + (ranks_ - 2) / real(std::max<std::int64_t>(1, blocks));
    }

    /// From the root to everybody. Its terms follow one another in P4's equations; carried out, they overlap.
    void distribute() {
        const double disk = rates_.disk_bytes_per_s, network = rates_.network_bytes_per_s;
        const double others = 1 - 1 / ranks_;
        const bool all_of_b = plan_.rank->algorithm == ClusterAlgorithm::pegmm;
        const double sent_b = all_of_b ? b_ * broadcast_copies() : b_ * others;
        const double held_b = all_of_b ? b_ : b_ / ranks_;
        if (plan_.rank->algorithm == ClusterAlgorithm::pegmm || plan_.rank->algorithm == ClusterAlgorithm::mod_pegmm) {
            term("T_dr(A)", a_, disk);
            term("T_scatter(A)", a_ * others, network);
            term("T_dw(A[id])", a_ / ranks_, disk);
            term("T_dr(B)", b_, disk);
            term(all_of_b ? "T_bcast(B)" : "T_scatter(B)", sent_b, network);
            term(all_of_b ? "T_dw(B)" : "T_dw(B[id])", held_b, disk);
        }
        result_.distribute_s = std::max({stage("distribute", "DR", a_ + b_, disk),
                                         stage("distribute", "NS", a_ * others + sent_b, network),
                                         stage("distribute", "NR", a_ / ranks_ + held_b, network),
                                         stage("distribute", "DW", a_ / ranks_ + held_b, disk)});
    }

    void multiply_on_grid() {
        const ProblemSize size = problem_size(plan_);
        const double busy = real(plan_.rank->grid.ranks());
        const double largest =
            operations(ceil_div(plan_.m, plan_.rank->grid.pm), ceil_div(plan_.k, plan_.rank->grid.pk),
                       ceil_div(plan_.n, plan_.rank->grid.pn));
        const double gathered = element_ * gathered_elements(size, plan_.rank->grid);
        const double read_s = stage("multiply", "DR", (a_ + b_) / busy, rates_.disk_bytes_per_s);
        const double gather_s = stage("multiply", "NR", gathered, rates_.network_bytes_per_s);
        const double product_s = stage("multiply", "MM", largest, rates_.operations_per_s);
        // What there is one panel of has one stage after the other.
        const double longest =
            plan_.rank->panels > 1 ? std::max({read_s, gather_s, product_s}) : read_s + gather_s + product_s;
        const double summed = element_ * reduced_elements(size, plan_.rank->grid);
        result_.multiply_s = longest + stage("multiply", "RS", summed, rates_.network_bytes_per_s) +
                             stage("multiply", "DW", c_ / busy, rates_.disk_bytes_per_s);
    }

    /// Nothing overlaps: each step needs all of the one before.
    void multiply_by_caps() {
        const CapsShape shape = caps_shape(plan_);
        const double busy = real(shape.ranks);
        result_.formula_bytes = result_.received_bytes;
        result_.multiply_s =
            stage("multiply", "DR", (a_ + b_) / busy, rates_.disk_bytes_per_s) +
            stage("multiply", "NR", result_.received_bytes, rates_.network_bytes_per_s) +
            stage("multiply", "MM", operations(shape.block_m, shape.block_k, shape.block_n), rates_.operations_per_s) +
            stage("multiply", "DW", c_ / busy, rates_.disk_bytes_per_s);
    }

    /// P4's step of products: blocks are read again for every block row or column that they meet.
    void multiply_blocks() {
        const std::int64_t rows = ceil_div(plan_.m, plan_.rank->ranks);
        const double down = real(ceil_div(rows, plan_.rank->block.x)),
                     across = real(ceil_div(plan_.n, plan_.rank->block.z));
        // With mod-pegmm the blocks of B[id] are read once to use them and once for each rank that they are sent to.
        const double read_b = plan_.rank->algorithm == ClusterAlgorithm::pegmm ? b_ * down : b_;
        result_.multiply_s =
            std::max({stage("multiply", "DR", a_ / ranks_ * across + read_b, rates_.disk_bytes_per_s),
                      stage("multiply", "NR", result_.formula_bytes, rates_.network_bytes_per_s),
                      stage("multiply", "MM", operations(rows, plan_.k, plan_.n), rates_.operations_per_s),
                      stage("multiply", "DW", c_ / ranks_, rates_.disk_bytes_per_s)});
    }

    const ProductPlan& plan_;
    const ClusterRates& rates_;
    const ForecastOptions& options_;
    double ranks_, element_, a_, b_, c_;  // bytes of the matrices
    ClusterForecast result_;
};

}  // namespace

ClusterForecast forecast(const ProductPlan& plan, const ClusterRates& rates, const ForecastOptions& options) {
    return Simulation(plan, rates, options).run();
}

}  // namespace heptad
