// Plans by residues on a device: who gets one, what it says of errors and memory, and what is no such plan.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "base/device_layout.hpp"
#include "base/error.hpp"
#include "base/moduli.hpp"
#include "base/types.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/predict/promised_error.hpp"
#include "plan/search/device_residue_plan.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

/// A device on which residues are three times as fast as the library, from n = 2048 on.
Machine machine() {
    Machine device;
    device.combine_bytes_per_s = 4e12;
    device.scan_bytes_per_s = 4e12;
    for (const Type type : {Type::f32, Type::f64, Type::c64, Type::c128}) {
        for (const auto& [leaf, at_2048, at_8192] :
             {std::tuple{"cublas", 3.5e-4, 2.2e-2}, {kResidueLeaf, 3e-4, 7e-3}}) {
            LeafProfile profile{leaf, type, 1, {}};
            profile.samples = {{512, 512, 512, leaf == std::string("cublas") ? 2e-5 : 8e-5},
                               {2048, 2048, 2048, at_2048},
                               {8192, 8192, 8192, at_8192}};
            device.leaves.push_back(profile);
        }
    }
    return device;
}

Problem problem(std::int64_t m, std::int64_t k, std::int64_t n, Type type, Accuracy accuracy = Accuracy::balanced) {
    Problem asked{m, k, n, type, 1, {}};
    asked.options.device = "cuda";
    asked.options.accuracy = accuracy;
    return asked;
}

TEST(device_residue_plan, is_taken_where_it_is_faster) {
    const ProductPlan large = make_plan(problem(8192, 8192, 8192, Type::f32), machine(), device_limits());
    EXPECT_EQ(large.leaf, kResidueLeaf);
    EXPECT_EQ(large.arithmetic.moduli, 7);
    EXPECT_EQ(most_moduli(large), 9);
    EXPECT_LE(large.predicted_s, 7e-3);
    EXPECT_GE(large.predicted_s, 7e-3 * 0.75);
    const ProductPlan small = make_plan(problem(512, 512, 512, Type::f32), machine(), device_limits());
    EXPECT_FALSE(is_by_residues(small));
    EXPECT_EQ(make_plan(problem(8192, 8192, 8192, Type::f64), machine(), device_limits()).arithmetic.moduli, 14);
}

TEST(device_residue_plan, complex_numbers_have_three_planes_for_one) {
    for (const auto& [type, part] : {std::pair{Type::c64, Type::f32}, {Type::c128, Type::f64}}) {
        const ProductPlan plan = make_plan(problem(8192, 8192, 8192, type), machine(), device_limits());
        ProductPlan real = make_plan(problem(8192, 8192, 8192, part), machine(), device_limits());
        real.levels.clear();
        ASSERT_TRUE(is_by_residues(plan)) << to_string(plan);
        EXPECT_TRUE(plan.levels.empty());
        EXPECT_EQ(plan.arithmetic.moduli, real.arithmetic.moduli);
        EXPECT_EQ(device_residue_layout(plan).c, 3 * device_residue_layout(real).c);
        EXPECT_EQ(plan.workspace_bytes, device_residue_layout(plan).bytes());
        EXPECT_NEAR(residue_error(plan), std::sqrt(2) * residue_error(real), 2 * unit_roundoff(type));
        EXPECT_EQ(parse_plan(to_string(plan)), plan);
        check_plan(plan);
        EXPECT_FALSE(
            is_by_residues(make_plan(problem(8192, 8192, 8192, type, Accuracy::strict), machine(), device_limits())));
        Problem capped = problem(8192, 8192, 8191, type);
        capped.options.workspace_limit_bytes = plan.workspace_bytes / 2;
        const ProductPlan tiled = make_plan(capped, machine(), device_limits());
        ASSERT_TRUE(is_by_residues(tiled));
        EXPECT_LT(tiled.tile_m, 8192);
        EXPECT_LE(tiled.workspace_bytes, capped.options.workspace_limit_bytes);
        const ProductPlan small = make_plan(problem(511, 511, 511, type), machine(), device_limits());
        EXPECT_EQ(small.leaf, "cublas");
        EXPECT_FALSE(small.padded);
        check_plan(small);
    }
}

