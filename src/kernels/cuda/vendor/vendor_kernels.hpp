// Which kernels of cuBLASLt were the fastest, by size. The library's own choice is made for a card that is not hot:
// where power is the limit, another of its candidates is faster by 2 to 6 %.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

namespace heptad::cuda {

/// How a kernel was measured: products one by one, or many in one call.
enum class KernelUse : std::uint8_t { alone, batched };
inline KernelUse kernel_use(const std::string& leaf) {
    return leaf.ends_with("-batched") ? KernelUse::batched : KernelUse::alone;
}

/// A kernel goes by the numbers that cuBLASLt configures it with, one after another with points between them; they mean
/// the same as long as the library's version does. The sizes are those of matrices stored by rows.
struct KernelSample {
    Type type = Type::f32;
    std::int64_t m = 0, k = 0, n = 0;
    std::string kernel;
    KernelUse use = KernelUse::batched;
};
using VendorKernels = std::vector<KernelSample>;

/// A product as the library sees it, by columns: one stored by rows is C' = B' A' to it, so m and n are exchanged.
struct LibrarySize {
    std::int64_t m = 0, n = 0, k = 0;
};

/// The kernels that were fastest for this type and use, those of the sizes nearest first. Sizes of which one is more
/// than twice the other tell nothing.
std::vector<std::string> kernels_by_distance(const VendorKernels& kernels, Type type, KernelUse use,
                                             const LibrarySize& size);

}  // namespace heptad::cuda
