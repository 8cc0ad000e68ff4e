// C = A * B of packed bits as one writes it without a library: for every one of A, a row of B.
#pragma once

#include <heptad/bits.hpp>

namespace heptad::cli {

/// Over GF(2) or for booleans. C has its shape already.
void multiply_bits_by_loop(Type algebra, const BitMatrix& a, const BitMatrix& b, BitMatrix& c, int threads);

}  // namespace heptad::cli