TEST(device_residue_plan, complex_numbers_are_never_rounded_once) {
    for (const Type type : {Type::c64, Type::c128}) {
        EXPECT_THROW(make_plan(problem(1024, 1024, 1024, type, Accuracy::exact), machine(), device_limits()), Error);
        const ProductPlan plan = make_plan(problem(8192, 8192, 8192, type), machine(), device_limits());
        EXPECT_FALSE(rounds_once(plan));
        ProductPlan more = plan;
        more.arithmetic.moduli = kMostModuli;
        more.least_evenness = 0;
        more.workspace_bytes = device_residue_layout(more).bytes();
        more.error_bound = error_bound(more);
        EXPECT_THROW(check_plan(more), Error);
        ProductPlan of_real_ones = plan;
        of_real_ones.complex = ComplexWay::in_place;
        EXPECT_THROW(check_plan(of_real_ones), Error);
    }
}

TEST(device_residue_plan, is_for_words_that_allow_it) {
    const auto plan = [&](Accuracy accuracy) {
        return make_plan(problem(8192, 8192, 8192, Type::f32, accuracy), machine(), device_limits());
    };
    EXPECT_EQ(plan(Accuracy::fast).arithmetic.moduli, 6);
    EXPECT_EQ(most_moduli(plan(Accuracy::fast)), 6);
    EXPECT_EQ(plan(Accuracy::strict).arithmetic.moduli, 7);
    EXPECT_EQ(plan(Accuracy::exact).arithmetic.moduli, kMostModuli);
    Problem asked = problem(8192, 8192, 8192, Type::f32);
    asked.options.levels = 0;
    EXPECT_FALSE(is_by_residues(make_plan(asked, machine(), device_limits())));
    asked.options.levels = 1;
    EXPECT_FALSE(is_by_residues(make_plan(asked, machine(), device_limits())));
    asked.options.leaf = kResidueLeaf;
    EXPECT_EQ(make_plan(asked, machine(), device_limits()).levels.size(), 1U);
    asked.options.levels = kMostResidueLevels + 1;
    EXPECT_THROW(make_plan(asked, machine(), device_limits()), Error);
}

TEST(device_residue_plan, strict_products_are_certified_and_promise_what_the_library_does) {
    for (const Type type : {Type::f32, Type::f64}) {
        const ProductPlan balanced = make_plan(problem(8192, 8192, 8192, type), machine(), device_limits());
        const ProductPlan plan =
            make_plan(problem(8192, 8192, 8192, type, Accuracy::strict), machine(), device_limits());
        ASSERT_TRUE(is_certified(plan)) << to_string(plan);
        EXPECT_FALSE(is_certified(balanced));
        EXPECT_FALSE(rounds_once(plan));
        EXPECT_EQ(most_moduli(plan), plan.arithmetic.moduli + 2);
        EXPECT_GT(plan.predicted_s, balanced.predicted_s);
        EXPECT_LT(plan.predicted_s, 1.1 * balanced.predicted_s);
        EXPECT_EQ(parse_plan(to_string(plan)), plan);
        EXPECT_NO_THROW(check_plan(plan));
        for (const ErrorPromise& promise :
             {promised_error(plan, 1, false), promised_error(plan, plan, Accuracy::strict)}) {
            EXPECT_EQ(promise.over, BoundOver::entries);
            EXPECT_EQ(promise.bound, classical_promise(plan).bound);
            EXPECT_EQ(promise.growth, 1);
        }
        EXPECT_EQ(expected_growth(plan, machine()), 1);
        const ProductPlan small = make_plan(problem(512, 512, 512, type, Accuracy::strict), machine(), device_limits());
        EXPECT_EQ(small.leaf, "cublas");
        Problem plain = problem(8192, 8192, 8192, type, Accuracy::strict);
        plain.options.levels = 0;
        EXPECT_EQ(make_plan(plain, machine(), device_limits()).leaf, "cublas");
        Problem capped = problem(8192, 8192, 8192, type, Accuracy::strict);
        capped.options.workspace_limit_bytes = 0;
        EXPECT_EQ(make_plan(capped, machine(), device_limits()).leaf, "cublas");
    }
}

