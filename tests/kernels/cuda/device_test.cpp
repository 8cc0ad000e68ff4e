// What is asked of devices leaves the calling thread as it was: its current device, and no error for the next launch.
#include "kernels/cuda/device/device.hpp"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <thread>

#include "kernels/cuda/device/loaded_driver.hpp"
#include "product/device/device_matrix.hpp"

namespace heptad::test {
namespace {

TEST(CudaDevice, a_device_that_cannot_be_asked_has_no_free_memory_and_leaves_no_error_behind) {
    HEPTAD_NEEDS_DEVICE();
    EXPECT_GT(cuda::free_bytes(0), 0);
    EXPECT_EQ(cuda::free_bytes(1000), 0);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(CudaDevice, the_context_of_a_thread_tells_its_current_device) {
    HEPTAD_NEEDS_DEVICE();
    std::thread([] {
        EXPECT_EQ(cuda::device_of_context(), std::nullopt) << "this thread has asked for nothing yet";
        const int last = static_cast<int>(cuda::report().devices.size()) - 1;
        {
            const cuda::DeviceScope scope(last);
            EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
            EXPECT_EQ(cuda::device_of_context(), last);
            const cuda::DeviceScope same(last);
            EXPECT_EQ(cuda::current_device(), last);
        }
        EXPECT_EQ(cuda::current_device(), 0);
        EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    }).join();
}

TEST(CudaDevice, looking_at_all_devices_keeps_the_current_one) {
    HEPTAD_NEEDS_DEVICE();
    const auto devices = static_cast<int>(cuda::report().devices.size());
    if (devices < 2) {
        GTEST_SKIP() << "two devices are needed, and there is one";
    }
    for (int device = 0; device < devices; ++device) {
        ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
        for (const cuda::DeviceInfo& info : cuda::report().devices) {
            EXPECT_GT(info.free_bytes, 0) << info.index;
        }
        int current = -1;
        ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
        EXPECT_EQ(current, device);
    }
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

}  // namespace
}  // namespace heptad::test
