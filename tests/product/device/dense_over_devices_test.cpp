// Dense products over 1 to 8 cores as devices: exact ones equal the definition bit for bit, whatever the cut, sizes and
// layouts; floats repeat their bits for any number of devices; whatever goes wrong ends with an error.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "product/data_families.hpp"
#include "product/device/device_list.hpp"
#include "product/device/faulty_device.hpp"
#include "product/device/over_devices.hpp"
#include "product/memory/product_cases.hpp"

namespace heptad::test {
namespace {

constexpr Type kTypes[] = {Type::f64, Type::f32, Type::tf32, Type::bf16,
                           Type::f16, Type::i32, Type::gf2,  Type::boolean};

/// Any layout, host levels where the type has them, segments along k where memory is short.
Case devices_case(Type type, Random& random) {
    Case x;
    x.type = type;
    x.m = pick(random, 1, 90);
    x.k = pick(random, 1, 90);
    x.n = pick(random, 1, 90);
    x.a = pick_of(random, all_layouts);
    x.b = pick_of(random, all_layouts);
    x.c = pick_of(random, all_layouts);
    x.transpose_a = pick(random, 0, 2) == 0;
    x.transpose_b = pick(random, 0, 2) == 0;
    constexpr double scalars[] = {0, 1, 1, -1, 2};
    constexpr double bits[] = {0, 1, 1};
    x.alpha = type == Type::boolean ? pick_of(random, bits) : pick_of(random, scalars);
    x.beta = type == Type::boolean ? pick_of(random, bits) : pick_of(random, scalars);
    x.options.device = fmt::format("cpu:{}", pick(random, 1, 8));
    x.options.host.pipelines = pick(random, 0, 2);
    const bool has_levels = type != Type::boolean && type != Type::bf16 && type != Type::f16;
    x.options.host.levels = has_levels ? pick(random, -1, 2) : pick(random, -1, 0);
    if (x.options.host.levels > 0) {
        constexpr const char* names[] = {"auto", "strassen", "winograd"};
        x.options.host.algorithm = pick_of(random, names);
        if (type == Type::gf2 && pick(random, 0, 1) == 0) {
            x.options.host.algorithm = "self-inverse";
        }
    } else if (pick(random, 0, 1) == 0) {
        x.options.host.device_memory_bytes = 1 << pick(random, 14, 18);
    }
    x.largest = type == Type::bf16 ? 1 : 2;
    return x;
}

std::string objection_over_devices(const Case& x, Random& random, int& refused) {
    GuardedMatrix a(x.type, x.transpose_a ? x.k : x.m, x.transpose_a ? x.m : x.k, x.a);
    GuardedMatrix b(x.type, x.transpose_b ? x.n : x.k, x.transpose_b ? x.k : x.n, x.b);
    GuardedMatrix c(x.type, x.m, x.n, x.c);
    fill(a, x.type, x.largest, random);
    fill(b, x.type, x.largest, random);
    if (x.beta != 0) {
        fill(c, x.type, x.largest, random);  // otherwise C holds NaN, which must not be read
    }
    const ConstView a_view = meant(a.view(), x.transpose_a), b_view = meant(b.view(), x.transpose_b);
    GuardedMatrix expected = c;
    const GuardedMatrix old_a = a, old_b = b;
    set_expected(x, wide(a_view), wide(b_view), expected);
    try {
        multiply_over_devices(x.alpha, a_view, b_view, x.beta, c.view(), x.options, {});
    } catch (const Error& error) {
        // Too little memory for any cut is a fair answer, if it is the answer.
        const bool fair = error.code() == ErrorCode::resource &&
                          x.options.host.device_memory_bytes < std::numeric_limits<std::int64_t>::max();
        refused += fair ? 1 : 0;
        return fair ? "" : error.what();
    }
    if (!a.equals_byte_for_byte(old_a) || !b.equals_byte_for_byte(old_b)) {
        return "an operand was written";
    }
    return c.equals(expected) ? "" : "it is not exact";
}

TEST(DenseOverDevices, every_type_equals_the_definition_bit_for_bit) {
    for (const Type type : kTypes) {
        Random random(77 + static_cast<unsigned>(type));
        int refused = 0;
        const int count = kShorter > 1 ? 6 : 150;
        for (int i = 0; i < count; ++i) {
            const Case x = devices_case(type, random);
            const std::string why = objection_over_devices(x, random, refused);
            ASSERT_EQ(why, "") << "case " << i << ": " << x.text() << " host levels " << x.options.host.levels << " "
                               << x.options.host.algorithm << " memory " << x.options.host.device_memory_bytes;
        }
        EXPECT_LT(refused * 4, count) << type_name(type);
    }
}

GuardedMatrix uniform(Type type, std::int64_t rows, std::int64_t cols, unsigned seed) {
    GuardedMatrix matrix(type, rows, cols, Layout::rows);
    Random random(seed);
    std::uniform_real_distribution<double> entries(-1, 1);
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < cols; ++j) {
            matrix.set(i, j, entries(random));
        }
    }
    return matrix;
}