TEST(device_residue_plan, what_strict_cannot_certify_stays_the_librarys) {
    Problem two = problem(3000, 2, 3000, Type::f32, Accuracy::strict);
    two.options.leaf = kResidueLeaf;
    EXPECT_EQ(make_plan(two, machine(), device_limits()).leaf, "cublas");
    Problem three = problem(3000, 3, 3000, Type::f32, Accuracy::strict);
    three.options.leaf = kResidueLeaf;
    three.options.levels = 0;
    const ProductPlan plan = make_plan(three, machine(), device_limits());
    ASSERT_TRUE(is_certified(plan));
    ProductPlan shorter = plan;
    shorter.k = shorter.tile_k = shorter.core_k = 2;
    shorter.workspace_bytes = device_residue_layout(shorter).bytes();
    shorter.error_bound = error_bound(shorter);
    EXPECT_THROW(check_plan(shorter), Error);
    ProductPlan complex_one = make_plan(problem(8192, 8192, 8192, Type::c64), machine(), device_limits());
    complex_one.least_evenness = kCertifiedEvenness;
    complex_one.error_bound = error_bound(complex_one);
    EXPECT_THROW(check_plan(complex_one), Error);
}

TEST(device_residue_plan, a_certificate_asks_less_of_longer_sums_and_of_more_moduli) {
    for (const Type type : {Type::f32, Type::f64}) {
        double before = 1;
        for (const std::int64_t k : {16, 64, 1024, 16384, 200000}) {
            Problem asked = problem(4096, k, 4096, type, Accuracy::strict);
            asked.options.leaf = kResidueLeaf;
            const ProductPlan plan = make_plan(asked, machine(), device_limits());
            ASSERT_TRUE(is_certified(plan));
            double least = certified_evenness(plan);
            EXPECT_LT(least, before) << k;
            before = least;
            // The promise of the header: with R = 2^-bits sqrt(k) / evenness, (1 + R)^2 - 1 <= (k - 2) u.
            for (int count = plan.arithmetic.moduli; count <= most_moduli(plan); ++count) {
                const long double r = std::exp2(-static_cast<long double>(log2_of_integers(count))) *
                                      std::sqrt(static_cast<long double>(k)) / least;
                EXPECT_LT(r * (2 + r), static_cast<long double>(k - 2) * unit_roundoff(type)) << k << " " << count;
                least *= kEvennessOfModulus;
            }
        }
    }
}

TEST(device_residue_plan, is_refused_on_a_processor_but_for_exact) {
    Problem asked = problem(512, 512, 512, Type::f32);
    asked.options.device = "cpu";
    asked.options.leaf = kResidueLeaf;
    EXPECT_THROW(make_plan(asked, machine(), device_limits()), Error);
}

TEST(device_residue_plan, leaves_to_others_what_it_cannot_do) {
    const auto forced = [&](std::int64_t k, Type type) {
        Problem asked = problem(3000, k, 3000, type);
        asked.options.leaf = kResidueLeaf;
        return make_plan(asked, machine(), device_limits());
    };
    EXPECT_TRUE(is_by_residues(forced(kLongestDeviceSum, Type::f32)));
    EXPECT_TRUE(is_by_residues(forced(4 * kLongestDeviceSum, Type::f32)));
    EXPECT_EQ(forced(4 * kLongestDeviceSum + 1, Type::f32).leaf, "cublas");
    EXPECT_EQ(forced(0, Type::f64).leaf, "cublas");
}

TEST(device_residue_plan, reads_as_it_prints_and_is_checked) {
    for (const Type type : {Type::f32, Type::f64}) {
        const ProductPlan plan = make_plan(problem(9000, 8100, 9001, type), machine(), device_limits());
        ASSERT_TRUE(is_by_residues(plan));
        EXPECT_EQ(parse_plan(to_string(plan)), plan);
        EXPECT_NO_THROW(check_plan(plan));
        const auto is_refused = [&](const auto& edit) {
            ProductPlan edited = plan;
            edit(edited);
            EXPECT_THROW(check_plan(edited), Error) << to_string(edited);
        };
        is_refused([](ProductPlan& x) { x.arithmetic.moduli = 3; });
        is_refused([](ProductPlan& x) { x.arithmetic.moduli = 17; });
        is_refused([](ProductPlan& x) { x.tile_m = x.m + 1; });
        is_refused([](ProductPlan& x) { x.tile_n = 0; });
        is_refused([](ProductPlan& x) { x.tile_k = 128; });
        is_refused([](ProductPlan& x) { x.workspace_bytes -= 64; });
        is_refused([](ProductPlan& x) { x.leaf = "cublas"; });
        is_refused([](ProductPlan& x) { x.type = Type::bf16; });
        is_refused([](ProductPlan& x) { x.levels.push_back({"winograd", LevelMode::parallel, ""}); });
        is_refused([](ProductPlan& x) { x.error_bound /= 2; });
    }
}

