// What each word promises, on a device: every family of data (product/data_families.hpp), every float type, with the
// plans that the words take by themselves and with levels that are asked for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "algorithm/catalogue.hpp"
#include "base/device_layout.hpp"
#include "base/types.hpp"
#include "product/device/device_matrix.hpp"
#include "product/device/device_product.hpp"
#include "product/judged_product.hpp"
#include "run/dense/lined_product.hpp"

namespace heptad::test {
namespace {

using testing_data::data_families;
using testing_data::Family;

struct Way {
    const char* algorithm;
    int levels;  // -1: as the word takes them
    const char* mode;
};
constexpr Way kWays[] = {{"auto", -1, "auto"}, {"winograd", 1, "parallel"}, {"winograd", 1, "serial"}};

Options options_of(const Way& way, Accuracy accuracy) {
    Options options;
    options.device = "cuda";
    options.accuracy = accuracy;
    options.algorithm = way.algorithm;
    options.mode = way.mode;
    if (way.levels >= 0) {
        options.levels = way.levels;
    }
    return options;
}

auto on_device(const Options& options) {
    return [options](const ConstView& a, const ConstView& b, const View& c) {
        return multiply_on_device(1, a, b, 0, c, options, {});
    };
}

ProductPlan plan_of(const ProblemSize& size, Type type, const Options& options) {
    return plan_device_product(size.m, size.k, size.n, type, options, {});
}

/// What `plan` prints of a product on the device.
ErrorPromise promise_of(const ProblemSize& size, Type type, const Options& options) {
    const ProductPlan plan = plan_of(size, type, options);
    return promised_error(plan, expected_growth(plan), options.accuracy == Accuracy::balanced);
}

/// Levels that take powers of two out of lines. Those of f16 keep scaled sums, for which one power is taken out of all
/// of A and one out of all of B: what is uneven is multiplied classically.
bool takes_powers_out_of_lines(const ProductPlan& plan) {
    return !plan.levels.empty() && can_scale(plan, 0);
}

/// How much larger than the classical product's the errors of one level are where its blocks repeat one another, so
/// that sums of them are as large as the coefficients together (nearly cancelling: A12 = A11, B21 = -B11), in the block
/// of C where that is worst: sqrt( (1/k) sum_s W[s][l]^2 |U[s]|_1^2 |V[s]|_1^2 ). Facts::rms_growth is of independent
/// blocks.
double growth_of_alike_blocks(const std::string& name) {
    const Algorithm& algorithm = find_algorithm(name).algorithm;
    const auto row_sum = [](const CoefficientMatrix& x, int row) {
        double sum = 0;
        for (int j = 0; j < x.cols; ++j) {
            sum += std::abs(x(row, j).to_double());
        }
        return sum;
    };
    double most = 0;
    for (int l = 0; l < algorithm.w.cols; ++l) {
        double squares = 0;
        for (int s = 0; s < algorithm.w.rows; ++s) {
            const double size = algorithm.w(s, l).to_double() * row_sum(algorithm.u, s) * row_sum(algorithm.v, s);
            squares += size * size;
        }
        most = std::max(most, squares);
    }
    return std::sqrt(most / algorithm.k);
}

/// What the largest error of a classical product over |A||B| usually is on uniform data, in roundoffs: 1.5 over
/// |a_i||b_j|, which is 4/3 as large.
constexpr double kTypicalInRoundoffs = 2;

class families_on_device : public ::testing::TestWithParam<Type> {};

TEST_P(families_on_device, every_word_keeps_its_promise) {
    HEPTAD_NEEDS_DEVICE();
    const Type type = GetParam();
    const double octaves = type == Type::f16 ? 8 : 40;
    int products = 0, scaled = 0, could_scale = 0, classical_ones = 0, by_certificate = 0;
    for (const ProblemSize& size : {ProblemSize{256, 256, 256}, ProblemSize{129, 391, 190}, ProblemSize{33, 900, 41}}) {
        for (const Family& family : data_families(octaves)) {
            Judged judged(type, size, family);
            if (!judged.fits()) {
                EXPECT_EQ(type, Type::f16) << family.name;
                continue;
            }
            const Options strict = options_of({"auto", -1, "auto"}, Accuracy::strict);
            const Judged::Errors plain = judged.multiply(on_device(strict));
            EXPECT_LE(plain.over_entries, promise_of(size, type, strict).bound) << family.name;
            if (type == Type::f32 || type == Type::f64) {
                Options residues = strict;
                residues.leaf = kResidueLeaf;
                const Judged::Errors certified = judged.multiply(on_device(residues));
                const ErrorPromise promise = promise_of(size, type, residues);
                EXPECT_EQ(promise.over, BoundOver::entries);
                EXPECT_LE(certified.over_entries, promise.bound) << family.name;
                by_certificate += certified.report.fell_back ? 0 : 1;
            }
            const double classical = std::max(plain.over_entries, unit_roundoff(type));
            double worst = 0;
            for (const Way& way : kWays) {
                const std::string what = fmt::format("{} {} {}x{}x{} {} {}", family.name, type_name(type), size.m,
                                                     size.k, size.n, way.algorithm, way.mode);
                const Options balanced = options_of(way, Accuracy::balanced), fast = options_of(way, Accuracy::fast);
                const Judged::Errors with_digits = judged.multiply(on_device(balanced)),
                                     quick = judged.multiply(on_device(fast));
                // Levels that `balanced` would not choose by itself here, where cuBLAS may sum so well that its error
                // is below the roundoff: those of leaves are typical. Sums of short floats are rounded to the type.
                const bool is_short = element_bytes(type) == 2 || type == Type::tf32;
                const double of_forced =
                    way.levels < 0 ? 0
                    : is_short     ? 20 * classical
                               : std::max(12 * classical, kTypicalInRoundoffs * growth_of_alike_blocks(way.algorithm) *
                                                              unit_roundoff(type));
                EXPECT_LE(with_digits.over_entries, std::max(10 * classical, of_forced)) << what;
                const ErrorPromise of_balanced = promise_of(size, type, balanced),
                                   of_fast = promise_of(size, type, fast);
                EXPECT_LE(kept(of_balanced, with_digits), of_balanced.bound) << what;
                EXPECT_LE(kept(of_fast, quick), of_fast.bound) << what;
                worst = std::max(worst, with_digits.over_entries / classical);
                ++products;
                const bool may_scale = takes_powers_out_of_lines(plan_of(size, type, balanced));
                EXPECT_TRUE(may_scale || !with_digits.report.scaled) << what;
                could_scale += may_scale ? 1 : 0;
                scaled += with_digits.report.scaled ? 1 : 0;
                classical_ones += with_digits.report.fell_back ? 1 : 0;
            }
            fmt::print("    {:46} {} {}x{}x{} {:5.2f} times the classical error\n", family.name, type_name(type),
                       size.m, size.k, size.n, worst);
        }
    }
    EXPECT_GT(products, 100);
    EXPECT_EQ(could_scale > 0, type != Type::f16);
    EXPECT_EQ(scaled > 0, could_scale > 0);
    EXPECT_GT(classical_ones, 0);
    EXPECT_TRUE(by_certificate > 20 || element_bytes(type) == 2 || type == Type::tf32) << by_certificate;
}

INSTANTIATE_TEST_SUITE_P(all_floats, families_on_device,
                         ::testing::Values(Type::f64, Type::f32, Type::tf32, Type::bf16, Type::f16),
                         [](const auto& type) { return std::string(type_name(type.param)); });

}  // namespace
}  // namespace heptad::test