TEST(DenseOverDevices, bits_of_floats_repeat_for_any_number_of_devices) {
    for (const Type type : {Type::f32, Type::f64}) {
        for (const int levels : {0, 1, 2}) {
            const GuardedMatrix a = uniform(type, 75, 110, 1), b = uniform(type, 110, 83, 2);
            const GuardedMatrix c0 = uniform(type, 75, 83, 3);
            Options options;
            options.host.levels = levels;
            options.host.pipelines = 2;
            options.host.device_memory_bytes = 200000;
            options.accumulate = true;
            options.device = "cpu:8";
            const ProductPlan plan = make_plan_over_devices({75, 110, 83}, type, type, options, {}).plan;
            std::vector<GuardedMatrix> results;
            for (int devices = 1; devices <= 8; ++devices) {
                for (int run = 0; run < (kShorter > 1 ? 1 : 3); ++run) {
                    FaultPlan delays;
                    delays.seed = static_cast<std::uint64_t>(100 * devices + run + 1);
                    DeviceSet set = open_devices(parse_device_list(fmt::format("cpu:{}", devices)));
                    for (auto& device : set) {
                        device = std::make_unique<FaultyDevice>(std::move(device), delays);
                    }
                    GuardedMatrix& c = results.emplace_back(c0);
                    run_host_plan(plan, set, 0.7, a.view(), b.view(), -1.3, c.view(), {});
                    ASSERT_TRUE(c.equals_byte_for_byte(results.front()))
                        << type_name(type) << " levels " << levels << " devices " << devices;
                }
            }
            // And they are the product, within the bound.
            double worst = 0;
            for (std::int64_t i = 0; i < 75; ++i) {
                for (std::int64_t j = 0; j < 83; ++j) {
                    double sum = 0;
                    for (std::int64_t l = 0; l < 110; ++l) {
                        sum += a.get(i, l) * b.get(l, j);
                    }
                    worst = std::max(worst, std::abs(results.front().get(i, j) - (0.7 * sum - 1.3 * c0.get(i, j))));
                }
            }
            EXPECT_LT(worst, plan.error_bound + 4 * unit_roundoff(type) + 1e-12);
            EXPECT_GT(plan.error_bound, 0);
        }
    }
}

TEST(DenseOverDevices, nan_infinity_and_overflow_give_what_the_classical_product_gives) {
    constexpr double kLarge = 0.6 * std::numeric_limits<float>::max();
    const double odd[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), kLarge};
    for (const double value : odd) {
        GuardedMatrix a = uniform(Type::f32, 40, 40, 5);
        const GuardedMatrix b = uniform(Type::f32, 40, 40, 6);
        a.set(11, 30, value);
        a.set(31, 10, value);
        GuardedMatrix c(Type::f32, 40, 40, Layout::rows), expected(Type::f32, 40, 40, Layout::rows);
        Options options;
        options.device = "cpu:3";
        options.host.levels = 1;
        EXPECT_TRUE(multiply_over_devices(1, a.view(), b.view(), 0, c.view(), options, {}).fell_back);
        Options classical;
        classical.levels = 0;
        multiply_in_memory(1, a.view(), b.view(), 0, expected.view(), classical, {});
        for (std::int64_t i = 0; i < 40; ++i) {
            for (std::int64_t j = 0; j < 40; ++j) {
                const double x = c.get(i, j), y = expected.get(i, j);
                EXPECT_TRUE((std::isnan(x) && std::isnan(y)) || x == y || std::abs(x - y) <= 1e-5 * std::abs(y) + 1e-4)
                    << value << " at " << i << " " << j << ": " << x << " and " << y;
            }
        }
    }
}

TEST(DenseOverDevices, levels_at_the_host_lose_at_most_a_digit_on_data_of_all_kinds) {
    for (const testing_data::Family& family : testing_data::all_families()) {
        testing_data::Random random(6);
        testing_data::Matrix<double> wide_a(250, 301), wide_b(301, 199);
        family.make(wide_a, wide_b, random);
        auto a = testing_data::rounded_to<float>(wide_a), b = testing_data::rounded_to<float>(wide_b);
        testing_data::Matrix<float> c(250, 199), classical(250, 199);
        Options options;
        options.accuracy = Accuracy::strict;
        multiply_in_memory(1, a.view(), b.view(), 0, classical.view(), options, {});
        options.accuracy = Accuracy::balanced;
        options.device = "cpu:2";
        options.host.levels = 1;
        const RunReport report = multiply_over_devices(1, a.view(), b.view(), 0, c.view(), options, {});
        EXPECT_LE(worst_error(a, b, c), 10 * std::max(worst_error(a, b, classical), 0x1p-24)) << family.name;
        if (family.way != testing_data::Way::any) {
            EXPECT_EQ(report.fell_back, family.way == testing_data::Way::classical) << family.name;
            EXPECT_EQ(report.scaled, family.way == testing_data::Way::scaled) << family.name;
        }
    }
}