TEST(device_residue_plan, rounds_once_where_exact_is_asked_for) {
    for (const Type type : {Type::f32, Type::f64, Type::i64}) {
        for (const int levels : {-1, 0, 1, 2}) {
            Problem asked = problem(9000, 8100, 9001, type, Accuracy::exact);
            asked.options.levels = levels;
            const ProductPlan plan = make_plan(asked, machine(), device_limits());
            EXPECT_TRUE(rounds_once(plan));
            EXPECT_EQ(plan.arithmetic.moduli, type == Type::i64 ? 18 : 24);
            EXPECT_TRUE(levels < 0 || plan.levels.size() == static_cast<std::size_t>(levels));
            EXPECT_EQ(parse_plan(to_string(plan)), plan);
            EXPECT_NO_THROW(check_plan(plan));
            EXPECT_EQ(plan.error_bound, type == Type::i64 ? 0 : 8100 * (type == Type::f32 ? 0x1p-24 : 0x1p-53));
            EXPECT_EQ(promised_error(plan, 1, true).over, type == Type::i64 ? BoundOver::nothing : BoundOver::result);
            const ProductPlan fast = make_plan(problem(9000, 8100, 9001, Type::f64), machine(), device_limits());
            EXPECT_GT(plan.predicted_s, fast.predicted_s / 3);
            EXPECT_LT(plan.predicted_s, fast.predicted_s * 3);
            asked.options.workspace_limit_bytes = plan.workspace_bytes / 3;
            const ProductPlan tiled = make_plan(asked, machine(), device_limits());
            EXPECT_LE(tiled.workspace_bytes, asked.options.workspace_limit_bytes);
            EXPECT_NO_THROW(check_plan(tiled));
        }
    }
}

TEST(device_residue_plan, i64_has_residues_for_every_word_and_as_many_as_k_takes) {
    for (const auto& [k, moduli] : {std::pair{1, 17}, {65536, 19}, {100000, 19}}) {
        const ProductPlan plan = make_plan(problem(300, k, 200, Type::i64, Accuracy::fast), machine(), device_limits());
        EXPECT_EQ(plan.arithmetic.moduli, moduli);
        EXPECT_EQ(plan.levels.empty(), k == 1 || plan.levels.empty());
        EXPECT_NO_THROW(check_plan(plan));
        ProductPlan fewer = plan;
        fewer.arithmetic.moduli -= 1;
        fewer.workspace_bytes = device_residue_layout(fewer).bytes();
        EXPECT_THROW(check_plan(fewer), Error);
    }
}

TEST(device_residue_plan, refuses_what_cannot_be_rounded_once) {
    const auto refused = [](const auto& edit) -> std::optional<ErrorCode> {
        Problem asked = problem(3000, 3000, 3000, Type::f32, Accuracy::exact);
        edit(asked);
        try {
            make_plan(asked, machine(), device_limits());
        } catch (const Error& error) {
            return error.code();
        }
        return std::nullopt;
    };
    EXPECT_EQ(refused([](Problem&) {}), std::nullopt);
    EXPECT_EQ(refused([](Problem& x) { x.type = Type::bf16; }), ErrorCode::usage);
    EXPECT_EQ(refused([](Problem& x) { x.k = 4 * kLongestDeviceSum + 1; }), ErrorCode::usage);
    EXPECT_EQ(refused([](Problem& x) { x.options.levels = 3; }), ErrorCode::usage);
    EXPECT_EQ(refused([](Problem& x) { x.options.algorithm = "strassen"; }), std::nullopt);
    EXPECT_EQ(refused([](Problem& x) { x.options.algorithm = "2x2x2-7-accurate"; }), ErrorCode::usage);
    EXPECT_EQ(refused([](Problem& x) { x.options.mode = "serial"; }), ErrorCode::usage);
    EXPECT_EQ(refused([](Problem& x) { x.options.leaf = "cublas"; }), ErrorCode::usage);
    EXPECT_EQ(refused([](Problem& x) { x.options.workspace_limit_bytes = 1 << 20; }), ErrorCode::resource);
    for (std::int64_t Problem::*const side : {&Problem::m, &Problem::k, &Problem::n}) {
        EXPECT_EQ(refused([&](Problem& x) { x.*side = 0; }), std::nullopt);
    }
}

