// Texts about algorithms for people: what `heptad algorithms` prints.
#pragma once

#include <string>
#include <vector>

#include "algorithm/catalogue.hpp"

namespace heptad {

/// One line per algorithm of the catalogue, under a heading. Derived variants are only named unless asked for.
std::string describe_catalogue(bool with_derived);
/// Names of the element types that an algorithm is right for.
std::vector<std::string> types_of(const Algorithm& algorithm);
/// All facts of one algorithm, then its .alg text.
std::string describe(const CatalogueEntry& entry);

}  // namespace heptad
