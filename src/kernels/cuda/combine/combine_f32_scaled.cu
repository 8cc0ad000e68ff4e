#include "kernels/cuda/combine/combine.cuh"

namespace heptad::cuda {

DeviceStatus launch_linear_f32_scaled(const LinearLaunch& launch, StreamHandle stream) {
    return launch_typed<float, float, true>(launch, stream);
}

}  // namespace heptad::cuda
