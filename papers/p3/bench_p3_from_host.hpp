// heptad bench p3 --from-host: the same product from and to host memory.
#pragma once

#include <string>
#include <vector>

#include <heptad/bits.hpp>

#include "bench/suites/bench_product.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/bit_device_plan.hpp"

namespace heptad::cli {

struct FromHostCase {
    ProductPlan plan;
    BenchRecord on_device;
    std::string note;  // after the name of the variant
};

/// Random square matrices, kept for the next type.
struct HostSquares {
    BitMatrix a, b, c;
    double density = 0;

    /// Makes them, unless they are there with that side and that share of ones.
    void make(std::int64_t n, double ones);
};

/// Times each plan with operands in ordinary host memory and, unless that takes long, in memory whose pages were locked
/// before, checks all results, prints a line each beside the time on the device, and returns their records. Prints why,
/// and returns nothing, where the host has too little memory.
std::vector<BenchRecord> bench_from_host(Type type, std::int64_t n, double density,
                                         const std::vector<FromHostCase>& cases, HostSquares& squares,
                                         const cuda::Stream& stream);

}  // namespace heptad::cli
