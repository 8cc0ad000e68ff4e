#include "kernels/cuda/combine/combine.cuh"

namespace heptad::cuda {

DeviceStatus launch_linear_bf16_to_f16(const LinearLaunch& launch, StreamHandle stream) {
    return launch_typed<__nv_bfloat16, __half>(launch, stream);
}
DeviceStatus launch_linear_f16_to_bf16(const LinearLaunch& launch, StreamHandle stream) {
    return launch_typed<__half, __nv_bfloat16>(launch, stream);
}
DeviceStatus launch_linear_f32_scaled(const LinearLaunch& launch, StreamHandle stream) {
    return launch_typed<float, float, true>(launch, stream);
}
DeviceStatus launch_linear_f32_to_f16(const LinearLaunch& launch, StreamHandle stream) {
    return launch_typed<float, __half, true>(launch, stream);
}

}  // namespace heptad::cuda
