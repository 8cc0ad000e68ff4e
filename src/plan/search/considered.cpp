#include "plan/search/considered.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "algorithm/catalogue.hpp"
#include "base/shared_state.hpp"

namespace heptad {
namespace {

constexpr int kMostBlocks = 27;  // m * k * n; more blocks are more streams through memory than caches can follow

/// By the name it is found by, which may be that of a file.
struct Named {
    std::string name;
    const CatalogueEntry* entry;
};
using Entries = std::vector<Named>;

int volume_of(const Algorithm& algorithm) {
    return algorithm.m * algorithm.k * algorithm.n;
}

/// An algorithm for the same sizes and at least the same types.
bool can_stand_for(const CatalogueEntry& y, const CatalogueEntry& x) {
    return x.algorithm.m == y.algorithm.m && x.algorithm.k == y.algorithm.k && x.algorithm.n == y.algorithm.n &&
           (y.algorithm.ring == Ring::integers || y.algorithm.ring == x.algorithm.ring) &&
           y.facts.rank <= x.facts.rank && y.facts.rms_growth <= x.facts.rms_growth;
}

/// Does x have nothing over y?
bool is_dominated(const CatalogueEntry& x, const CatalogueEntry& y) {
    return can_stand_for(y, x) && y.facts.additions() <= x.facts.additions();
}

/// The same inside a kernel, where sums are not shared: blocks count that are read and updated.
bool is_dominated_inside(const CatalogueEntry& x, const CatalogueEntry& y) {
    const auto blocks = [](const std::vector<int>& weights) {
        return std::accumulate(weights.begin(), weights.end(), 0);
    };
    return &x != &y && can_stand_for(y, x) && blocks(y.facts.weights_a) <= blocks(x.facts.weights_a) &&
           blocks(y.facts.weights_b) <= blocks(x.facts.weights_b) &&
           blocks(y.facts.weights_c) <= blocks(x.facts.weights_c);
}

bool adds_and_subtracts(const CoefficientMatrix& coefficients) {
    return std::ranges::all_of(coefficients.entries, [](const Rational& entry) {
        return entry.is_zero() || entry == Rational(1) || entry == Rational(-1);
    });
}

/// Cuts in halves, and no factor of a sum has to be rounded in any type.
bool is_plain_halving(const Algorithm& algorithm) {
    return algorithm.m == 2 && algorithm.k == 2 && algorithm.n == 2 && adds_and_subtracts(algorithm.u) &&
           adds_and_subtracts(algorithm.v) && adds_and_subtracts(algorithm.w);
}

/// Every algorithm that saves products, is small enough for its passes to stay fast, works in the standard basis (bases
/// pay only when all levels share them) and is not dominated by another one. Square ones first.
Entries worth_a_look(const std::vector<std::string>& names) {
    Entries entries;
    for (const std::string& name : names) {
        const CatalogueEntry& entry = find_algorithm(name);
        const int volume = volume_of(entry.algorithm);
        if (volume <= kMostBlocks && entry.algorithm.rank() < volume && !entry.algorithm.basis) {
            entries.push_back({name, &entry});
        }
    }
    std::ranges::stable_sort(entries, [](const Named& x, const Named& y) {
        const auto order = [](const CatalogueEntry& e) {
            return std::tuple(volume_of(e.algorithm), e.facts.additions());
        };
        return order(*x.entry) < order(*y.entry);
    });
    Entries kept;
    for (const Named& x : entries) {
        if (std::ranges::none_of(kept, [&](const Named& y) { return is_dominated(*x.entry, *y.entry); })) {
            kept.push_back(x);
        }
    }
    return kept;
}

/// Each of them, and behind all of them each twice.
std::vector<std::string> once_and_twice(const Entries& entries) {
    std::vector<std::string> names;
    for (const Named& one : entries) {
        names.push_back(one.name);
    }
    for (const Named& one : entries) {
        names.push_back(one.name + "*" + one.name);
    }
    return names;
}

}  // namespace

ConsideredAlgorithms considered_among(const std::vector<std::string>& names, const BackendTraits& backend) {
    const Entries all = worth_a_look(names);
    Entries halvings, inside;
    std::copy_if(all.begin(), all.end(), std::back_inserter(halvings), [&](const Named& one) {
        const bool has_a_type = backend.has_levels_of_bits || one.entry->algorithm.ring != Ring::gf2;
        return has_a_type && is_plain_halving(one.entry->algorithm);
    });
    std::copy_if(halvings.begin(), halvings.end(), std::back_inserter(inside), [&](const Named& x) {
        return std::ranges::none_of(halvings, [&](const Named& y) { return is_dominated_inside(*x.entry, *y.entry); });
    });
    ConsideredAlgorithms considered;
    considered.fused = once_and_twice(inside);
    if (backend.is_device) {
        // Others leave blocks that do not fill the tiles of a device's leaves: 3x2x3-15 lost where it was predicted to
        // win. Two levels in one go pay: their sums stay in registers in between, and 49 products fill the chip.
        considered.levels = once_and_twice(halvings);
    } else {
        for (const Named& one : all) {
            considered.levels.push_back(one.name);
        }
    }
    return considered;
}

const ConsideredAlgorithms& considered_algorithms(const BackendTraits& backend) {
    static constinit Once<ConsideredAlgorithms> on_device, elsewhere;
    return (backend.is_device ? on_device : elsewhere).get([&] {
        constexpr int kBlocksOfHalves = 8;  // others need not be made
        return considered_among(small_algorithm_names(backend.is_device ? kBlocksOfHalves : kMostBlocks), backend);
    });
}

}  // namespace heptad
