#pragma once

#include <heptad/heptad.hpp>

namespace heptad {

/// For a product among others that bounds are told for by one that is multiplied without levels: with no less room it
/// might have some.
inline Options by_definition(Options options) {
    options.accuracy = Accuracy::strict;
    options.levels = 0;
    return options;
}

}  // namespace heptad
