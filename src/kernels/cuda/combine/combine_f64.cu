#include "kernels/cuda/combine/combine.cuh"

namespace heptad::cuda {

DeviceStatus launch_linear_f64(const LinearLaunch& launch, StreamHandle stream) {
    return launch_typed<double>(launch, stream);
}
DeviceStatus launch_linear_i32(const LinearLaunch& launch, StreamHandle stream) {
    return launch_typed<std::int32_t>(launch, stream);
}

}  // namespace heptad::cuda