TEST(device_residue_plan, fits_the_workspace_by_tiles_of_c) {
    Problem asked = problem(20000, 8192, 30000, Type::f64);
    const ProductPlan whole = plan_with_shape(asked, machine(), {{}, kResidueLeaf});
    EXPECT_EQ(whole.tile_m, 20000);
    EXPECT_EQ(whole.tile_n, 30000);
    for (const std::int64_t share : {2, 5, 20}) {
        asked.options.workspace_limit_bytes = whole.workspace_bytes / share;
        const ProductPlan plan = plan_with_shape(asked, machine(), {{}, kResidueLeaf});
        ASSERT_TRUE(is_by_residues(plan)) << share;
        EXPECT_LE(plan.workspace_bytes, asked.options.workspace_limit_bytes);
        EXPECT_LT(plan.tile_n, 30000);
        EXPECT_GE(std::min(plan.tile_m, plan.tile_n), 2048);
        EXPECT_NO_THROW(check_plan(plan));
    }
    asked.options.workspace_limit_bytes = 1 << 20;
    EXPECT_FALSE(is_by_residues(make_plan(asked, machine(), device_limits())));
}

TEST(device_residue_plan, levels_inside_fit_the_shared_memory_of_the_chip) {
    const auto levels = [](Type type, Accuracy accuracy, int shared_kib, const std::string& algorithm = "auto") {
        Problem asked = problem(16384, 16384, 16384, type, accuracy);
        asked.options.leaf = kResidueLeaf;
        asked.options.levels = 2;
        asked.options.algorithm = algorithm;
        Machine device = machine();
        device.shared_bytes = shared_kib << 10;
        const ProductPlan plan = make_plan(asked, device, device_limits());
        EXPECT_TRUE(is_by_residues(plan) && fits_shared_memory(plan, device)) << to_string(plan);
        return static_cast<int>(plan.levels.size());
    };
    constexpr int kOfAda = 99, kOfAmpere = 163;
    for (const auto& [type, accuracy, in_ada] : {std::tuple{Type::f32, Accuracy::balanced, 2},
                                                 {Type::f32, Accuracy::exact, 1},
                                                 {Type::f64, Accuracy::balanced, 1},
                                                 {Type::f64, Accuracy::exact, 1},
                                                 {Type::i64, Accuracy::balanced, 1}}) {
        EXPECT_EQ(levels(type, accuracy, kOfAmpere), 2) << static_cast<int>(type);
        EXPECT_EQ(levels(type, accuracy, kOfAda), in_ada) << static_cast<int>(type);
        EXPECT_EQ(levels(type, accuracy, kOfAda, "strassen"), 2) << "passes keep no tile of every block";
    }
    ProductPlan of_others = make_plan(problem(16384, 16384, 16384, Type::i64), machine(), device_limits());
    of_others.levels = {{kHalving, LevelMode::parallel, ""}, {kHalving, LevelMode::parallel, ""}};
    Machine ada;
    ada.shared_bytes = kOfAda << 10;
    EXPECT_FALSE(fits_shared_memory(of_others, ada));
}

TEST(device_residue_plan, nothing_is_a_product_whatever_k) {
    for (const auto& [m, n] : {std::pair{0, 5}, {5, 0}}) {
        for (const auto& [type, accuracy] : {std::pair{Type::i64, Accuracy::balanced}, {Type::f64, Accuracy::exact}}) {
            const ProductPlan plan = make_plan(problem(m, 1 << 20, n, type, accuracy), machine(), device_limits());
            ASSERT_TRUE(is_by_residues(plan));
            EXPECT_NO_THROW(check_plan(plan)) << to_string(plan);
        }
    }
}

