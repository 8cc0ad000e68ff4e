// Where there is no nvcc: no device either, so nobody comes here.
#include "base/error.hpp"
#include "bench/suites/device_loop.hpp"

namespace heptad::cli {

cuda::DeviceStatus launch_i64_loop(const cuda::DeviceMatrix&, const cuda::DeviceMatrix&, const cuda::DeviceMatrix&,
                                   cuda::StreamHandle) {
    fail(ErrorCode::internal, "this build has no code for devices");
}

}  // namespace heptad::cli
