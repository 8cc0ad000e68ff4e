#include "kernels/cuda/combine/combine.cuh"

namespace heptad::cuda {

DeviceStatus launch_linear_f16_to_bf16(const LinearLaunch& launch, StreamHandle stream) {
    return launch_typed<__half, __nv_bfloat16>(launch, stream);
}

}  // namespace heptad::cuda
