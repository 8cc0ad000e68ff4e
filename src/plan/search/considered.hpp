// Which algorithms a search looks at. Facts decide, not names: whoever adds an .alg file adds it to these.
#pragma once

#include <string>
#include <vector>

#include "base/leaf_traits.hpp"

namespace heptad {

struct ConsideredAlgorithms {
    std::vector<std::string> levels;  // in passes. Ties go to the earlier
    std::vector<std::string> fused;   // inside the kernel that multiplies
};

/// Of the catalogue; made once for each kind of backend.
const ConsideredAlgorithms& considered_algorithms(const BackendTraits& backend);
/// Of any algorithms, by name or by the path of a file.
ConsideredAlgorithms considered_among(const std::vector<std::string>& names, const BackendTraits& backend);

}  // namespace heptad
