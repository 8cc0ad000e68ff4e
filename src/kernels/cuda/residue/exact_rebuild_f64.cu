#include "kernels/cuda/residue/exact_rebuild.cuh"

namespace heptad::cuda {

DeviceStatus launch_exact_rebuild_f64(const ExactRebuild& launch, StreamHandle stream) {
    return with_limbs<double>(launch, stream);
}

}  // namespace heptad::cuda
