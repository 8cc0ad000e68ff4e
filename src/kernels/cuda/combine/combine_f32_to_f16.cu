#include "kernels/cuda/combine/combine.cuh"

namespace heptad::cuda {

DeviceStatus launch_linear_f32_to_f16(const LinearLaunch& launch, StreamHandle stream) {
    return launch_typed<float, __half, true>(launch, stream);
}

}  // namespace heptad::cuda
