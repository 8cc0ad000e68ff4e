// Outer levels of a product from file to file, as asked for; and a word where they would pay.
#pragma once

#include <string>

#include "product/file/file_product.hpp"
#include "product/request/request.hpp"

namespace heptad {

/// Outer levels through files that a product on the processor asks for. Throws Error(usage) where its accuracy is
/// strict and its type rounds.
OuterLevels outer_levels(const Request& request, Type type);
/// Throws Error(usage) where such levels are asked for and the product does not go from file to file, `why`.
void refuse_outer_levels(const Request& request, const std::string& why);
/// A sentence where one outer level through files is predicted to be clearly faster than the plan, and nobody said
/// whether it is wanted; else nothing.
std::string outer_level_hint(const Request& request, const FileProblem& problem, const FileLaunch& launch,
                             const StageProducts& stage);

}  // namespace heptad
