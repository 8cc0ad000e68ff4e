// Products of arrays that are told by their addresses, for everything that has such.
#pragma once

#include <cstdint>

#include "arrays.hpp"

namespace heptad::python {

/// alpha * A * B + beta * C
struct Scales {
    double alpha = 1, beta = 0;
};

/// What belongs to the caller of a product. A workspace of fewer than 0 bytes is none: then the library takes memory of
/// its own.
struct Caller {
    std::uintptr_t stream = 0;
    std::uintptr_t workspace = 0;
    std::int64_t workspace_bytes = -1;
    int threads = 0;  // 0: as the library likes
};

/// False, and nothing is done, where an array has to be copied first. On a device the product is enqueued on the
/// caller's stream of it, and nothing is waited for. With the GIL, which is released meanwhile.
bool multiply_addressed(const StridedArray& a, const StridedArray& b, const StridedArray& c, const Scales& scales,
                        const Options& options, const Caller& caller);

}  // namespace heptad::python
