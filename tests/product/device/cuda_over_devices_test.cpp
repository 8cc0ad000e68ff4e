// Dense products in host memory over NVIDIA devices equal those of the processor: by segments and by levels of the
// host, on one device, and on two that are one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kernels/cuda/device/device.hpp"
#include "product/device/cuda_device.hpp"
#include "product/device/faulty_device.hpp"
#include "product/device/over_devices.hpp"
#include "product/memory/product_cases.hpp"

namespace heptad::test {
namespace {

constexpr Type kTypes[] = {Type::f64, Type::f32, Type::tf32, Type::bf16, Type::f16, Type::i32, Type::i64};

class CudaOverDevices : public ::testing::Test {
protected:
    void SetUp() override {
        if (!cuda::report().available) {
            GTEST_SKIP() << cuda::report().problem;
        }
    }
};

DeviceSet same_device(int count) {
    DeviceSet set;
    for (int i = 0; i < count; ++i) {
        set.push_back(std::make_unique<CudaDevice>(0));
    }
    return set;
}

TEST_F(CudaOverDevices, every_type_equals_the_definition) {
    for (const Type type : kTypes) {
        const bool has_levels = type != Type::bf16 && type != Type::f16;
        for (const int levels : {0, 1, 2}) {
            if (levels > 0 && !has_levels) {
                continue;
            }
            for (const Layout layout : {Layout::rows, Layout::columns_padded, Layout::general}) {
                Random random(9);
                Case x;
                x.type = type;
                x.m = 130;
                x.k = 95;
                x.n = 201;
                x.alpha = 2;
                x.beta = -1;
                x.options.device = "cuda";
                x.options.host.levels = levels;
                x.options.host.device_memory_bytes = std::int64_t{64} << 20;
                GuardedMatrix a(type, x.m, x.k, layout), b(type, x.k, x.n, layout), c(type, x.m, x.n, layout);
                a.fill_random(random, 1);
                b.fill_random(random, 1);
                c.fill_random(random, 1);
                GuardedMatrix expected = c;
                set_expected(x, wide(a.view()), wide(b.view()), expected);
                for (const int devices : {1, 2}) {
                    GuardedMatrix result = c;
                    const ProductPlan plan =
                        make_plan_over_devices({x.m, x.k, x.n}, type, type, x.options, ProductContext{}).plan;
                    run_host_plan(plan, same_device(devices), x.alpha, a.view(), b.view(), x.beta, result.view(), {});
                    EXPECT_TRUE(result.equals(expected)) << x.text() << " host levels " << levels;
                }
            }
        }
    }
}

TEST_F(CudaOverDevices, exact_products_have_the_bits_of_the_processor) {
    for (const Type type : {Type::f32, Type::f64}) {
        Random random(5);
        std::normal_distribution<double> normal;
        const auto normal_matrix = [&](std::int64_t rows, std::int64_t cols, Layout layout) {
            GuardedMatrix matrix(type, rows, cols, layout);
            for (std::int64_t i = 0; i < rows; ++i) {
                for (std::int64_t j = 0; j < cols; ++j) {
                    matrix.set(i, j, normal(random));
                }
            }
            return matrix;
        };
        for (const Layout layout : {Layout::rows, Layout::columns_padded}) {
            const GuardedMatrix a = normal_matrix(530, 395, layout), b = normal_matrix(395, 601, layout);
            const GuardedMatrix c0 = normal_matrix(530, 601, layout);
            for (const double beta : {0.0, -1.3}) {
                Options options;
                options.accuracy = Accuracy::exact;
                GuardedMatrix expected = c0;
                multiply_in_memory(0.7, a.view(), b.view(), beta, expected.view(), options, {});
                options.device = "cuda";
                options.accumulate = beta != 0;
                options.host.device_memory_bytes = std::int64_t{24} << 20;
                const ProductPlan plan = make_plan_over_devices({530, 395, 601}, type, type, options, {}).plan;
                for (const int devices : {1, 2}) {
                    GuardedMatrix c = c0;
                    run_host_plan(plan, same_device(devices), 0.7, a.view(), b.view(), beta, c.view(), {});
                    EXPECT_TRUE(c.equals_byte_for_byte(expected)) << to_string(plan) << " over " << devices;
                }
            }
        }
    }
}

TEST_F(CudaOverDevices, little_device_memory_leads_to_many_blocks_of_a_large_product) {
    for (const Type type : {Type::f32, Type::i32, Type::i64}) {
        Random random(3);
        GuardedMatrix a(type, 1500, 1400, Layout::rows), b(type, 1400, 1600, Layout::rows);
        GuardedMatrix c(type, 1500, 1600, Layout::rows), expected = c;
        a.fill_random(random, 2);
        b.fill_random(random, 2);
        multiply_in_memory(1, a.view(), b.view(), 0, expected.view(), Options{}, {});
        for (const int levels : {-1, 0, 1, 2}) {
            Options options;
            options.device = "cuda:0";
            options.host.levels = levels;
            options.host.device_memory_bytes = std::int64_t{48} << 20;
            const auto [plan, told] = make_plan_over_devices({1500, 1400, 1600}, type, type, options, {});
            EXPECT_LE(told.device_bytes, std::int64_t{48} << 20);
            GuardedMatrix result = c;
            multiply_over_devices(1, a.view(), b.view(), 0, result.view(), options, {});
            EXPECT_TRUE(result.equals(expected)) << type_name(type) << " " << levels << ": " << to_string(plan);
        }
    }
}

/// One huge entry: residues of its block take more moduli, or leave it to the classical product.
TEST_F(CudaOverDevices, blocks_by_residues_lose_at_most_a_digit_beside_a_huge_entry) {
    constexpr std::int64_t n = 600;
    Options options;
    options.device = "cuda";
    options.leaf = "heptad-int8";
    options.host.levels = 0;
    options.host.device_memory_bytes = std::int64_t{40} << 20;
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (const double huge : {1.0, 1e8}) {
        GuardedMatrix a(Type::f32, n, n, Layout::rows), b = a, c = a;
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                a.set(i, j, i + j == 0 ? huge : uniform(random));
                b.set(i, j, uniform(random));
            }
        }
        const ProductPlan plan = make_plan_over_devices({n, n, n}, Type::f32, Type::f32, options, {}).plan;
        ASSERT_TRUE(is_by_residues(plan)) << to_string(plan);
        ASSERT_LT(plan.host->block_m * plan.host->block_k * plan.host->block_n, n * n * n) << to_string(plan);
        multiply_over_devices(1, a.view(), b.view(), 0, c.view(), options, {});
        double largest = 0, classical = 0x1p-24;
        for (std::int64_t i = 0; i < n; i += 23) {
            for (std::int64_t j = 0; j < n; ++j) {
                double sum = 0, absolute = 0;
                float plain = 0;
                for (std::int64_t p = 0; p < n; ++p) {
                    sum += a.get(i, p) * b.get(p, j);
                    absolute += std::abs(a.get(i, p) * b.get(p, j));
                    plain += static_cast<float>(a.get(i, p)) * static_cast<float>(b.get(p, j));
                }
                largest = std::max(largest, std::abs(c.get(i, j) - sum) / absolute);
                classical = std::max(classical, std::abs(plain - sum) / absolute);
            }
        }
        EXPECT_GT(largest, 0);
        EXPECT_LE(largest, 10 * classical) << huge;
    }
}

