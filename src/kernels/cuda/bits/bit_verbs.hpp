// What a product of bit matrices is made of on a device: sums of blocks, transposes, leaf products. An interface, so
// that the walk through the levels can be tested in host memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/bits/bit_leaf.hpp"
#include "kernels/cuda/bits/bit_passes.hpp"

namespace heptad::cuda {

class BitVerbs {
public:
    BitVerbs() = default;
    virtual ~BitVerbs() = default;
    BitVerbs(const BitVerbs&) = delete;
    BitVerbs& operator=(const BitVerbs&) = delete;

    virtual void expand(const BitExpandLaunch& launch) = 0;
    virtual void compress(const BitCompressLaunch& launch) = 0;
    virtual void transpose(const BitTransposeLaunch& launch) = 0;
    virtual void multiply(const BitLeafLaunch& launch) = 0;
};

/// Names of the leaves, best first; the same in every build.
std::vector<std::string> bit_leaf_names();
/// The best leaf that a chip of this compute capability can run; `warpgroups`: has_warpgroup_leaf() of the device.
std::string best_bit_leaf(int major, bool warpgroups = true);
/// Is there code of the leaf wgmma for this device in this program?
bool has_warpgroup_leaf(int device);

/// Verbs that are enqueued on a stream of a device, which is the current one of this thread whenever they are called.
/// Throws Error(usage) for a leaf that there is not, or not on that chip.
std::unique_ptr<BitVerbs> device_bit_verbs(int device, void* stream, const std::string& leaf);

/// Random words in memory of the current device, in the order of the stream.
void fill_random_bits(std::uint64_t* words, std::int64_t count, std::uint64_t seed, double density, void* stream);

}  // namespace heptad::cuda
