// Products by residues as a device runs them, by loops on the host: tiles of C, C by rows and by columns, more moduli
// for less even data, and the classical product where there are none.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "algorithm/winograd_sums.hpp"
#include "base/device_layout.hpp"
#include "base/error.hpp"
#include "base/half.hpp"
#include "base/moduli.hpp"
#include "kernels/guarded_matrix.hpp"
#include "kernels/reference/reference_backend.hpp"
#include "plan/search/device_residue_plan.hpp"
#include "plan/search/planner.hpp"
#include "run/dense/runner.hpp"

namespace heptad::test {
namespace {

/// Exact, in place of a device: planes hold residues of the integers that the matrices consist of, at most 5 in size.
class HostResidues final : public Backend, private DeferredGuard, private ResidueKernels {
public:
    std::string name() const override { return "cuda"; }
    void combine(const CombinePass& pass) override { loops_.combine(pass); }
    void multiply(std::span<const Product> batch, const std::string&) override { loops_.multiply(batch, "reference"); }
    ScanResult scan(const ConstView& view) override { return loops_.scan(view); }
    void copy(const ConstView& from, const View& to) override { loops_.copy(from, to); }
    std::vector<std::string> leaves(Type type) const override { return loops_.leaves(type); }
    DeferredGuard* deferred_guard() override { return this; }
    ResidueKernels* residue_kernels() override { return this; }
    void begin_product(void* memory, std::int64_t bytes) override { std::memset(memory, 0xee, checked_size(bytes)); }

    bool is_safe = true;
    int products_of_planes = 0, conversions[2] = {};
    std::optional<ResidueKernels::Norms> norms = ResidueKernels::Norms{9, 9};
    int taken() const { return taken_; }

private:
    static std::size_t checked_size(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }
    static double element(const ConstView& x, std::int64_t i, std::int64_t j) {
        return get_element(x.type, element_pointer(x, i, j));
    }
    void start(const GuardLimits& limits, std::int64_t m, std::int64_t k, std::int64_t n) override {
        EXPECT_TRUE(std::isinf(limits.a) && std::isinf(limits.product));
        size_ = {m, k, n};
    }
    ProductExponents judge_evenness(const ConstView&, const ConstView&) override { return {}; }
    void watch(int, const ConstView&) override {}
    void answer_if_unsafe(const Product& product, std::span<std::byte>) override {
        if (!is_safe) {
            loops_.multiply({&product, 1}, "reference");
        }
    }
    void finish() override {}

