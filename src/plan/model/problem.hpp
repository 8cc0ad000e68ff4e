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
/// Is every entry rounded once, so that all of k must be in one product?
bool takes_whole_k(Accuracy accuracy, Type type);
/// Throws Error(usage) that names the place that cannot do so.
void refuse_exact(Accuracy accuracy, Type type, const char* place);
/// One line.
std::string to_string(const Problem& problem);

}  // namespace heptad
