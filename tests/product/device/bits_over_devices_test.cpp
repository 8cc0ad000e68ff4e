// Packed bits over 1 to 8 cores as devices equal the definition bit for bit at every fringe, with levels at the host
// and with segments; nothing outside C's window is written; a lost device is an error.
#include <gtest/gtest.h>

#include <limits>

#include "kernels/bits/bit_test_matrices.hpp"
#include "product/device/device_list.hpp"
#include "product/device/faulty_device.hpp"
#include "product/device/over_devices.hpp"

namespace heptad::test {
namespace {

#ifdef HEPTAD_REDUCED_TESTS
constexpr int kCases = 25;
#else
constexpr int kCases = 400;
#endif

constexpr std::int64_t kSizes[] = {1, 2, 63, 64, 65, 127, 128, 129, 191, 255, 256, 257, 300, 511, 513, 700};

std::int64_t size(std::mt19937_64& random) {
    return kSizes[random() % std::size(kSizes)];
}

/// What C should be.
BitMatrix expected_of(Type algebra, const ConstBitView& a, const ConstBitView& b, const ConstBitView& c0,
                      bool accumulate) {
    BitMatrix expected = product_by_definition(algebra, a, b);
    if (accumulate) {
        for (std::int64_t i = 0; i < c0.rows; ++i) {
            for (std::int64_t j = 0; j < c0.cols; ++j) {
                const bool x = expected(i, j), y = c0(i, j);
                expected.set(i, j, algebra == Type::gf2 ? x != y : x || y);
            }
        }
    }
    return expected;
}

TEST(BitsOverDevices, every_fringe_equals_the_definition_bit_for_bit) {
    std::mt19937_64 random(5);
    int with_levels = 0, with_steps = 0, refused = 0;
    for (int i = 0; i < kCases; ++i) {
        const Type algebra = random() % 2 == 0 ? Type::gf2 : Type::boolean;
        const std::int64_t m = size(random), k = size(random), n = size(random);
        const double density = random() % 3 == 0 ? 0.02 : 0.5;
        const BitWindow a(m, k, random, density), b(k, n, random, density), c(m, n, random);
        const bool accumulate = random() % 2 == 0;
        bits::BitOptions options;
        options.device = "cpu:" + std::to_string(1 + random() % 8);
        options.host.pipelines = static_cast<int>(random() % 3);
        if (algebra == Type::gf2) {
            options.host.levels = static_cast<int>(random() % 4) - 1;
            constexpr const char* names[] = {"auto", "strassen", "winograd", "self-inverse", "chaining"};
            options.host.algorithm = names[random() % std::size(names)];
            options.algorithm = random() % 4 == 0 ? "classical" : "auto";
        }
        if (options.host.levels <= 0 && random() % 2 == 0) {
            options.host.device_memory_bytes = std::int64_t{1} << (14 + random() % 5);
        }
        const BitMatrix expected = expected_of(algebra, a.view(), b.view(), c.view(), accumulate);
        try {
            const HostDecision made = make_bit_plan_over_devices(algebra, {m, k, n}, accumulate, options, {});
            with_levels += made.plan.host->levels > 0 ? 1 : 0;
            with_steps += made.forecast.steps > 1 ? 1 : 0;
            multiply_bits_over_devices(algebra, a.view(), b.view(), c.view(), accumulate, options, {});
        } catch (const Error& error) {
            ASSERT_EQ(error.code(), ErrorCode::resource) << error.what();
            ASSERT_LT(options.host.device_memory_bytes, std::numeric_limits<std::int64_t>::max()) << error.what();
            ++refused;
            continue;
        }
        ASSERT_TRUE(ConstBitView(c.view()) == ConstBitView(expected))
            << "case " << i << ": " << type_name(algebra) << " " << m << " " << k << " " << n << " " << options.device
            << " levels " << options.host.levels << " " << options.host.algorithm << " accumulate " << accumulate;
        ASSERT_TRUE(c.outside_untouched()) << "case " << i;
        ASSERT_TRUE(a.outside_untouched() && b.outside_untouched());
    }
    EXPECT_GT(with_levels * 8, kCases);
    EXPECT_GT(with_steps * 40, kCases);
    EXPECT_LT(refused * 4, kCases);
}

TEST(BitsOverDevices, any_number_of_devices_with_delays_gives_the_same_bits) {
    const BitMatrix a = BitMatrix::random(260, 300, 1), b = BitMatrix::random(300, 280, 2);
    for (const Type algebra : {Type::gf2, Type::boolean}) {
        const BitMatrix expected = product_by_definition(algebra, a, b);
        for (int devices = 1; devices <= 8; ++devices) {
            for (const int levels : {0, 1, 2}) {
                if (algebra == Type::boolean && levels > 0) {
                    continue;
                }
                bits::BitOptions options;
                options.device = "cpu:" + std::to_string(devices);
                options.host.levels = levels;
                options.host.pipelines = 2;
                FaultPlan delays;
                delays.seed = static_cast<std::uint64_t>(devices * 10 + levels);
                DeviceSet set = open_devices(parse_device_list(options.device));
                for (auto& device : set) {
                    device = std::make_unique<FaultyDevice>(std::move(device), delays);
                }
                const ProductPlan plan = make_bit_plan_over_devices(algebra, {260, 300, 280}, false, options, {}).plan;
                BitMatrix c = BitMatrix::random(260, 280, 3);
                run_host_plan(plan, set, a, b, c.view(), false, {});
                EXPECT_TRUE(c == expected) << type_name(algebra) << " " << devices << " " << levels;
            }
        }
    }
}

TEST(BitsOverDevices, whole_blocks_are_read_and_written_in_place) {
    const BitMatrix a = BitMatrix::random(512, 1024, 1), b = BitMatrix::random(1024, 512, 2);
    for (const Type algebra : {Type::gf2, Type::boolean}) {
        const BitMatrix expected = product_by_definition(algebra, a, b);
        for (const int devices : {1, 2, 5}) {
            bits::BitOptions options;
            options.device = "cpu:" + std::to_string(devices);
            options.host.levels = 0;
            options.host.pipelines = 2;
            options.host.device_memory_bytes = 96 << 10;
            const HostDecision made = make_bit_plan_over_devices(algebra, {512, 1024, 512}, false, options, {});
            const ProductPlan& plan = made.plan;
            ASSERT_TRUE(plan.host->in_place) << to_string(plan);
            EXPECT_GT(made.forecast.tasks, 1);
            EXPECT_EQ(plan.workspace_bytes, 0);
            FaultPlan delays;
            delays.seed = static_cast<std::uint64_t>(devices);
            DeviceSet set = open_devices(parse_device_list(options.device));
            for (auto& device : set) {
                device = std::make_unique<FaultyDevice>(std::move(device), delays);
            }
            BitMatrix c = BitMatrix::random(512, 512, 3);
            run_host_plan(plan, set, a, b, c.view(), false, {});
            EXPECT_TRUE(c == expected) << to_string(plan);
            // Blocks that begin inside of words go by buffers after all.
            std::mt19937_64 random(4);
            const BitWindow shifted_a(512, 1024, random), shifted_b(1024, 512, random), shifted_c(512, 512, random);
            run_host_plan(plan, set, shifted_a.view(), shifted_b.view(), shifted_c.view(), false, {});
            EXPECT_TRUE(ConstBitView(shifted_c.view()) ==
                        product_by_definition(algebra, shifted_a.view(), shifted_b.view()).view());
            EXPECT_TRUE(shifted_c.outside_untouched());
        }
    }
    bits::BitOptions options;
    options.device = "cpu:2";
    EXPECT_FALSE(make_bit_plan_over_devices(Type::gf2, {512, 1024, 512}, true, options, {}).plan.host->in_place);
    options.host.levels = 1;
    EXPECT_FALSE(make_bit_plan_over_devices(Type::gf2, {512, 1024, 512}, false, options, {}).plan.host->in_place);
}

TEST(BitsOverDevices, blocks_that_are_there_are_not_brought_again) {
    const BitMatrix a = BitMatrix::random(192, 128, 1), b = BitMatrix::random(128, 256, 2);
    bits::BitOptions options;
    options.device = "cpu:1";
    options.host.levels = 0;
    ProductPlan plan = make_bit_plan_over_devices(Type::gf2, {192, 128, 256}, false, options, {}).plan;
    plan.host->in_place = true;
    plan.host->block_m = plan.host->block_n = 64;
    for (const int pipelines : {1, 2}) {
        plan.host->pipelines = pipelines;
        FaultPlan uploads;
        uploads.fault = Fault::upload;
        uploads.calls_before = std::numeric_limits<int>::max();
        DeviceSet set = open_devices(parse_device_list(options.device));
        set[0] = std::make_unique<FaultyDevice>(std::move(set[0]), uploads);
        BitMatrix c(192, 256);
        run_host_plan(plan, set, a, b, c.view(), false, {});
        EXPECT_TRUE(c == product_by_definition(Type::gf2, a, b));
        if (pipelines == 1) {
            // Every block of A once; of B one for each segment, but for the first of all rows except the first.
            EXPECT_EQ(uploads.calls, 3 + 12 - 2);
        } else {  // how many depends on who is faster; each brought for itself it would be 24
            EXPECT_LE(uploads.calls, 3 + 12 + 2);
        }
    }
}

TEST(BitsOverDevices, plans_parse_back_are_checked_and_carried_out) {
    const BitMatrix a = BitMatrix::random(512, 640, 1), b = BitMatrix::random(640, 512, 2);
    int with_levels = 0;
    for (const Type algebra : {Type::gf2, Type::boolean}) {
        for (const char* device : {"cpu:1", "cpu:3", "cuda", "cuda:0,1"}) {
            for (const std::int64_t memory : {std::int64_t{1} << 17, std::int64_t{1} << 19, std::int64_t{1} << 33}) {
                for (const std::int64_t times : {1, 37}) {
                    bits::BitOptions options;
                    options.device = device;
                    options.host.device_memory_bytes = memory;
                    const ProblemSize size{512 * times, 640 * times, 512 * times};
                    const ProductPlan plan = make_bit_plan_over_devices(algebra, size, false, options, {}).plan;
                    EXPECT_EQ(parse_plan(to_string(plan)), plan);
                    EXPECT_TRUE(is_packed(plan));
                    EXPECT_NO_THROW(check_plan_over_devices(plan)) << to_string(plan);
                    with_levels += plan.levels.empty() ? 0 : 1;
                    ProductPlan changed = plan;
                    changed.host->workspace_bytes += 8;
                    EXPECT_THROW(check_plan_over_devices(changed), Error) << to_string(changed);
                    changed = plan;
                    changed.leaf = "none-such";
                    EXPECT_THROW(check_plan_over_devices(changed), Error) << to_string(changed);
                    if (times == 1 && plan.backend == "cpu") {
                        BitMatrix c(512, 512);
                        multiply_bits_over_devices(plan, a, b, c.view(), false, {});
                        EXPECT_TRUE(c == product_by_definition(algebra, a, b)) << to_string(plan);
                        EXPECT_THROW(multiply_bits_over_devices(plan, a, b, c.view(), true, {}), Error);
                    }
                }
            }
        }
    }
    EXPECT_GT(with_levels, 0);
}

TEST(BitsOverDevices, buffers_and_copies_of_matrices_that_begin_inside_a_word_are_told) {
    bits::BitOptions options;
    options.device = "cpu:2";
    options.host.levels = 0;
    options.host.pipelines = 2;
    options.host.device_memory_bytes = 96 << 10;
    const ProblemSize size{512, 1024, 512};
    const ProductPlan operands = make_bit_plan_over_devices(Type::gf2, size, false, options, {}, {true, false}).plan;
    const HostCut& cut = *operands.host;
    EXPECT_FALSE(cut.in_place);
    EXPECT_GE(operands.workspace_bytes,
              2 * 2 * (cut.block_m * cut.block_k + cut.block_k * cut.block_n + cut.block_m * cut.block_n) / 8);
    const ProductPlan result = make_bit_plan_over_devices(Type::gf2, size, false, options, {}, {false, true}).plan;
    EXPECT_TRUE(result.host->in_place);  // by the copy of C
    EXPECT_EQ(result.workspace_bytes, 512 * 512 / 8);
    options.host.host_memory_bytes = 512 * 512 / 8 - 1;
    EXPECT_THROW(make_bit_plan_over_devices(Type::gf2, size, false, options, {}, {false, true}), Error);
}

TEST(BitsOverDevices, memory_of_devices_is_what_is_free_there_and_an_h200s_where_there_is_none) {
    constexpr std::int64_t kGiB = std::int64_t{1} << 30;
    DeviceReport found;
    EXPECT_EQ(usable_bytes_of_each(parse_device_list("cuda"), found), 138 * kGiB);
    found.available = true;
    found.devices.resize(2);
    found.devices[0].free_bytes = 180 * kGiB;
    found.devices[1].free_bytes = 170 * kGiB;
    EXPECT_EQ(usable_bytes_of_each(parse_device_list("cuda"), found), 179 * kGiB);
    EXPECT_EQ(usable_bytes_of_each(parse_device_list("cuda:0,1"), found), 169 * kGiB);
    found.devices[1].free_bytes = kGiB / 2;
    EXPECT_EQ(usable_bytes_of_each(parse_device_list("cuda:0,1"), found), 0);
}

TEST(BitsOverDevices, sides_that_no_device_takes_are_cut) {
    bits::BitOptions options;
    options.device = "cuda";
    options.host.device_memory_bytes = std::int64_t{64} << 30;
    const HostDecision made =
        make_bit_plan_over_devices(Type::gf2, {64, 64, std::int64_t{3} << 30}, false, options, {});
    EXPECT_GT(made.forecast.grid.n, 1);
    EXPECT_LT(made.plan.host->block_n, std::int64_t{1} << 31);
}

TEST(BitsOverDevices, lost_device_is_an_error_and_nothing_hangs) {
    const BitMatrix a = BitMatrix::random(256, 256, 1);
    for (const Fault fault : all_faults) {
        bits::BitOptions options;
        options.device = "cpu:3";
        options.host.levels = 2;
        const ProductPlan plan = make_bit_plan_over_devices(Type::gf2, {256, 256, 256}, false, options, {}).plan;
        FaultPlan faults;
        faults.fault = fault;
        DeviceSet set = open_devices(parse_device_list(options.device));
        set[1] = std::make_unique<FaultyDevice>(std::move(set[1]), faults);
        BitMatrix c(256, 256);
        try {
            run_host_plan(plan, set, a, a, c.view(), false, {});
            EXPECT_EQ(faults.calls, 0) << static_cast<int>(fault);
        } catch (const Error& error) {
            EXPECT_STREQ(error.what(), "the device fell off the bus");
        }
    }
}

TEST(BitsOverDevices, wrong_use_is_refused) {
    const BitMatrix a = BitMatrix::random(64, 64, 1);
    BitMatrix c(64, 64), narrow(64, 63);
    const auto refused = [&](Type algebra, const BitView& to, const bits::BitOptions& options, ErrorCode code) {
        try {
            multiply_bits_over_devices(algebra, a, a, to, false, options, {});
            ADD_FAILURE() << options.device;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code) << error.what();
        }
    };
    bits::BitOptions options;
    options.device = "cpu:2";
    refused(Type::gf2, narrow.view(), options, ErrorCode::input);
    refused(Type::f32, c.view(), options, ErrorCode::usage);
    options.host.levels = 1;
    refused(Type::boolean, c.view(), options, ErrorCode::usage);  // a semiring: no levels
    options.host = {};
    options.host.device_memory_bytes = 100;
    refused(Type::gf2, c.view(), options, ErrorCode::resource);
    options.host = {};
    options.leaf = "no-such-leaf";
    refused(Type::gf2, c.view(), options, ErrorCode::usage);
}

}  // namespace
}  // namespace heptad::test