TEST(DenseOverDevices, f32_results_of_16_bit_operands) {
    for (const Type type : {Type::bf16, Type::f16}) {
        Random random(8);
        GuardedMatrix a(type, 50, 60, Layout::rows), b(type, 60, 70, Layout::columns);
        GuardedMatrix c(Type::f32, 50, 70, Layout::rows_padded), expected = c;
        a.fill_random(random);
        b.fill_random(random);
        Options options;
        options.device = "cpu:2";
        options.host.device_memory_bytes = 40000;
        multiply_over_devices(1, a.view(), b.view(), 0, c.view(), options, {});
        Options one;
        multiply_in_memory(1, a.view(), b.view(), 0, expected.view(), one, {});
        EXPECT_TRUE(c.equals(expected));
    }
}

TEST(DenseOverDevices, one_device_lost_in_any_step_is_an_error_and_nothing_hangs) {
    const GuardedMatrix a = uniform(Type::f32, 96, 96, 1), b = uniform(Type::f32, 96, 96, 2);
    int lost = 0;
    for (const int devices : {1, 2, 5}) {
        for (const int levels : {0, 2}) {
            for (const Fault fault : all_faults) {
                for (const int before : {0, 3}) {
                    if (before > 0 && (fault == Fault::open_lane || fault == Fault::host_buffer)) {
                        continue;
                    }
                    Options options;
                    options.device = fmt::format("cpu:{}", devices);
                    options.host.levels = levels;
                    options.host.pipelines = 2;
                    options.host.device_memory_bytes = 40000;
                    const ProductPlan plan =
                        make_plan_over_devices({96, 96, 96}, Type::f32, Type::f32, options, {}).plan;
                    FaultPlan faults;
                    faults.fault = fault;
                    faults.calls_before = before;
                    DeviceSet set = open_devices(parse_device_list(options.device));
                    set.back() = std::make_unique<FaultyDevice>(std::move(set.back()), faults);
                    GuardedMatrix c(Type::f32, 96, 96, Layout::rows);
                    try {
                        run_host_plan(plan, set, 1, a.view(), b.view(), 0, c.view(), {});
                        // The others may have done all the work before the lost one was asked again.
                        EXPECT_LE(faults.calls, before) << static_cast<int>(fault);
                        EXPECT_TRUE(devices > 1 || before > 0) << "the only device was lost unnoticed";
                    } catch (const Error& error) {
                        EXPECT_STREQ(error.what(), "the device fell off the bus");
                        ++lost;
                    }
                }
            }
        }
    }
    EXPECT_GT(lost, 0);
}

TEST(DenseOverDevices, plans_parse_back_are_carried_out_and_refused_where_they_were_changed) {
    Random random(9);
    for (const Type type : {Type::f32, Type::f64, Type::i32, Type::gf2, Type::bf16}) {
        for (const int levels : {-1, 0, 1}) {
            for (const std::int64_t memory : {std::int64_t{1} << 15, std::int64_t{1} << 40}) {
                Options options;
                options.device = "cpu:2";
                options.host.levels = type == Type::bf16 ? 0 : levels;
                options.host.device_memory_bytes = memory;
                const ProductPlan made = make_plan_over_devices({60, 75, 50}, type, type, options, {}).plan;
                const ProductPlan plan = parse_plan(to_string(made));
                EXPECT_EQ(plan, made);
                GuardedMatrix a(type, 60, 75, Layout::rows), b(type, 75, 50, Layout::columns);
                GuardedMatrix c(type, 60, 50, Layout::rows), expected = c;
                a.fill_random(random, 2);
                b.fill_random(random, 2);
                multiply_in_memory(1, a.view(), b.view(), 0, expected.view(), Options{}, {});
                multiply_over_devices(1, a.view(), b.view(), 0, c.view(), plan, {});
                EXPECT_TRUE(c.equals(expected)) << to_string(plan);
                const auto refused = [&](const auto& change) {
                    ProductPlan changed = plan;
                    change(changed, *changed.host);
                    EXPECT_THROW(multiply_over_devices(1, a.view(), b.view(), 0, c.view(), changed, {}), Error)
                        << to_string(changed);
                };
                refused([](ProductPlan& whole, HostCut&) { whole.k += 1; });
                refused([](ProductPlan& whole, HostCut&) { whole.leaf = "none-such"; });
                refused([](ProductPlan& whole, HostCut&) { whole.core_m += 1; });
                refused([](ProductPlan& whole, HostCut&) { whole.backend = "cuda"; });
                refused([](ProductPlan& whole, HostCut&) { whole.workspace_bytes -= 1; });
                refused([](ProductPlan&, HostCut& cut) { cut.devices = "cpu:3"; });
                refused([](ProductPlan&, HostCut& cut) { cut.pipelines += 1; });
                refused([](ProductPlan&, HostCut& cut) { cut.block_m += 8; });
                if (type != Type::gf2) {  // what packing takes is compared when it is carried out
                    refused([](ProductPlan&, HostCut& cut) { cut.workspace_bytes += 64; });
                }
                if (is_float(type)) {
                    refused([](ProductPlan& whole, HostCut&) { whole.error_bound /= 2; });
                }
            }
        }
    }
}