TEST_F(CudaOverDevices, large_blocks_go_through_locked_buffers) {
    Random random(6);
    const std::int64_t n = 2600;  // blocks of 6.5 MiB
    GuardedMatrix a(Type::i32, n, n, Layout::rows), c(Type::i32, n, n, Layout::rows), expected = c;
    a.fill_random(random, 3);
    multiply_in_memory(1, a.view(), a.view(), 0, expected.view(), Options{}, {});
    Options options;
    options.device = "cuda";
    for (const int levels : {0, 1}) {
        options.host.levels = levels;
        options.host.pipelines = 2;
        for (int repeat = 0; repeat < 2; ++repeat) {
            GuardedMatrix result = c;
            multiply_over_devices(1, a.view(), a.view(), 0, result.view(), options, {});
            EXPECT_TRUE(result.equals(expected)) << levels;
        }
    }
}

TEST_F(CudaOverDevices, device_lost_or_full_is_an_error_and_the_next_product_is_right) {
    Random random(4);
    GuardedMatrix a(Type::f32, 300, 300, Layout::rows), c(Type::f32, 300, 300, Layout::rows), expected = c;
    a.fill_random(random, 2);
    multiply_in_memory(1, a.view(), a.view(), 0, expected.view(), Options{}, {});
    Options options;
    options.device = "cuda";
    options.host.levels = 1;
    const ProductPlan plan = make_plan_over_devices({300, 300, 300}, Type::f32, Type::f32, options, {}).plan;
    for (const Fault fault : all_faults) {
        FaultPlan faults;
        faults.fault = fault;
        DeviceSet set = same_device(2);
        set[1] = std::make_unique<FaultyDevice>(std::move(set[1]), faults);
        GuardedMatrix result = c;
        try {
            run_host_plan(plan, set, 1, a.view(), a.view(), 0, result.view(), {});
            EXPECT_EQ(faults.calls, 0);
        } catch (const Error& error) {
            EXPECT_STREQ(error.what(), "the device fell off the bus");
        }
    }
    ProductPlan huge = plan;
    huge.host->block_m = huge.host->block_k = huge.host->block_n = std::int64_t{1} << 19;  // a block of 1 TiB
    EXPECT_THROW(run_host_plan(huge, same_device(1), 1, a.view(), a.view(), 0, c.view(), {}), Error);
    GuardedMatrix result = c;
    run_host_plan(plan, same_device(1), 1, a.view(), a.view(), 0, result.view(), {});
    EXPECT_TRUE(result.equals(expected));
}

}  // namespace
}  // namespace heptad::test
