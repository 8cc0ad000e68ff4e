#include "kernels/cuda/bits/bit_verbs.hpp"

namespace heptad::cuda {

std::vector<std::string> bit_leaf_names() {
    return {"wgmma", "mma", "words"};
}

std::string best_bit_leaf(int major, bool warpgroups) {
    // The warpgroup form of the binary product exists on Hopper alone.
    return major == 9 && warpgroups ? "wgmma" : "mma";
}

}  // namespace heptad::cuda
