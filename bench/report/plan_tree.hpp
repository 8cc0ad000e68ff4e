// The plan of a product for people: a few words, and the tree of its levels when they are clicked on.
#pragma once

#include <string>

namespace heptad::cli {

/// A details element. Texts that are no plan are shown as they are.
std::string plan_html(const std::string& plan);

}  // namespace heptad::cli
