// Beam search over the orders of products. What is alive after a set of products hardly depends on their order, so a
// few states per set are enough: for small ranks the beam holds every set, and the search is exhaustive.
#include <algorithm>
#include <map>
#include <tuple>

#include "algorithm/scheduler.hpp"
#include "algorithm/scheduler_simulation.hpp"

namespace heptad {
namespace {

struct BeamState {
    Simulation simulation;
    std::vector<bool> done;
    std::vector<int> order;
};

/// What a state costs so far; smaller is better. The order itself breaks ties, so that every run finds the same.
struct Candidate {
    int peak, live, operations;
    std::size_t parent;
    int product;
    auto key() const { return std::tie(peak, live, operations, parent, product); }
};

struct BeamSize {
    std::size_t states, per_set;
};
BeamSize beam_size(int rank) {
    if (rank <= 8) {
        return {70, 2};
    }
    return rank <= 30 ? BeamSize{40, 1} : BeamSize{16, 1};
}

}  // namespace

std::vector<ProductOrder> search_orders(const SchedulerGraph& graph, int limit) {
    const BeamSize size = beam_size(graph.rank);
    std::vector<BeamState> beam;
    beam.push_back({Simulation(graph, nullptr), std::vector<bool>(static_cast<std::size_t>(graph.rank)), {}});
    std::vector<Candidate> candidates;
    Simulation next = beam[0].simulation;
    for (int step = 0; step < graph.rank; ++step) {
        candidates.clear();
        for (std::size_t parent = 0; parent < beam.size(); ++parent) {
            for (int s = 0; s < graph.rank; ++s) {
                const auto index = static_cast<std::size_t>(s);
                if (beam[parent].done[index]) {
                    continue;
                }
                next = beam[parent].simulation;
                next.play(s);
                if (step + 1 == graph.rank) {
                    next.finish();
                }
                if (next.peak_temporaries() > limit) {
                    continue;
                }
                candidates.push_back({next.peak_temporaries(), next.live_values(), next.operations(), parent, s});
            }
        }
        std::ranges::sort(candidates, [](const Candidate& x, const Candidate& y) { return x.key() < y.key(); });
        std::map<std::vector<bool>, std::size_t> kept_of_set;
        std::vector<BeamState> next_beam;
        const bool last = step + 1 == graph.rank;
        for (const Candidate& candidate : candidates) {
            if (next_beam.size() >= size.states) {
                break;
            }
            std::vector<bool> done = beam[candidate.parent].done;
            done[static_cast<std::size_t>(candidate.product)] = true;
            if (!last && kept_of_set[done]++ >= size.per_set) {
                continue;
            }
            BeamState state{beam[candidate.parent].simulation, std::move(done), beam[candidate.parent].order};
            state.simulation.play(candidate.product);
            state.order.push_back(candidate.product);
            next_beam.push_back(std::move(state));
        }
        beam = std::move(next_beam);
    }
    std::vector<ProductOrder> orders;
    for (BeamState& state : beam) {
        state.simulation.finish();
        orders.push_back({std::move(state.order), state.simulation.peak_temporaries()});
    }
    return orders;
}

Recording record_order(const SchedulerGraph& graph, const std::vector<int>& order) {
    Recording recording;
    Simulation simulation(graph, &recording);
    for (const int s : order) {
        simulation.play(s);
    }
    simulation.finish();
    return recording;
}

}  // namespace heptad