TEST(device_residue_plan, tiles_have_no_more_lines_than_a_grid_has_layers_for) {
    constexpr std::int64_t kMost = std::int64_t{65535} * 16;
    for (const auto& [m, n] : {std::pair{kMost, std::int64_t{64}}, {kMost + 1, 64}, {64, kMost + 1}, {1 << 24, 256}}) {
        for (const Accuracy accuracy : {Accuracy::balanced, Accuracy::exact}) {
            Problem asked = problem(m, 256, n, Type::f32, accuracy);
            ProductPlan plan = accuracy == Accuracy::exact ? make_exact_device_plan(asked, machine())
                                                           : plan_with_shape(asked, machine(), {{}, kResidueLeaf});
            ASSERT_TRUE(is_by_residues(plan));
            EXPECT_NO_THROW(check_plan(plan));
            const auto is_fitting = [](std::int64_t tile, std::int64_t side) {
                return tile <= kMost && (side <= kMost ? tile == side : 2 * tile >= kMost);
            };
            EXPECT_TRUE(is_fitting(plan.tile_m, m) && is_fitting(plan.tile_n, n)) << to_string(plan);
            ProductPlan by_hand = plan;
            by_hand.tile_m = m;
            by_hand.tile_n = n;
            by_hand.workspace_bytes = device_residue_layout(by_hand).bytes();
            if (std::max(m, n) > kMost) {
                EXPECT_THROW(check_plan(by_hand), Error) << to_string(by_hand);
            } else {
                EXPECT_NO_THROW(check_plan(by_hand));
            }
            plan.arithmetic.moduli = kFewestModuliOfF32;  // what the data takes
            ASSERT_TRUE(fit_tiles(plan, plan.workspace_bytes));
            EXPECT_TRUE(is_fitting(plan.tile_m, m) && is_fitting(plan.tile_n, n)) << to_string(plan);
        }
    }
}

TEST(device_residue_plan, takes_levels_where_products_outweigh_bytes) {
    const auto levels = [&](std::int64_t n) {
        Problem asked = problem(n, n, n, Type::f32);
        return make_plan(asked, machine(), device_limits()).levels.size();
    };
    EXPECT_EQ(levels(2048), 0U);
    EXPECT_EQ(levels(32768), 2U);
    Problem asked = problem(32768, 32768, 32768, Type::f32);
    asked.options.workspace_limit_bytes = std::int64_t{64} << 30;
    const ProductPlan banded = make_plan(asked, machine(), device_limits());
    EXPECT_EQ(banded.levels.size(), 2U);
    EXPECT_EQ(banded.tile_n, 32768);
    EXPECT_LE(banded.workspace_bytes, asked.options.workspace_limit_bytes);
    EXPECT_EQ(banded.core_m, 32768);
    EXPECT_EQ(parse_plan(to_string(banded)), banded);
    EXPECT_NO_THROW(check_plan(banded));
    ProductPlan other = banded;
    other.levels.back().algorithm = "strassen";
    EXPECT_THROW(check_plan(other), Error);
    other = banded;
    other.core_k -= 4;
    EXPECT_THROW(check_plan(other), Error);
}

TEST(device_residue_plan, promises_less_error_than_a_classical_product) {
    for (const Type type : {Type::f32, Type::f64}) {
        const ProductPlan plan = make_plan(problem(8192, 8192, 8192, type), machine(), device_limits());
        const ErrorPromise promise = promised_error(plan, expected_growth(plan, machine()), false);
        EXPECT_EQ(promise.over, BoundOver::lines);
        EXPECT_EQ(promise.growth, 1);
        EXPECT_LT(promise.bound, classical_promise(plan).bound);
        EXPECT_GT(promise.bound, promise.roundoff);
    }
}

TEST(device_residue_plan, other_chips_plan_without_figures_of_this_one) {
    Machine other = machine();
    std::erase_if(other.leaves, [](const LeafProfile& profile) { return leaf_traits(profile.leaf).by_residues; });
    EXPECT_FALSE(is_by_residues(make_plan(problem(8192, 8192, 8192, Type::f32), other, device_limits())));
}

}  // namespace
}  // namespace heptad
