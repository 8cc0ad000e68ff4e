#include "plan/search/host_layer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithm/catalogue.hpp"
#include "base/fail_if.hpp"
#include "base/size.hpp"

namespace heptad {
namespace {

constexpr int kMostRank = 4096;
constexpr int kMostSide = 64;

double sum_of_magnitudes(const std::vector<BlockTerm>& terms) {
    double sum = 0;
    for (const BlockTerm& term : terms) {
        sum += std::abs(term.coefficient);
    }
    return sum;
}

/// Additions of a sum, and one for coefficients that may round.
double roundings_of(const std::vector<BlockTerm>& terms) {
    const bool scales =
        std::ranges::any_of(terms, [](const BlockTerm& term) { return std::abs(term.coefficient) != 1; });
    return static_cast<double>(terms.size()) - 1 + (scales ? 1 : 0);
}

}  // namespace

HostLayer algorithm_layer(const std::string& algorithm, int levels, Type type) {
    const Algorithm& one = find_algorithm(algorithm).standard;
    fail_if(!algorithm_admits(one, type), ErrorCode::usage,
            "the algorithm '{}' works over {}, which does not admit {}; name another for the host", algorithm,
            ring_name(one.ring), type_name(type));
    const double side = std::pow(std::max({one.m, one.k, one.n}), levels);
    fail_if(levels < 1 || std::pow(one.rank(), levels) > kMostRank || side > kMostSide, ErrorCode::usage,
            "{} levels of '{}' cannot be dealt out by the host; it takes 1 level and more, up to {} products and {} "
            "blocks a side",
            levels, algorithm, kMostRank, kMostSide);
    LevelTerms terms = nested_levels(level_terms(one, type == Type::gf2), levels, BlockNumbers::by_rows);
    HostLayer layer{.grid = terms.grid, .instances = std::move(terms.products)};
    return layer;
}

HostLayer segment_layer(const BlockGrid& grid) {
    const std::int64_t count = checked_mul(checked_mul(grid.m, grid.n), grid.k);
    fail_if(count > kMostHostParts, ErrorCode::resource,
            "the product would be cut into {} parts, and at most {} are possible; allow more device memory", count,
            kMostHostParts);
    HostLayer layer;
    layer.grid = grid;
    layer.steps = grid.k;
    layer.disjoint = true;
    layer.instances.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < grid.m; ++i) {
        for (int turn = 0; turn < grid.n; ++turn) {
            const int j = i % 2 == 0 ? turn : grid.n - 1 - turn;
            for (int l = 0; l < grid.k; ++l) {
                layer.instances.push_back({{{{i * grid.k + l, 1}}, {{l * grid.n + j, 1}}, {{i * grid.n + j, 1}}}});
            }
        }
    }
    return layer;
}

LayerGrowth layer_growth(const HostLayer& layer) {
    LayerGrowth result;
    if (layer.disjoint) {
        return result;
    }
    const auto blocks = static_cast<std::size_t>(layer.grid.m) * static_cast<std::size_t>(layer.grid.n);
    std::vector<double> growth(blocks, 0), largest(blocks, 0), updates(blocks, 0);
    double operand_roundings = 0;
    bool scales = false;
    for (const BlockProduct& instance : layer.instances) {
        const double a = sum_of_magnitudes(instance.left), b = sum_of_magnitudes(instance.right);
        result.largest_sum_a = std::max(result.largest_sum_a, a);
        result.largest_sum_b = std::max(result.largest_sum_b, b);
        operand_roundings = std::max(operand_roundings, roundings_of(instance.left) + roundings_of(instance.right));
        for (const BlockResult& term : instance.result) {
            const auto block = static_cast<std::size_t>(term.block);
            growth[block] += std::abs(term.coefficient) * a * b;
            largest[block] += std::abs(term.coefficient);
            updates[block] += 1;
            scales = scales || std::abs(term.coefficient) != 1;
        }
    }
    result.growth = *std::ranges::max_element(growth);
    result.largest_sum_c = *std::ranges::max_element(largest);
    result.roundings = operand_roundings + *std::ranges::max_element(updates) - 1 + (scales ? 1 : 0);
    return result;
}

bool layer_sums_are_safe(const LayerGrowth& growth, Type type, std::int64_t k, double alpha, double beta,
                         const LargestValues& largest) {
    const double limit =
        (type == Type::f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max()) / 4;
    const double max_a = largest.a * growth.largest_sum_a, max_b = largest.b * growth.largest_sum_b;
    const double old_c = beta == 0 ? 0 : std::abs(beta) * largest.c;
    const double result =
        static_cast<double>(k) * growth.largest_sum_c * std::max(1.0, std::abs(alpha)) * max_a * max_b;
    return max_a < limit && max_b < limit && result < limit && old_c < limit;
}

}  // namespace heptad
