// The baseline of the integer benchmark: C = A * B mod 2^32 by the triple loop, blocked for the cache and left to the
// compiler to vectorise. No vendor library multiplies integers of this size.
#pragma once

#include <cstdint>

namespace heptad::cli {

/// Row-major, dense. Rows of C are dealt out in slices to `threads` threads.
void blocked_loop_i32(std::int64_t m, std::int64_t k, std::int64_t n, const std::int32_t* a, const std::int32_t* b,
                      std::int32_t* c, int threads);

}  // namespace heptad::cli
