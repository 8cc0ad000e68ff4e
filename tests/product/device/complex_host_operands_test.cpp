// Complex matrices in host memory, multiplied on a device: in parts beside the products, and cut up by the host where
// the device has little memory, on one device and on two that are one.
#include <gtest/gtest.h>

#include "kernels/cuda/device/device.hpp"
#include "product/device/cuda_device.hpp"
#include "product/device/device_product.hpp"
#include "product/device/host_operands.hpp"
#include "product/device/over_devices.hpp"
#include "product/memory/complex_cases.hpp"

namespace heptad::test {
namespace {

constexpr int kContiguous = 4;  // layouts

class ComplexHostOperands : public ::testing::Test {
protected:
    void SetUp() override {
        if (!cuda::report().available) {
            GTEST_SKIP() << cuda::report().problem;
        }
    }
};

Options on_device(Accuracy accuracy) {
    Options options;
    options.device = "cuda";
    options.accuracy = accuracy;
    return options;
}

TEST_F(ComplexHostOperands, every_schedule_equals_the_definition) {
    std::mt19937 random(6);
    const ProblemSize size{70, 50, 60};
    const TransferSchedule along_k = transfers_by_pieces(size, {20, 30}, {30, 40}, {25, 35});
    const TransferSchedule along_c = transfers_by_pieces(size, {50}, {30, 20, 20}, {20, 25, 15});
    for (int round = 0; round < 40; ++round) {
        ComplexCase x(random, round % 2 == 0 ? Type::c64 : Type::c128, size, kContiguous);
        const TransferSchedule& schedule = x.beta == 0.0 && round % 3 > 0 ? along_k : along_c;
        const Accuracy accuracy = round % 5 == 0 ? Accuracy::strict : Accuracy::balanced;
        multiply_host_operands(x.alpha, x.left, x.right, x.beta, x.c.view(), schedule, on_device(accuracy), 0, {});
        ASSERT_TRUE(x.is_right()) << "round " << round << " " << x.alpha << " " << x.beta;
    }
}

TEST_F(ComplexHostOperands, little_device_memory_leads_to_many_blocks) {
    std::mt19937 random(7);
    const ProblemSize size{300, 260, 280};
    for (int round = 0; round < 12; ++round) {
        ComplexCase x(random, round % 2 == 0 ? Type::c64 : Type::c128, size, kContiguous);
        Options options = on_device(round % 3 == 0 ? Accuracy::strict : Accuracy::balanced);
        options.host.device_memory_bytes = std::int64_t{48} << 20;
        multiply_on_device(x.alpha, x.left, x.right, x.beta, x.c.view(), options, {});
        ASSERT_TRUE(x.is_right()) << "round " << round;
    }
}

TEST_F(ComplexHostOperands, two_devices_share_the_blocks) {
    std::mt19937 random(8);
    const ProblemSize size{130, 95, 201};
    for (int round = 0; round < 8; ++round) {
        const Type type = round % 2 == 0 ? Type::c64 : Type::c128;
        ComplexCase x(random, type, size, kContiguous);
        Options options = on_device(Accuracy::balanced);
        options.host.device_memory_bytes = std::int64_t{64} << 20;
        options.accumulate = x.beta != 0.0;
        const ProductPlan plan = make_plan_over_devices(size, type, type, options, {}).plan;
        DeviceSet devices;
        devices.push_back(std::make_unique<CudaDevice>(0));
        devices.push_back(std::make_unique<CudaDevice>(0));
        if (x.alpha == 0.0) {
            continue;
        }
        run_host_plan(plan, devices, x.alpha, x.left, x.right, x.beta, x.c.view(), {});
        ASSERT_TRUE(x.is_right()) << "round " << round << " " << to_string(plan);
    }
}

}  // namespace
}  // namespace heptad::test
