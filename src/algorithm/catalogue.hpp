// Every shipped algorithm and schedule, embedded at build time, plus those a user names.
#pragma once

#include <string>
#include <vector>

#include "algorithm/algorithm.hpp"
#include "algorithm/facts.hpp"
#include "algorithm/linear_program.hpp"

namespace heptad {

/// An algorithm with all that is derived from it once.
struct CatalogueEntry {
    Algorithm algorithm;  // as written
    Algorithm standard;   // flattened; equals `algorithm` when it has no bases
    AlgorithmFacts facts;
    LevelSums sums;        // of `standard`
    bool derived = false;  // a symmetric variant of a shipped one
};

/// The entry of that name; names of derived variants ("3x2x2-11") and compositions ("strassen*winograd") are found too.
/// Also accepts the path of an .alg file (a name that contains '/' or ends in ".alg"); such a file is proven before
/// use. Throws Error(usage) that lists what there is. Thread safe; the reference stays valid.
const CatalogueEntry& find_algorithm(const std::string& name);
/// Names of shipped algorithms, then of derived variants, each sorted.
std::vector<std::string> algorithm_names(bool with_derived);
/// Shipped and derived ones with m * k * n up to that many; makes no entry, so it costs nothing.
std::vector<std::string> small_algorithm_names(int most_blocks);

}  // namespace heptad
