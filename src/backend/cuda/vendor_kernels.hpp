// Which kernels of cuBLASLt were the fastest, by size. The library's own choice is made for a card that is not hot:
// where power is the limit, another of its candidates is faster by 2 to 6 %.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

namespace heptad::cuda {

/// A kernel goes by the numbers that cuBLASLt configures it with, one after another with points between them; they mean
/// the same as long as the library's version does.
struct KernelSample {
    Type type = Type::f32;
    std::int64_t m = 0, k = 0, n = 0;
    std::string kernel;
};
using VendorKernels = std::vector<KernelSample>;

/// The kernels that were fastest for this type, those of the sizes nearest to m x k x n first. Sizes of which one is
/// more than twice the other tell nothing.
std::vector<std::string> kernels_by_distance(const VendorKernels& kernels, Type type, std::int64_t m, std::int64_t k,
                                             std::int64_t n);

}  // namespace heptad::cuda
