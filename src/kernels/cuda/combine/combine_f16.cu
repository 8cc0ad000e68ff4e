#include "kernels/cuda/combine/combine.cuh"

namespace heptad::cuda {

DeviceStatus launch_linear_f16(const LinearLaunch& launch, StreamHandle stream) {
    return launch_typed<__half>(launch, stream);
}

}  // namespace heptad::cuda
