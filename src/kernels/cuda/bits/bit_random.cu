// Random bits on the device: a word depends on the seed and its number alone. A bit is one with probability 2^-24 * d:
// from the lowest binary digit of d up, a random word is ORed (digit 1) or ANDed (digit 0) to what there is, which
// halves the distance of the density to that digit.
#include <algorithm>

#include "base/splitmix.hpp"
#include "kernels/cuda/bits/bit_passes.hpp"

namespace heptad::cuda {
namespace {

constexpr int kFillThreads = 256, kMostBlocks = 4096, kDigits = 24;

__global__ void __launch_bounds__(kFillThreads)
    fill_random(std::uint64_t* words, std::int64_t count, std::uint64_t seed, std::uint32_t density) {
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kFillThreads + threadIdx.x; i < count;
         i += static_cast<std::int64_t>(gridDim.x) * kFillThreads) {
        std::uint64_t word = 0;
        for (int digit = __ffs(static_cast<int>(density)) - 1; digit < kDigits;
             ++digit) {  // those below change nothing
            const std::uint64_t random = splitmix_word(seed, i * kDigits + digit);
            word = (density >> digit & 1) != 0 ? word | random : word & random;
        }
        words[i] = word;
    }
}

}  // namespace

DeviceStatus launch_bit_random(std::uint64_t* words, std::int64_t count, std::uint64_t seed, double density,
                               StreamHandle stream) {
    const auto steps = static_cast<std::uint32_t>(std::clamp(density * (1 << kDigits), 1.0, (1 << kDigits) - 1.0));
    if (count > 0) {
        const auto blocks =
            static_cast<unsigned>(std::min<std::int64_t>((count + kFillThreads - 1) / kFillThreads, kMostBlocks));
        fill_random<<<blocks, kFillThreads, 0, static_cast<cudaStream_t>(stream)>>>(words, count, seed, steps);
    }
    return cudaGetLastError();
}

}  // namespace heptad::cuda
