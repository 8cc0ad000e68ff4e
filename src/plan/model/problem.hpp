// What was asked: the first of the three plain structs that carry a product.
#pragma once

#include <cstdint>
#include <string>

#include <heptad/heptad.hpp>

namespace heptad {

struct Problem {
    std::int64_t m = 0, k = 0, n = 0;
    Type type = Type::f32;
    int threads = 1;
    Options options;
};

const char* accuracy_name(Accuracy accuracy);
/// Floats are rounded once only where one place makes all of a product. Throws Error(usage) that names this place.
void refuse_exact(Accuracy accuracy, Type type, const char* place);
/// One line.
std::string to_string(const Problem& problem);

}  // namespace heptad