    void measure(const ConstView& a, const ConstView& b, const Choice& choice, void* notes) override {
        EXPECT_EQ(a.rows, size_.m);
        EXPECT_EQ(b.cols, size_.n);
        std::memset(notes, 0xdd, checked_size(residue_notes_bytes(a.rows, b.cols)));
        taken_ = is_safe ? choice.most : 0;
        a_ = a;
        b_ = b;
    }
    std::optional<Norms> measure_exactly(const ConstView& a, const ConstView& b, void* notes) override {
        std::memset(notes, 0xdd, checked_size(residue_notes_bytes(a.rows, b.cols)));
        size_ = {a.rows, a.cols, b.cols};
        a_ = a;
        b_ = b;
        return norms;
    }
    void take_moduli(int count, const std::optional<Norms>& known) override {
        EXPECT_EQ(known.has_value(), count == 0 || norms.has_value());
        taken_ = count;
        is_exact_ = true;
    }
    void convert(std::span<const Block> blocks) override {
        for (const Block& one : blocks) {
            convert(one.operand, one.block, one.first, one.to);
        }
    }
    void convert(int operand, const ConstView& block, std::int64_t first, const ResiduePlanes& to) {
        ++conversions[operand];
        const ConstView lines = operand == 0 ? block : transposed(block);
        const ConstView all = operand == 0 ? a_ : transposed(b_);
        const std::int64_t side = std::int64_t{1} << to.levels;
        EXPECT_GE(to.lines * side, lines.rows);
        EXPECT_GE(to.line_bytes * side, lines.cols);
        EXPECT_EQ(lines.data, element_pointer(all, first, 0));
        const auto number = [&](std::int64_t i, std::int64_t p) {
            return i < lines.rows && p < lines.cols ? static_cast<int>(element(lines, i, p)) : 0;
        };
        for (std::int64_t i = 0; i < to.lines; ++i) {
            for (std::int64_t p = 0; p < to.line_bytes; ++p) {
                std::vector<int> sums;
                add_sums(
                    to.levels, operand,
                    [&](std::int64_t row, std::int64_t col) {
                        return operand == 0 ? number(row * to.lines + i, col * to.line_bytes + p)
                                            : number(col * to.lines + i, row * to.line_bytes + p);
                    },
                    sums);
                for (std::size_t plane = 0; plane < sums.size() * static_cast<std::size_t>(taken_); ++plane) {
                    static_cast<std::int8_t*>(
                        to.data)[static_cast<std::int64_t>(plane) * to.plane_bytes + i * to.line_bytes + p] =
                        static_cast<std::int8_t>(sums[plane % sums.size()]);
                }
            }
        }
    }
    /// Sums of the blocks of a number's place, level by level.
    static void add_sums(int levels, int operand, const std::function<int(std::int64_t, std::int64_t)>& block,
                         std::vector<int>& sums) {
        if (levels == 0) {
            sums.push_back(block(0, 0));
            return;
        }
        const std::int64_t half = std::int64_t{1} << (levels - 1);
        for (std::size_t r = 0; r < kWinogradProducts; ++r) {
            add_sums(
                levels - 1, operand,
                [&](std::int64_t row, std::int64_t col) {
                    int of_level[kWinogradProducts];
                    const int x[4] = {block(row, col), block(row, half + col), block(half + row, col),
                                      block(half + row, half + col)};
                    if (operand == 0) {
                        winograd_sums_of_a(x[0], x[1], x[2], x[3], of_level);
                    } else {
                        winograd_sums_of_b(x[0], x[1], x[2], x[3], of_level);
                    }
                    return of_level[r];
                },
                sums);
        }
    }
    /// The blocks of C from products, by rows of blocks.
    static std::vector<int> blocks_of(int levels, const int* products) {
        if (levels == 0) {
            return {*products};
        }
        const int each = winograd_products(levels - 1);
        std::vector<std::vector<int>> inner;
        for (int r = 0; r < kWinogradProducts; ++r) {
            inner.push_back(blocks_of(levels - 1, products + r * each));
        }
        const std::size_t half = std::size_t{1} << (levels - 1);
        std::vector<int> blocks(4 * half * half);
        for (std::size_t i = 0; i < half * half; ++i) {
            int p[kWinogradProducts], c[4];
            for (std::size_t r = 0; r < kWinogradProducts; ++r) {
                p[r] = inner[r][i];
            }
            winograd_result(p, c);
            for (std::size_t q = 0; q < 4; ++q) {
                blocks[(q / 2 * half + i / half) * 2 * half + q % 2 * half + i % half] = c[q];
            }
        }
        return blocks;
    }
    void multiply_planes(const ResiduePlanes& a, const ResiduePlanes& b, const ResiduePlanes& c) override {
        ++products_of_planes;
        EXPECT_EQ(a.lines, c.lines);
        EXPECT_GE(c.line_bytes, b.lines);
        const int products = winograd_products(a.levels);
        for (int plane = 0; plane < taken_ * products; ++plane) {
            const int p = kModuli[static_cast<std::size_t>(plane / products)];
            const auto* const left = static_cast<const std::int8_t*>(a.data) + plane * a.plane_bytes;
            const auto* const right = static_cast<const std::int8_t*>(b.data) + plane * b.plane_bytes;
            auto* const to = static_cast<std::uint8_t*>(c.data) + plane * c.plane_bytes;
            for (std::int64_t i = 0; i < a.lines; ++i) {
                for (std::int64_t j = 0; j < b.lines; ++j) {
                    int sum = 0;
                    for (std::int64_t l = 0; l < a.line_bytes; ++l) {
                        sum += left[i * a.line_bytes + l] * right[j * b.line_bytes + l];
                    }
                    to[i * c.line_bytes + j] = static_cast<std::uint8_t>((sum % p + p) % p);
                }
            }
        }
    }
    void rebuild(const ResiduePlanes& from, double alpha, double beta, const View& c, std::int64_t row,
                 std::int64_t col) override {
        EXPECT_TRUE(row + c.rows <= size_.m || taken_ == 0);
        EXPECT_TRUE(col + c.cols <= size_.n || taken_ == 0);
        const int products = winograd_products(from.levels);
        const std::int64_t side = std::int64_t{1} << from.levels;
        const auto residue = [&](int t, std::int64_t i, std::int64_t j) {
            std::vector<int> of_products;
            for (int r = 0; r < products; ++r) {
                of_products.push_back(static_cast<const std::uint8_t*>(
                    from.data)[(t * products + r) * from.plane_bytes + i % from.lines * from.line_bytes +
                               j % from.line_bytes]);
            }
            const std::vector<int> blocks = blocks_of(from.levels, of_products.data());
            const int p = kModuli[static_cast<std::size_t>(t)];
            const int x = blocks[static_cast<std::size_t>(i / from.lines * side + j / from.line_bytes)];
            return (x % p + p) % p;
        };
        for (std::int64_t i = 0; i < c.rows && (taken_ > 0 || is_exact_); ++i) {
            for (std::int64_t j = 0; j < c.cols; ++j) {
                const int second = taken_ == 0 ? 0 : residue(1, i, j), first = taken_ == 0 ? 0 : residue(0, i, j);
                int value = std::numeric_limits<int>::max();  // sums here are small, so two moduli tell them
                for (int candidate = first - 256 * 100; candidate < 256 * 100; candidate += 256) {
                    const bool fits = (candidate % 255 + 255) % 255 == second;
                    value = fits ? candidate : value;
                }
                auto* const entry = element_pointer(c, i, j);
                set_element(c.type, entry, alpha * value + (beta == 0 ? 0 : beta * get_element(c.type, entry)));
            }
        }
    }

