#include "kernels/cuda/combine/combine.cuh"

namespace heptad::cuda {

DeviceStatus launch_linear_f32(const LinearLaunch& launch, StreamHandle stream) {
    return launch_typed<float>(launch, stream);
}
DeviceStatus launch_linear_f32_to_tf32(const LinearLaunch& launch, StreamHandle stream) {
    return launch_typed<float, Tf32>(launch, stream);
}

}  // namespace heptad::cuda
