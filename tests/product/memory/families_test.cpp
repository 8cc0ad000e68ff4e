// What each word promises, in memory: every family of data (product/data_families.hpp), every float type, by the
// processor's kernels and by the reference loops.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/types.hpp"
#include "product/judged_product.hpp"
#include "product/memory/product.hpp"

namespace heptad::test {
namespace {

using testing_data::all_families;
using testing_data::Family;

struct Case {
    Type type;
    const char* device;
};

class families_in_memory : public ::testing::TestWithParam<Case> {};

TEST_P(families_in_memory, no_error_goes_beyond_the_bound_of_the_plan) {
    const auto& [type, device] = GetParam();
    const double octaves = type == Type::f16 ? 8 : 40;
    const bool is_short = type == Type::tf32 || element_bytes(type) == 2;
    double closest = 0;
    int scaled = 0, classical = 0;
    for (const ProblemSize& size : {ProblemSize{64, 64, 64}, ProblemSize{37, 210, 50}}) {
        for (const Family& family : all_families(octaves)) {
            Judged judged(type, size, family);
            if (!judged.fits()) {
                EXPECT_EQ(type, Type::f16) << family.name;
                continue;
            }
            for (const Accuracy accuracy : {Accuracy::strict, Accuracy::balanced, Accuracy::fast}) {
                for (const int levels : {1, 2}) {
                    Options options;
                    options.device = device;
                    options.accuracy = accuracy;
                    options.levels = accuracy == Accuracy::strict ? 0 : levels;
                    options.algorithm = options.levels > 0 ? "winograd" : "auto";
                    const ProductPlan plan = plan_product(size.m, size.k, size.n, type, options, {});
                    const bool has_levels = options.levels > 0 && !is_short;  // those have none on processors
                    ASSERT_EQ(plan.levels.size(), static_cast<std::size_t>(has_levels ? levels : 0));
                    const ErrorPromise promise = promised_error(plan, 1, accuracy == Accuracy::balanced);
                    ASSERT_EQ(promise.over, !has_levels                      ? BoundOver::entries
                                            : accuracy == Accuracy::balanced ? BoundOver::lines
                                                                             : BoundOver::matrices);
                    const Judged::Errors errors =
                        judged.multiply([&](const ConstView& a, const ConstView& b, const View& c) {
                            return multiply_in_memory(1, a, b, 0, c, plan, {});
                        });
                    EXPECT_LE(kept(promise, errors), promise.bound)
                        << family.name << " " << accuracy_name(accuracy) << " " << options.levels;
                    closest = std::max(closest, kept(promise, errors) / promise.bound);
                    scaled += errors.report.scaled ? 1 : 0;
                    classical += errors.report.fell_back ? 1 : 0;
                }
            }
        }
    }
    fmt::print("    {} by {}: within a factor of {:.2g} of the bound, {} scaled, {} classical\n", type_name(type),
               device, 1 / closest, scaled, classical);
    EXPECT_GT(closest, 1e-5);  // it says something
    EXPECT_EQ(scaled > 0, !is_short);
    EXPECT_EQ(classical > 0, !is_short);
}

INSTANTIATE_TEST_SUITE_P(all_floats, families_in_memory,
                         ::testing::Values(Case{Type::f64, "cpu"}, Case{Type::f32, "cpu"}, Case{Type::tf32, "cpu"},
                                           Case{Type::bf16, "cpu"}, Case{Type::f16, "cpu"},
                                           Case{Type::f32, "reference"}, Case{Type::bf16, "reference"},
                                           Case{Type::f16, "reference"}),
                         [](const auto& each) {
                             return std::string(type_name(each.param.type)) + "_" + each.param.device;
                         });

}  // namespace
}  // namespace heptad::test