    ReferenceBackend loops_;
    ProblemSize size_;
    ConstView a_, b_;
    int taken_ = 0;
    bool is_exact_ = false;
};

struct Operands {
    GuardedMatrix a, b, c;
    Operands(std::int64_t m, std::int64_t k, std::int64_t n, Layout layout)
        : a(Type::f32, m, k, Layout::rows), b(Type::f32, k, n, Layout::columns), c(Type::f32, m, n, layout) {
        std::mt19937 random(1);
        a.fill_random(random, 3);
        b.fill_random(random, 3);
        c.fill_random(random, 3);
    }
};

ProductPlan plan_of(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t tile_m, std::int64_t tile_n,
                    std::size_t levels = 0) {
    Problem problem{m, k, n, Type::f32, 1, {}};
    problem.options.device = "cuda";
    problem.options.accumulate = true;
    ProductPlan plan = plan_with_shape(problem, Machine{}, {std::vector<std::string>(levels, kHalving), kResidueLeaf});
    EXPECT_EQ(plan.levels.size(), levels);
    plan.tile_m = tile_m;
    plan.tile_n = tile_n;
    plan.workspace_bytes = device_residue_layout(plan).bytes();
    check_plan(plan);
    return plan;
}

TEST(device_residues, tiles_of_any_shape_make_up_the_product) {
    for (const Layout layout : {Layout::rows, Layout::columns}) {
        for (const auto& [tile_m, tile_n] : {std::pair{50, 41}, {20, 41}, {50, 16}, {17, 13}, {1, 41}, {50, 1}}) {
            for (const double beta : {0.0, -2.0}) {
                Operands x(50, 33, 41, layout);
                const ProductPlan plan = plan_of(50, 33, 41, tile_m, tile_n);
                GuardedMatrix expected = x.c;
                ReferenceBackend loops;
                const Product product{3, x.a.view(), x.b.view(), beta, expected.view()};
                loops.multiply({&product, 1}, "reference");
                HostResidues backend;
                std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
                if (beta == 0) {
                    x.c.fill(std::numeric_limits<double>::quiet_NaN());
                }
                const RunReport report =
                    run_plan(plan, backend, 3, x.a.view(), x.b.view(), beta, x.c.view(), workspace.data());
                EXPECT_TRUE(x.c.equals(expected)) << tile_m << " x " << tile_n << " beta " << beta;
                EXPECT_LE(report.workspace_used_bytes, plan.workspace_bytes);
                const int across = (41 + tile_n - 1) / tile_n, down = (50 + tile_m - 1) / tile_m;
                EXPECT_EQ(backend.products_of_planes, across * down);
            }
        }
    }
}

TEST(device_residues, levels_inside_change_nothing) {
    for (const Layout layout : {Layout::rows, Layout::columns}) {
        for (const auto& [m, k, n] : {std::tuple{50, 33, 41}, {64, 128, 32}, {4, 5, 67}, {99, 4, 6}}) {
            for (const std::size_t levels : {1U, 2U}) {
                Operands x(m, k, n, layout);
                const ProductPlan plan = plan_of(m, k, n, (m + 1) / 2, n, levels);
                GuardedMatrix expected = x.c;
                ReferenceBackend loops;
                const Product product{3, x.a.view(), x.b.view(), -2, expected.view()};
                loops.multiply({&product, 1}, "reference");
                HostResidues backend;
                std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
                run_plan(plan, backend, 3, x.a.view(), x.b.view(), -2, x.c.view(), workspace.data());
                EXPECT_TRUE(x.c.equals(expected)) << m << " x " << k << " x " << n << ", levels " << levels;
            }
        }
    }
}

ProductPlan exact_plan(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t tile_m, std::int64_t tile_n,
                       int levels = 0) {
    Problem problem{m, k, n, Type::f32, 1, {}};
    problem.options.device = "cuda";
    problem.options.accuracy = Accuracy::exact;
    problem.options.accumulate = true;
    problem.options.levels = levels;
    ProductPlan plan = make_plan(problem, Machine{});
    EXPECT_EQ(plan.levels.size(), static_cast<std::size_t>(levels));
    plan.tile_m = tile_m;
    plan.tile_n = tile_n;
    plan.workspace_bytes = device_residue_layout(plan).bytes();
    check_plan(plan);
    return plan;
}

TEST(device_residues, products_that_are_rounded_once_take_the_moduli_that_the_data_needs) {
    using Norms = ResidueKernels::Norms;
    for (const Layout layout : {Layout::rows, Layout::columns}) {
        for (const std::optional<Norms>& norms :
             {std::optional(Norms{9, 5}), std::optional(Norms{90, 90}), std::optional<Norms>()}) {
            for (const int levels : {0, 1, 2}) {
                Operands x(50, 33, 41, layout);
                const ProductPlan plan = exact_plan(50, 33, 41, 17, 20, levels);
                GuardedMatrix expected = x.c;
                ReferenceBackend loops;
                const Product product{3, x.a.view(), x.b.view(), -2, expected.view()};
                loops.multiply({&product, 1}, "reference");
                HostResidues backend;
                backend.norms = norms;
                std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
                const RunReport report =
                    run_plan(plan, backend, 3, x.a.view(), x.b.view(), -2, x.c.view(), workspace.data());
                EXPECT_TRUE(x.c.equals(expected)) << levels;
                EXPECT_LE(report.workspace_used_bytes, plan.workspace_bytes);
                EXPECT_EQ(backend.taken(), norms ? moduli_for(norms->a + norms->b) : kMostModuli);
            }
        }
    }
}

TEST(device_residues, fewer_moduli_than_planned_leave_room_for_larger_tiles) {
    Operands x(50, 33, 41, Layout::rows);
    const ProductPlan plan = exact_plan(50, 33, 41, 25, 41);
    HostResidues backend;
    backend.norms = {9, 5};  // two of twenty-four
    std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
    run_plan(plan, backend, 1, x.a.view(), x.b.view(), 0, x.c.view(), workspace.data());
    EXPECT_EQ(backend.products_of_planes, 1);
}

TEST(device_residues, zeros_are_not_multiplied) {
    for (const bool by_alpha : {false, true}) {
        Operands x(50, 33, 41, Layout::rows);
        const ProductPlan plan = exact_plan(50, 33, 41, 50, 41);
        HostResidues backend;
        backend.norms = {by_alpha ? 9.0 : 0.0, 300};
        GuardedMatrix expected = x.c;
        for (std::int64_t i = 0; i < 50; ++i) {
            for (std::int64_t j = 0; j < 41; ++j) {
                expected.set(i, j, 2 * expected.get(i, j));
            }
        }
        std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
        run_plan(plan, backend, by_alpha ? 0 : 1, x.a.view(), x.b.view(), 2, x.c.view(), workspace.data());
        EXPECT_TRUE(x.c.equals(expected));
        EXPECT_EQ(backend.products_of_planes, 0);
    }
}

TEST(device_residues, data_beyond_the_moduli_is_refused_and_c_is_as_it_was) {
    for (const Layout layout : {Layout::rows, Layout::columns}) {
        Operands x(50, 33, 41, layout);
        const ProductPlan plan = exact_plan(50, 33, 41, 50, 41);
        HostResidues backend;
        backend.norms = layout == Layout::rows ? ResidueKernels::Norms{150, 40} : ResidueKernels::Norms{40, 150};
        const GuardedMatrix before = x.c;
        std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
        try {
            run_plan(plan, backend, 1, x.a.view(), x.b.view(), 0, x.c.view(), workspace.data());
            FAIL() << "was not refused";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input);
            EXPECT_NE(std::string(error.what()).find("takes 190 bits: rows of A span up to 150"), std::string::npos)
                << error.what();
        }
        EXPECT_TRUE(x.c.equals_byte_for_byte(before));
    }
}

/// What ByteRemainder (kernels/cuda/residue/residue_levels.cuh) does in f16: a reciprocal of eleven bits, a quotient
/// rounded to an integer, ties to even, and a remainder that f16 holds.
TEST(device_residues, sums_of_sixteen_bytes_are_reduced_to_bytes_in_f16) {
    for (int t = 0; t < kMostModuli; ++t) {
        const int p = kModuli[static_cast<std::size_t>(t)];
        const double reciprocal = to_float(to_f16(static_cast<float>(1.0 / p)));
        for (int x = -16 * 128; x <= 16 * 128; ++x) {
            const int quotient = static_cast<int>(std::nearbyint(x * reciprocal));
            const int rest = x - p * quotient;
            ASSERT_LE(std::abs(rest), p == 256 ? 128 : 127) << x << " modulo " << p;
        }
    }
}

TEST(device_residues, operands_are_converted_once_where_there_is_room) {
    Operands x(50, 33, 41, Layout::rows);
    const ProductPlan plan = plan_of(50, 33, 41, 17, 41);
    HostResidues backend;
    std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
    run_plan(plan, backend, 1, x.a.view(), x.b.view(), 0, x.c.view(), workspace.data());
    EXPECT_EQ(backend.conversions[0], 3);
    EXPECT_EQ(backend.conversions[1], 1);
}

TEST(device_residues, the_classical_product_answers_where_the_guard_says_so) {
    for (const double alpha : {2.0, 0.0, std::numeric_limits<double>::infinity()}) {
        Operands x(20, 30, 25, Layout::rows);
        const ProductPlan plan = plan_of(20, 30, 25, 20, 25);
        GuardedMatrix expected = x.c;
        ReferenceBackend loops;
        const Product product{alpha, x.a.view(), x.b.view(), 1, expected.view()};
        loops.multiply({&product, 1}, "reference");
        HostResidues backend;
        backend.is_safe = false;
        std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
        run_plan(plan, backend, alpha, x.a.view(), x.b.view(), 1, x.c.view(), workspace.data());
        EXPECT_TRUE(x.c.equals_byte_for_byte(expected)) << alpha;
    }
}

TEST(device_residues, cancelling_leaves_the_rest_undone) {
    Operands x(50, 33, 41, Layout::rows);
    const ProductPlan plan = plan_of(50, 33, 41, 10, 41);
    HostResidues backend;
    std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes));
    CancelToken cancel;
    RunHooks hooks;
    hooks.cancel = &cancel;
    hooks.progress = [&](const Progress& progress) {
        if (progress.fraction > 0.3) {
            cancel.cancel();
        }
    };
    EXPECT_THROW(run_plan(plan, backend, 1, x.a.view(), x.b.view(), 0, x.c.view(), workspace.data(), hooks), Error);
    EXPECT_LT(backend.products_of_planes, 5);
    EXPECT_GT(backend.products_of_planes, 0);
}

}  // namespace
}  // namespace heptad::test
