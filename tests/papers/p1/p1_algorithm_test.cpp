// P1's algorithm and the steps of its ablation, carried out by the reference backend: right to the last bit, and as
// many calls as the paper has.
#include "papers/p1/p1_algorithm.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "kernels/guarded_matrix.hpp"
#include "kernels/reference/reference_backend.hpp"

namespace heptad::test {
namespace {

using cli::P1Addition;
using cli::P1Part;
using cli::P1Variant;

class ReferenceDevice final : public cli::P1Device {
public:
    void add(const P1Addition& addition, P1Part part) override {
        CombinePass pass{{addition.target, writable(addition.a), writable(addition.b)}, {{0, {{1, addition.x}}}}};
        std::vector<CombineTerm>& terms = pass.statements.front().terms;
        if (addition.y != 0) {
            terms.push_back({2, addition.y});
        }
        if (addition.keep != 0) {
            terms.push_back({0, addition.keep});
        }
        calls[part] += 1;
        backend_.combine(pass);
    }
    void multiply(const ConstView& a, const ConstView& b, const View& c) override {
        calls[P1Part::product] += 1;
        backend_.multiply(std::vector<Product>{{1, a, b, 0, c}}, "reference");
    }
    void copy(const ConstView& from, const View& to) override {
        calls[P1Part::copy] += 1;
        backend_.copy(from, to);
    }
    std::map<P1Part, int> calls;

private:
    static View writable(const ConstView& v) {
        return {const_cast<void*>(v.data), v.type, v.rows, v.cols, v.row_stride, v.col_stride};
    }
    ReferenceBackend backend_;
};

const std::vector<P1Variant>& variants() {
    static const std::vector<P1Variant> all{{"naive"},
                                            {"double-add", true},
                                            {"swaps", true, true},
                                            {"hoisted", true, true, true},
                                            {"naive-hoisted", false, false, true},
                                            {"keeps-inputs", true, true, false, true}};
    return all;
}

TEST(p1_algorithm, every_variant_is_exact_and_stays_in_its_workspace) {
    std::mt19937 random(1);
    for (const P1Variant& variant : variants()) {
        for (const int levels : {0, 1, 2, 3}) {
            for (const Type type : {Type::i32, Type::f32, Type::f64}) {
                constexpr std::int64_t kSide = 24;
                GuardedMatrix a(type, kSide, kSide, Layout::rows), b(type, kSide, kSide, Layout::rows_padded),
                    c(type, kSide, kSide, Layout::rows_padded);
                a.fill_random(random, 2);
                b.fill_random(random, 2);
                const GuardedMatrix old_a = a, old_b = b;
                GuardedMatrix expected = c;
                for (std::int64_t i = 0; i < kSide; ++i) {
                    for (std::int64_t j = 0; j < kSide; ++j) {
                        double sum = 0;
                        for (std::int64_t q = 0; q < kSide; ++q) {
                            sum += a.get(i, q) * b.get(q, j);
                        }
                        expected.set(i, j, sum);
                    }
                }
                const std::int64_t bytes = cli::p1_workspace_bytes(variant, type, kSide, levels);
                std::vector<std::byte> workspace(static_cast<std::size_t>(bytes) + 64, std::byte{0x5a});
                ReferenceDevice device;
                cli::run_p1(variant, levels, device, a.view(), b.view(), c.view(), workspace.data());
                ASSERT_TRUE(c.equals(expected)) << variant.name << " " << levels;
                for (auto i = static_cast<std::size_t>(bytes); i < workspace.size(); ++i) {
                    ASSERT_EQ(workspace[i], std::byte{0x5a}) << variant.name << " " << levels;
                }
                const bool kept = a.equals_byte_for_byte(old_a) && b.equals_byte_for_byte(old_b);
                ASSERT_EQ(kept, variant.keeps_inputs || levels == 0) << variant.name << " " << levels;
            }
        }
    }
}

/// Calls of one level over nothing.
std::map<P1Part, int> calls_of(const P1Variant& variant) {
    std::vector<std::int32_t> a(16, 1), b(16, 1), c(16);
    std::vector<std::byte> workspace(static_cast<std::size_t>(cli::p1_workspace_bytes(variant, Type::i32, 4, 1)));
    const auto view = [](std::vector<std::int32_t>& x) { return View(x.data(), Type::i32, 4, 4, 4, 1); };
    ReferenceDevice device;
    cli::run_p1(variant, 1, device, view(a), view(b), view(c), workspace.data());
    return device.calls;
}

TEST(p1_algorithm, calls_of_one_level_are_those_of_the_paper) {
    using Calls = std::map<P1Part, int>;
    const auto calls = [](int additions, int copies, int basis) {
        return Calls{
            {P1Part::addition, additions}, {P1Part::product, 7}, {P1Part::copy, copies}, {P1Part::basis, basis}};
    };
    // Lines 5, 6, 8, 11, 14, 17 and 24 to 29; 3, 4, 30 and 31; seven products in place, and four blocks of C.
    EXPECT_EQ(calls_of({"naive"}), calls(12, 11, 6));
    EXPECT_EQ(calls_of({"double-add", true}), calls(11, 11, 4));
    EXPECT_EQ(calls_of({"swaps", true, true}), calls(11, 5, 4));
    EXPECT_EQ(calls_of({"keeps", true, true, false, true}), calls(11, 7, 4));
}

TEST(p1_algorithm, hoisting_makes_changes_of_basis_once_for_all_levels) {
    const auto basis_calls = [](bool hoisted) {
        std::vector<std::int32_t> a(256, 1), b(256, 1), c(256);
        const P1Variant variant{"", true, true, hoisted};
        std::vector<std::byte> workspace(static_cast<std::size_t>(cli::p1_workspace_bytes(variant, Type::i32, 16, 3)));
        const auto view = [](std::vector<std::int32_t>& x) { return View(x.data(), Type::i32, 16, 16, 16, 1); };
        ReferenceDevice device;
        cli::run_p1(variant, 3, device, view(a), view(b), view(c), workspace.data());
        return device.calls[P1Part::basis];
    };
    EXPECT_EQ(basis_calls(false), 4 * (1 + 7 + 49));
    EXPECT_EQ(basis_calls(true), 4 * (1 + 4 + 16));
}

}  // namespace
}  // namespace heptad::test
