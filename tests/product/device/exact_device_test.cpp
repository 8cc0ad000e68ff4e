// Forced levels at small sizes on a CUDA device, against the definition in integers: every type, algorithm, mode and
// layout that the CPU test has, the operands in device memory with guards around them.
#include "base/device_layout.hpp"
#include "product/device/device_matrix.hpp"
#include "product/device/device_product.hpp"
#include "product/memory/product_cases.hpp"

namespace heptad::test {
namespace {

Counts check_on_device(Type type, int count, unsigned seed, const Adjust& adjust = {}) {
    const cuda::Stream stream(0);
    const Contestant device{
        [](const Case& x, const Options& options, const ProductContext& context) {
            return plan_device_product(x.m, x.k, x.n, x.type, options, context);
        },
        [&](const Case& x, const CaseOperands& operands, const Options& options, ProductContext context) {
            DeviceMatrixCopy a(operands.a, stream.handle()), b(operands.b, stream.handle()),
                c(operands.c, stream.handle());
            context.stream = stream.handle();
            const RunReport report =
                multiply_on_device(x.alpha, meant(a.view(), operands.transpose_a),
                                   meant(b.view(), operands.transpose_b), x.beta, c.view(), options, context);
            a.fetch();
            b.fetch();
            c.fetch();
            stream.synchronize();
            return report;
        }};
    return check_products(device, type, count, seed, [&](Case& x, Random& random) {
        x.options.device = "cuda";
        if (adjust) {
            adjust(x, random);
        }
    });
}

TEST(exact_device, f32_equals_the_definition_bit_for_bit) {
    HEPTAD_NEEDS_DEVICE();
    const Counts counts = check_on_device(Type::f32, 4000, 11);
    EXPECT_GT(counts.with_levels * 2, counts.products);
    EXPECT_GT(counts.exact * 3, counts.products * 2);
    EXPECT_GT(counts.four_levels * 200, counts.products);
}

TEST(exact_device, f64_equals_the_definition_bit_for_bit) {
    HEPTAD_NEEDS_DEVICE();
    const Counts counts = check_on_device(Type::f64, 4000, 12);
    EXPECT_GT(counts.with_levels * 2, counts.products);
    EXPECT_GT(counts.exact * 6, counts.products * 5);
}

TEST(exact_device, i32_equals_the_definition_mod_2_32) {
    HEPTAD_NEEDS_DEVICE();
    const Counts counts = check_on_device(Type::i32, 4000, 13);
    EXPECT_GT(counts.with_levels * 2, counts.products);
    EXPECT_EQ(counts.exact, counts.products);
}

TEST(exact_device, f16_has_levels_where_beta_is_zero_and_is_exact_where_it_fits) {
    HEPTAD_NEEDS_DEVICE();
    const Counts counts = check_on_device(Type::f16, 2000, 16);
    EXPECT_GT(counts.with_levels * 20, counts.products);
    EXPECT_LT(counts.with_levels * 2, counts.products);
    EXPECT_GT(counts.exact * 4, counts.products);
}

TEST(exact_device, batches_by_the_kernel_of_one_product_are_exact) {
    HEPTAD_NEEDS_DEVICE();
    const Counts counts =
        check_on_device(Type::f32, 500, 17, [](Case& x, Random&) { x.options.leaf = "cublaslt-batched"; });
    EXPECT_GT(counts.with_levels * 2, counts.products);
}

TEST(exact_device, products_by_a_kernel_of_our_choice_are_exact) {
    HEPTAD_NEEDS_DEVICE();
    for (const int levels : {0, 1}) {
        check_on_device(Type::f32, 300, 19, [&](Case& x, Random&) {
            x.options.leaf = "cublaslt";
            x.options.levels = levels;
        });
        check_on_device(Type::f64, 300, 20, [&](Case& x, Random&) {
            x.options.leaf = "cublaslt";
            x.options.levels = levels;
        });
    }
}

TEST(exact_device, residues_are_exact) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64}) {
        for (const Accuracy accuracy : {Accuracy::balanced, Accuracy::fast}) {
            const Counts counts = check_on_device(type, 700, 23, [&](Case& x, Random&) {
                x.options.leaf = kResidueLeaf;
                x.options.levels = 0;
                x.options.accuracy = accuracy;
            });
            EXPECT_GT(counts.exact * 3, counts.products * 2);
        }
    }
}

TEST(exact_device, tf32_and_bf16_are_exact_where_they_fit_and_within_the_bound_elsewhere) {
    HEPTAD_NEEDS_DEVICE();
    for (const auto& [type, seed] : {std::pair{Type::tf32, 14U}, {Type::bf16, 15U}}) {
        const Counts counts = check_on_device(type, 2500, seed);
        EXPECT_GT(counts.with_levels * 2, counts.products) << type_name(type);
        EXPECT_GT(counts.exact * 8, counts.products) << type_name(type);
    }
}

}  // namespace
}  // namespace heptad::test
