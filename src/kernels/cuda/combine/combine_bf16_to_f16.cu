#include "kernels/cuda/combine/combine.cuh"

namespace heptad::cuda {

DeviceStatus launch_linear_bf16_to_f16(const LinearLaunch& launch, StreamHandle stream) {
    return launch_typed<__nv_bfloat16, __half>(launch, stream);
}

}  // namespace heptad::cuda
