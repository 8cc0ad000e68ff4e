#pragma once

#include <heptad/heptad.hpp>

#include "plan/search/file_plan.hpp"

namespace heptad {

/// For a product among others that bounds are told for by one that is multiplied without levels: with no less room it
/// might have some.
inline Options by_definition(Options options) {
    options.accuracy = Accuracy::strict;
    options.levels = 0;
    return options;
}

/// For a step of a product from file to file, with so much workspace.
inline Options options_of_step(Options options, const StageProduct& product, std::int64_t workspace_limit_bytes) {
    options.accumulate = product.accumulate;
    options.workspace_limit_bytes = workspace_limit_bytes;
    return product.by_definition ? by_definition(options) : options;
}

}  // namespace heptad
