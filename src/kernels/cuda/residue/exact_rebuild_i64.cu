// Modulo 2^64 the lowest two limbs are all that counts.
#include "kernels/cuda/residue/exact_rebuild.cuh"

namespace heptad::cuda {

DeviceStatus launch_exact_rebuild_i64(const ExactRebuild& launch, StreamHandle stream) {
    constexpr int kLimbs = 2;
    return launch.moduli == 0 ? with_levels<std::int64_t, kLimbs, kModuliOfLimb>(launch, stream)
                              : with_levels<std::int64_t, kLimbs, 5 * kModuliOfLimb>(launch, stream);
}

}  // namespace heptad::cuda
