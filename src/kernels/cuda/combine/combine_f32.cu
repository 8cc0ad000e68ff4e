#include "kernels/cuda/combine/combine.cuh"

namespace heptad::cuda {

DeviceStatus launch_linear_f32(const LinearLaunch& launch, StreamHandle stream) {
    return launch_typed<float>(launch, stream);
}

}  // namespace heptad::cuda
