// What was asked: the first of the three plain structs that carry a product.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <heptad/heptad.hpp>

namespace heptad {

struct Problem {
    std::int64_t m = 0, k = 0, n = 0;
    Type type = Type::f32;
    bool beta_zero = true;
    Options options;
    int threads = 1;
};

/// One line: "1024x512x2048 f32 balanced".
std::string to_string(const Problem& problem);

}  // namespace heptad