TEST(DenseOverDevices, cancelled_before_and_during_the_product) {
    const GuardedMatrix a = uniform(Type::f32, 64, 64, 1), b = uniform(Type::f32, 64, 64, 2);
    for (const bool before : {true, false}) {
        Options options;
        options.device = "cpu:3";
        options.host.levels = 2;
        const ProductPlan plan = make_plan_over_devices({64, 64, 64}, Type::f32, Type::f32, options, {}).plan;
        CancelToken token;
        FaultPlan slow;
        slow.seed = 1;
        DeviceSet set = open_devices(parse_device_list(options.device));
        for (auto& device : set) {
            device = std::make_unique<FaultyDevice>(std::move(device), slow);
        }
        ProductContext context;
        context.hooks.cancel = &token;
        std::atomic<int> told{0};
        context.hooks.progress = [&](const Progress&) {
            told += 1;
            token.cancel();
        };
        if (before) {
            token.cancel();
        }
        GuardedMatrix c(Type::f32, 64, 64, Layout::rows);
        try {
            run_host_plan(plan, set, 1, a.view(), b.view(), 0, c.view(), context);
            EXPECT_FALSE(before);  // else it may have been over before the first look around
            EXPECT_LE(told, 2);    // the end is told too
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::cancelled);
        }
    }
}

TEST(DenseOverDevices, too_little_memory_is_refused_with_both_numbers_and_c_untouched) {
    GuardedMatrix a(Type::f32, 100, 100, Layout::rows), c(Type::f32, 100, 100, Layout::rows);
    a.fill(1);
    const GuardedMatrix old = c;
    Options options;
    options.device = "cpu:2";
    options.host.device_memory_bytes = 700;
    try {
        multiply_over_devices(1, a.view(), a.view(), 0, c.view(), options, {});
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::resource);
        EXPECT_NE(std::string(error.what()).find("700 are available"), std::string::npos) << error.what();
    }
    options.host.device_memory_bytes = 1 << 20;
    options.workspace_limit_bytes = 900;
    try {
        multiply_over_devices(1, a.view(), a.view(), 0, c.view(), options, {});
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::resource);
        EXPECT_NE(std::string(error.what()).find("host memory, and 900 are available"), std::string::npos)
            << error.what();
    }
    EXPECT_TRUE(c.equals_byte_for_byte(old));
}

TEST(DenseOverDevices, wrong_use_is_refused) {
    GuardedMatrix a(Type::f32, 10, 10, Layout::rows), c(Type::f32, 10, 10, Layout::rows);
    a.fill(1);
    const auto refused = [&](const Options& options, const ProductContext& context, ErrorCode code) {
        try {
            multiply_over_devices(1, a.view(), a.view(), 0, c.view(), options, context);
            ADD_FAILURE() << options.device;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code) << error.what();
        }
    };
    Options options;
    for (const char* name : {"cpu:0", "cpu:", "cpu:65", "cpu:x", "cuda:0,0", "cuda:0,", "cuda:0,x", "gpu:1,2"}) {
        options.device = name;
        refused(options, {}, ErrorCode::usage);
    }
    options.device = "cpu:2";
    for (const int levels : {-2, 7}) {
        options.host.levels = levels;
        refused(options, {}, ErrorCode::usage);
    }
    options.host.levels = 1;
    options.host.algorithm = "self-inverse";  // over GF(2) only
    refused(options, {}, ErrorCode::usage);
    options.host = {};
    options.host.pipelines = 17;
    refused(options, {}, ErrorCode::usage);
    options.host = {};
    ProductContext context;
    context.workspace = a.view().data;
    context.workspace_bytes = 8;
    refused(options, context, ErrorCode::usage);
}

}  // namespace
}  // namespace heptad::test
