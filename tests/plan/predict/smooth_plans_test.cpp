// No cliffs: over n = 1024 to 65536 the predicted time per 2 n^3 of the plan that is chosen never jumps up, and a
// looser word is never predicted slower. On several machines, with measured plans and without.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "io/device_machine.hpp"
#include "io/machine_file.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/predict/predict.hpp"
#include "tune/plan_candidates.hpp"

namespace heptad {
namespace {

constexpr Accuracy kWords[] = {Accuracy::strict, Accuracy::balanced, Accuracy::fast};

struct Site {
    std::string name;
    Machine machine;
    std::string device;
    PlannerLimits limits;
};

Problem square(std::int64_t n, Type type, Accuracy accuracy, const Site& site) {
    Problem problem{n, n, n, type, site.machine.threads, {}};
    problem.options.device = site.device;
    problem.options.accuracy = accuracy;
    return problem;
}

/// As `tune` records it.
void measure(Site& site, Type type, std::int64_t n, const PlanShape& shape, double relative_time, double std_error,
             int rounds = 7) {
    Machine alone = site.machine;
    alone.measured_plans.clear();
    const Problem problem = square(n, type, Accuracy::fast, site);
    const PlanShape library{{}, site.device == "cuda" ? "cublas" : "openblas-mt"};
    const double modelled = model_seconds(plan_with_shape(problem, alone, shape), alone) /
                            model_seconds(plan_with_shape(problem, alone, library), alone);
    site.machine.measured_plans.push_back({type, n, n, n, shape, relative_time, std_error, rounds, modelled});
}

Site built_in_h200() {
    return {"built-in H200", default_device_machine(), "cuda", device_limits()};
}

Site guessed_cpu(int threads) {
    return {"guessed CPU", default_machine(threads), "cpu", {}};
}

/// What a tuning of an H200 left: at 16384 only plans for `fast` ran.
Site tuned_h200() {
    Site site = built_in_h200();
    site.name = "tuned H200";
    const std::string once = "winograd", twice = "winograd*winograd";
    for (const Type type : {Type::f32, Type::f64}) {
        const double slower = type == Type::f32 ? 1 : 1.1;
        for (std::int64_t n = 2048; n <= 16384; n *= 2) {
            measure(site, type, n, {{}, "cublas"}, 1, 0);
        }
        measure(site, type, 2048, {{once}, "cublas-batched"}, 1.08, 0.01);
        measure(site, type, 4096, {{once}, "cublas-batched"}, 0.93 * slower, 0.01);
        measure(site, type, 4096, {{twice}, "cublaslt-batched"}, 0.88 * slower, 0.02);
        measure(site, type, 8192, {{twice}, "cublaslt-batched"}, 0.77 * slower, 0.01);
        measure(site, type, 8192, {{once, twice}, "cublas-batched"}, 0.76 * slower, 0.01);
        measure(site, type, 16384, {{once, twice}, "cublas-batched"}, 0.70 * slower, 0.005, 5);
        measure(site, type, 16384, {{twice, twice}, "cublas-batched"}, 0.66 * slower, 0.005, 5);
    }
    return site;
}

/// Two cores: rates rise with the size as they do, and passes cost something.
Site two_cores(const std::string& name) {
    Site site{name, {}, "cpu", {}};
    Machine& machine = site.machine;
    machine.threads = 2;
    machine.measured = true;
    machine.combine_bytes_per_s = machine.scan_bytes_per_s = 21e9;
    machine.call_s = 4e-6;
    for (const Type type : {Type::f32, Type::f64}) {
        const double peak = type == Type::f32 ? 230e9 : 115e9;
        for (const auto& [leaf, rate] : {std::pair{"openblas-mt", 1.0}, {"openblas", 0.97}, {"heptad", 0.93}}) {
            LeafProfile profile{leaf, type, 2, {}};
            for (std::int64_t n = 16; n <= 4096; n *= 2) {
                const auto size = static_cast<double>(n);
                const double seconds = 2 * size * size * size / (peak * rate * size / (size + 96));
                profile.samples.push_back({n, n, n, seconds});
                if (n >= 128 && n <= 2048 && leaf != std::string("openblas-mt")) {
                    profile.in_batches.push_back({n, n, n, seconds * 0.98});
                }
            }
            machine.leaves.push_back(profile);
        }
        for (const std::int64_t n : {1024, 2048, 4096}) {
            measure(site, type, n, {{}, "openblas-mt"}, 1, 0);
        }
    }
    return site;
}

Site cores_where_levels_pay_late() {
    Site site = two_cores("levels pay late");
    for (const Type type : {Type::f32, Type::f64}) {
        measure(site, type, 1024, {{"winograd"}, "heptad"}, 1.2, 0.02);
        measure(site, type, 2048, {{"winograd"}, "heptad"}, 1.03, 0.03);
        measure(site, type, 2048, {{"winograd", "winograd"}, "heptad"}, 1.1, 0.1, 2);
        measure(site, type, 4096, {{"winograd"}, "heptad"}, 0.94, 0.02);
        measure(site, type, 4096, {{"winograd", "winograd"}, "heptad"}, 0.89, 0.03);
        measure(site, type, 4096, {{"winograd", "winograd"}, "openblas"}, 0.95, 0.03, 5);
    }
    return site;
}

/// A win in the middle of losses, as noise leaves it.
Site noisy_cores() {
    Site site = two_cores("noisy");
    for (const Type type : {Type::f32, Type::f64}) {
        measure(site, type, 1024, {{"winograd"}, "heptad"}, 0.9, 0.12, 3);
        measure(site, type, 1024, {{}, "heptad"}, 0.93, 0.05, 5);
        measure(site, type, 2048, {{"winograd", "winograd"}, "openblas"}, 0.85, 0.02);
        measure(site, type, 2048, {{}, "heptad"}, 1.06, 0.01);
        measure(site, type, 4096, {{"winograd"}, "heptad"}, 1.02, 0.1);
        measure(site, type, 4096, {{"winograd", "winograd"}, "heptad"}, 1.01, 0.05);
    }
    return site;
}

std::vector<Site> sites() {
    return {built_in_h200(), tuned_h200(), guessed_cpu(2), cores_where_levels_pay_late(), noisy_cores()};
}

/// Predicted seconds over 2 n^3 of the plan that is chosen.
double cost(const ProductPlan& plan) {
    return plan.predicted_s / (2 * std::pow(static_cast<double>(plan.n), 3));
}

ProductPlan plan_for(std::int64_t n, Type type, Accuracy accuracy, const Site& site) {
    return make_plan(square(n, type, accuracy, site), site.machine, site.limits);
}

/// Multiples of 64, about 1.5 % apart and never less. Other sizes are truly slower: rows do not begin on 16-byte
/// boundaries, and six levels leave fringes that are peeled off.
std::vector<std::int64_t> aligned_sizes() {
    constexpr std::int64_t kUnit = 64;
    std::vector<std::int64_t> sizes;
    for (double n = 1024; n <= 65536; n *= 1.015) {
        const auto rounded = static_cast<std::int64_t>(std::lround(n / kUnit)) * kUnit;
        if (sizes.empty() || rounded > sizes.back()) {
            sizes.push_back(rounded);
        }
    }
    return sizes;
}

void expect_looser_is_faster(const ProductPlan& stricter, const ProductPlan& looser, const Site& site) {
    EXPECT_LE(looser.predicted_s, stricter.predicted_s)
        << site.name << ": " << to_string(stricter) << "\nlooser " << to_string(looser);
}

TEST(smooth_plans, predicted_time_per_operation_never_jumps_up_and_a_looser_word_is_never_slower) {
    constexpr double kMostJump = 1.05;
    const std::vector<std::int64_t> sizes = aligned_sizes();
    ASSERT_GE(sizes.size(), 200U);
    for (const Site& site : sites()) {
        for (const Type type : {Type::f32, Type::f64}) {
            std::map<Accuracy, ProductPlan> before;
            for (const std::int64_t n : sizes) {
                std::map<Accuracy, ProductPlan> plans;
                for (const Accuracy word : kWords) {
                    plans[word] = plan_for(n, type, word, site);
                    EXPECT_TRUE(before.empty() || cost(plans[word]) <= kMostJump * cost(before[word]))
                        << site.name << ": " << to_string(before[word]) << "\nthen " << to_string(plans[word]);
                }
                expect_looser_is_faster(plans[Accuracy::strict], plans[Accuracy::balanced], site);
                expect_looser_is_faster(plans[Accuracy::balanced], plans[Accuracy::fast], site);
                EXPECT_LE(expected_growth(plans[Accuracy::balanced], site.machine), site.limits.balanced_growth);
                before = std::move(plans);
            }
        }
    }
}

TEST(smooth_plans, a_looser_word_is_never_slower_at_odd_sizes_either) {
    for (const Site& site : sites()) {
        for (const Type type : {Type::f32, Type::f64}) {
            for (double even = 1024; even <= 20000; even *= 1.07) {
                const std::int64_t near = std::lround(even / 64) * 64;
                for (const std::int64_t n : {near - 1, near + 1}) {
                    const ProductPlan balanced = plan_for(n, type, Accuracy::balanced, site);
                    expect_looser_is_faster(plan_for(n, type, Accuracy::strict, site), balanced, site);
                    expect_looser_is_faster(balanced, plan_for(n, type, Accuracy::fast, site), site);
                }
            }
        }
    }
}

TEST(smooth_plans, a_plan_measured_slower_than_the_library_is_not_chosen_there) {
    for (const Site& site : sites()) {
        for (const MeasuredPlan& row : site.machine.measured_plans) {
            for (const Accuracy word : kWords) {
                const ProductPlan plan = plan_for(row.n, row.type, word, site);
                const ProductPlan slower = plan_with_shape(square(row.n, row.type, word, site), site.machine, row.plan);
                const bool is_library = row.plan.levels.empty() && is_whole_call(row.plan.leaf);
                if (row.relative_time >= 1 && !is_library) {
                    EXPECT_FALSE(plan.levels == slower.levels && plan.leaf == slower.leaf) << to_string(plan);
                }
            }
        }
    }
}

TEST(smooth_plans, balanced_keeps_its_levels_where_only_fast_plans_were_measured) {
    const Site site = tuned_h200();
    for (const Type type : {Type::f32, Type::f64}) {
        const auto gain = [&](std::int64_t n) {
            const Problem problem = square(n, type, Accuracy::balanced, site);
            return library_plan(problem, site.machine, site.limits).predicted_s /
                   plan_for(n, type, Accuracy::balanced, site).predicted_s;
        };
        const double gain_8192 = gain(8192), gain_16384 = gain(16384);
        EXPECT_GT(gain_8192, 1.1);
        EXPECT_GT(gain_16384, 1.1);
        constexpr double kMostDoubt = 1.1;  // of plans that nobody ran, where others were measured
        EXPECT_GT(kMostDoubt * gain_16384, 0.97 * gain_8192);
    }
}

}  // namespace
}  // namespace heptad
