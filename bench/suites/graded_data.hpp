// Data whose sizes span 40 octaves, for what it costs to take powers of two out of it: beside uniform data, in turns.
#pragma once

#include <cstdint>

#include "base/view.hpp"

namespace heptad::cli {

enum class BenchData : std::uint8_t {
    uniform,
    lines,  // rows of A and columns of B, from 1 down to 2^-40
    inner,  // columns of A from 1 down to 2^-40, rows of B the other way around
};

/// The word for it; empty for uniform data, which most results are of.
const char* variant_name(BenchData data);
bool may_be_graded(Type type);
/// Both of such a type, rows side by side.
void grade(BenchData data, const View& a, const View& b);

}  // namespace heptad::cli
