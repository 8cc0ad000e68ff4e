// Complex products over cores as devices: every form, layout and factor equals the definition bit for bit, whatever the
// cut; plans print, parse and are carried out; levels at the host are refused.
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "product/device/over_devices.hpp"
#include "product/memory/complex_cases.hpp"

namespace heptad::test {
namespace {

constexpr int kContiguous = 4;  // layouts

Options over_cores(int cores, std::int64_t device_memory_bytes) {
    Options options;
    options.device = "cpu:" + std::to_string(cores);
    options.host.device_memory_bytes = device_memory_bytes;
    return options;
}

TEST(complex_over_devices, every_form_layout_and_factor_equals_the_definition_bit_for_bit) {
    std::mt19937 random(4);
    const auto pick = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
    int cut_along_k = 0, many = 0;
    for (int round = 0; round < 300; ++round) {
        const Type type = pick(1) == 0 ? Type::c64 : Type::c128;
        const ProblemSize size{pick(60), pick(3) == 0 ? pick(200) : pick(9), pick(60)};
        ComplexCase x(random, type, size, kContiguous);
        Options options = over_cores(1 + pick(4), std::int64_t{1} << (15 + pick(6)));
        options.host.pipelines = pick(2);
        options.accumulate = x.beta != 0.0;
        options.accuracy = pick(2) == 0 ? Accuracy::strict : Accuracy::balanced;
        if (pick(1) == 0 || x.alpha == 0.0 || size.m * size.k * size.n == 0) {
            multiply_over_devices(x.alpha, x.left, x.right, x.beta, x.c.view(), options, {});
        } else {
            const ProductPlan plan = make_plan_over_devices(size, type, type, options, {}).plan;
            EXPECT_EQ(parse_plan(to_string(plan)), plan);
            cut_along_k += plan.host->block_k < size.k ? 1 : 0;
            many += plan.host->block_m < size.m && plan.host->block_n < size.n ? 1 : 0;
            multiply_over_devices(x.alpha, x.left, x.right, x.beta, x.c.view(), plan, {});
        }
        ASSERT_TRUE(x.is_right()) << "round " << round << " " << type_name(type) << " " << size.m << "x" << size.k
                                  << "x" << size.n << " " << options.device << " " << x.alpha << " " << x.beta;
    }
    EXPECT_GT(cut_along_k, 0);
    EXPECT_GT(many, 0);
}

std::string refusal(const ComplexCase& x, const Options& options) {
    try {
        multiply_over_devices(1, x.left, x.right, 0, x.c.view(), options, {});
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(complex_over_devices, levels_at_the_host_and_strides_both_ways_are_refused_with_a_sentence) {
    std::mt19937 random(5);
    const ComplexCase x(random, Type::c64, {30, 20, 25}, kContiguous);
    Options levels = over_cores(2, 1 << 20);
    levels.host.levels = 1;
    EXPECT_NE(refusal(x, levels).find("real numbers"), std::string::npos) << refusal(x, levels);
    const GuardedMatrix general(Type::c64, 30, 20, Layout::general);
    ComplexCase strided = x;
    strided.left = general.view();
    const std::string said = refusal(strided, over_cores(2, 1 << 20));
    EXPECT_NE(said.find("no contiguous side"), std::string::npos) << said;
}

}  // namespace
}  // namespace heptad::test
