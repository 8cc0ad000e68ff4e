// Plans with a fused level on a CUDA device: right to the last bit on small integers, around the edges of tiles, in
// every order and layout; with no more workspace than told, which is none for one level; classical where the input is
// not finite; and the same bits every time.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "io/device_machine.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"
#include "plan/search/fused_instances.hpp"
#include "plan/search/planner.hpp"
#include "product/device/device_matrix.hpp"
#include "product/device/device_product.hpp"

namespace heptad::test {
namespace {

using Random = std::mt19937;

int pick(Random& random, int lowest, int highest) {
    return std::uniform_int_distribution<int>(lowest, highest)(random);
}

/// A fused level is only given to types and algorithms that the device has kernels for.
bool device_fuses(Type type, const std::string& algorithm) {
    const OperandCounts most = fused_instances(algorithm).most;
    return cuda::backend_for(0, nullptr)->fuses(type, most.a, most.b, most.c);
}

#define HEPTAD_NEEDS_FUSED_KERNELS(type)                                        \
    HEPTAD_NEEDS_DEVICE();                                                      \
    if (!device_fuses(type, "strassen")) {                                      \
        GTEST_SKIP() << "no fused kernels for " << type_name(type) << " there"; \
    }

ProductPlan plan_for(Type type, std::int64_t m, std::int64_t k, std::int64_t n, bool accumulate,
                     const std::vector<LevelPlan>& levels) {
    Problem problem{m, k, n, type, 1, {}};
    problem.options.device = "cuda";
    problem.options.accumulate = accumulate;
    return plan_with_levels(problem, load_device_machine(0), levels);
}

/// In a workspace of exactly the bytes told.
void run_on_device(const ProductPlan& plan, double alpha, GuardedMatrix& a, GuardedMatrix& b, double beta,
                   GuardedMatrix& c, const cuda::Stream& stream) {
    DeviceMatrixCopy device_a(a, stream.handle()), device_b(b, stream.handle()), device_c(c, stream.handle());
    const cuda::DeviceMemory workspace(0, plan.workspace_bytes, stream.handle());
    ProductContext context;
    context.stream = stream.handle();
    context.workspace = workspace.data();
    context.workspace_bytes = plan.workspace_bytes;
    multiply_on_device(alpha, device_a.view(), device_b.view(), beta, device_c.view(), plan, 0, context);
    device_a.fetch();
    device_b.fetch();
    device_c.fetch();
    stream.synchronize();
}

GuardedMatrix by_definition(double alpha, const GuardedMatrix& a, const GuardedMatrix& b, double beta,
                            const GuardedMatrix& old) {
    GuardedMatrix c = old;
    for (std::int64_t i = 0; i < c.view().rows; ++i) {
        for (std::int64_t j = 0; j < c.view().cols; ++j) {
            double sum = 0;
            for (std::int64_t q = 0; q < a.view().cols; ++q) {
                sum += a.get(i, q) * b.get(q, j);
            }
            c.set(i, j, alpha * sum + (beta == 0 ? 0 : beta * old.get(i, j)));
        }
    }
    return c;
}

std::int64_t pick_size(Random& random) {
    constexpr int edges[] = {16, 32, 64, 128, 256};
    switch (pick(random, 0, 3)) {
        case 0:
            return pick(random, 4, 40);
        case 1:
            return std::max(4, edges[pick(random, 0, 4)] + pick(random, -2, 2));
        default:
            return pick(random, 4, 150);
    }
}

std::vector<LevelPlan> pick_levels(Type type, Random& random) {
    LevelPlan fused{"strassen", LevelMode::fused, "", fused_orders[pick(random, 0, 4)],
                    fused_tiles[pick(random, 0, 6)]};
    constexpr const char* others[] = {"winograd", "strassen*strassen", "2x2x3-11"};
    if (const char* other = others[pick(random, 0, 2)]; pick(random, 0, 2) == 0 && device_fuses(type, other)) {
        fused.algorithm = other;
    }
    std::vector<LevelPlan> levels;
    if (pick(random, 0, 3) == 0) {
        levels.push_back({"winograd", pick(random, 0, 1) == 0 ? LevelMode::parallel : LevelMode::serial, ""});
    }
    levels.push_back(fused);
    return levels;
}

void check_type(Type type, unsigned seed) {
    Random random(seed);
    const cuda::Stream stream(0);
    int fused = 0, hybrid = 0;
    constexpr int kProducts = 1500;
    for (int i = 0; i < kProducts; ++i) {
        const std::int64_t m = pick_size(random), k = pick_size(random), n = pick_size(random);
        constexpr double alphas[] = {1, 1, -2}, betas[] = {0, 0, 1, 3};
        const double alpha = alphas[pick(random, 0, 2)], beta = betas[pick(random, 0, 3)];
        const ProductPlan plan = plan_for(type, m, k, n, beta != 0, pick_levels(type, random));
        GuardedMatrix a(type, m, k, all_layouts[pick(random, 0, 5)]), b(type, k, n, all_layouts[pick(random, 0, 5)]),
            c(type, m, n, all_layouts[pick(random, 0, 5)]);
        a.fill_random(random, 2);
        b.fill_random(random, 2);
        if (beta == 0) {
            c.fill(std::numeric_limits<double>::quiet_NaN());
        } else {
            c.fill_random(random, 2);
        }
        const GuardedMatrix old_a = a, old_b = b;
        const GuardedMatrix expected = by_definition(alpha, a, b, beta, c);
        run_on_device(plan, alpha, a, b, beta, c, stream);
        ASSERT_TRUE(c.equals(expected)) << "product " << i << ", alpha " << alpha << ", beta " << beta << ": "
                                        << to_string(plan);
        ASSERT_TRUE(a.equals_byte_for_byte(old_a) && b.equals_byte_for_byte(old_b)) << to_string(plan);
        const bool is_alone = plan.levels.size() == 1 && plan.levels.back().mode == LevelMode::fused;
        ASSERT_TRUE(!is_alone || plan.workspace_bytes == 0) << to_string(plan);
        fused += is_alone ? 1 : 0;
        hybrid += plan.levels.size() == 2 ? 1 : 0;
    }
    EXPECT_GT(fused, kProducts / 2);
    EXPECT_GT(hybrid, kProducts / 10);
}

TEST(fused_on_device, f32_equals_the_definition_bit_for_bit) {
    HEPTAD_NEEDS_FUSED_KERNELS(Type::f32);
    check_type(Type::f32, 1);
}

TEST(fused_on_device, f64_equals_the_definition_bit_for_bit) {
    HEPTAD_NEEDS_FUSED_KERNELS(Type::f64);
    check_type(Type::f64, 2);
}

TEST(fused_on_device, input_that_is_not_finite_or_could_overflow_gives_what_the_definition_gives) {
    HEPTAD_NEEDS_FUSED_KERNELS(Type::f32);
    Random random(3);
    const cuda::Stream stream(0);
    constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
    // The second is made of regular blocks, at the edge of a tile, and the third of whole tiles: there the order atomic
    // judges the products in the kernel.
    constexpr ProblemSize kSizes[] = {{67, 67, 67}, {64, 64, 64}, {256, 16, 512}};
    const auto check = [&](const ProblemSize& size, FusedOrder order, double beta, double odd, int operand) {
        const ProductPlan plan = plan_for(Type::f32, size.m, size.k, size.n, beta != 0,
                                          {{"strassen", LevelMode::fused, "", order, FusedTile::huge}});
        GuardedMatrix a(Type::f32, size.m, size.k, Layout::rows), b(Type::f32, size.k, size.n, Layout::rows),
            c(Type::f32, size.m, size.n, Layout::rows);
        a.fill_random(random, 2);
        b.fill_random(random, 2);
        c.fill_random(random, 2);
        GuardedMatrix& changed = operand == 0 ? a : operand == 1 ? b : c;
        changed.set(pick(random, 0, static_cast<int>(changed.view().rows) - 1),
                    pick(random, 0, static_cast<int>(changed.view().cols) - 1), odd);
        const GuardedMatrix expected = by_definition(1, a, b, beta, c);
        run_on_device(plan, 1, a, b, beta, c, stream);
        for (std::int64_t i = 0; i < size.m; ++i) {
            for (std::int64_t j = 0; j < size.n; ++j) {
                const double x = c.get(i, j), y = expected.get(i, j);
                // Large values are rounded differently here and there; what matters is what they are.
                ASSERT_TRUE((std::isnan(x) && std::isnan(y)) || x == y ||
                            (std::isfinite(x) && std::abs(x - y) <= 1e-5 * std::abs(y)))
                    << i << ", " << j << ": " << x << " " << y << ", " << odd << " in operand " << operand << ", beta "
                    << beta << ": " << to_string(plan);
            }
        }
    };
    for (const ProblemSize& size : kSizes) {
        for (const FusedOrder order : fused_orders) {
            for (const double beta : {0.0, 1.0}) {
                for (const double odd : {kNan, kInf, -kInf, 3e38}) {
                    for (const int operand : {0, 1, 2}) {
                        ASSERT_NO_FATAL_FAILURE(check(size, order, beta, odd, operand));
                    }
                }
            }
        }
    }
}

TEST(fused_on_device, the_same_plan_and_input_give_the_same_bits_in_every_order_but_atomic) {
    HEPTAD_NEEDS_FUSED_KERNELS(Type::f32);
    const cuda::Stream stream(0);
    Random random(4);
    std::uniform_real_distribution<double> uniform(-1, 1);
    constexpr std::int64_t kSide = 515;
    GuardedMatrix a(Type::f32, kSide, kSide, Layout::rows), b(Type::f32, kSide, kSide, Layout::rows);
    for (GuardedMatrix* matrix : {&a, &b}) {
        for (std::int64_t i = 0; i < kSide; ++i) {
            for (std::int64_t j = 0; j < kSide; ++j) {
                matrix->set(i, j, uniform(random));
            }
        }
    }
    for (const FusedOrder order : fused_orders) {
        if (order == FusedOrder::atomic) {
            continue;
        }
        const ProductPlan plan =
            plan_for(Type::f32, kSide, kSide, kSide, false, {{"strassen", LevelMode::fused, "", order}});
        GuardedMatrix first(Type::f32, kSide, kSide, Layout::rows);
        run_on_device(plan, 1, a, b, 0, first, stream);
        for (int turn = 0; turn < 20; ++turn) {
            GuardedMatrix again(Type::f32, kSide, kSide, Layout::rows);
            run_on_device(plan, 1, a, b, 0, again, stream);
            ASSERT_TRUE(again.equals_byte_for_byte(first)) << to_string(plan);
        }
    }
}

}  // namespace
}  // namespace heptad::test
