// Which of the measured kernels a size gets.
#include "kernels/cuda/vendor/vendor_kernels.hpp"

#include <gtest/gtest.h>

namespace heptad::test {
namespace {

using cuda::kernels_by_distance;
using cuda::KernelUse;
using Names = std::vector<std::string>;

/// For a product stored by rows, which the library sees by columns.
Names batched_by_rows(const cuda::VendorKernels& kernels, Type type, std::int64_t m, std::int64_t k, std::int64_t n) {
    return kernels_by_distance(kernels, type, KernelUse::batched, {n, m, k});
}

TEST(vendor_kernels, the_nearest_size_comes_first_and_only_the_type_that_was_asked_for) {
    const cuda::VendorKernels kernels{{Type::bf16, 1024, 1024, 1024, "small"},
                                      {Type::bf16, 2048, 2048, 2048, "large"},
                                      {Type::f64, 2048, 2048, 2048, "other"}};
    EXPECT_EQ(batched_by_rows(kernels, Type::bf16, 1100, 1024, 1024), (Names{"small", "large"}));
    EXPECT_EQ(batched_by_rows(kernels, Type::bf16, 2000, 1900, 2048), (Names{"large", "small"}));
    EXPECT_EQ(batched_by_rows(kernels, Type::f64, 1024, 4096, 2048), Names{"other"});
    EXPECT_EQ(batched_by_rows(kernels, Type::f16, 1024, 1024, 1024), Names{});
    EXPECT_EQ(batched_by_rows({}, Type::f64, 1, 1, 1), Names{});
}

TEST(vendor_kernels, sizes_more_than_twice_away_tell_nothing) {
    const cuda::VendorKernels kernels{{Type::bf16, 1024, 1024, 1024, "only"}};
    EXPECT_EQ(batched_by_rows(kernels, Type::bf16, 2048, 512, 1024), Names{"only"});
    EXPECT_EQ(batched_by_rows(kernels, Type::bf16, 2049, 1024, 1024), Names{});
    EXPECT_EQ(batched_by_rows(kernels, Type::bf16, 1024, 1024, 511), Names{});
}

TEST(vendor_kernels, thin_sizes_get_those_of_thin_samples_and_no_name_comes_twice) {
    const cuda::VendorKernels kernels{{Type::tf32, 4096, 4096, 4096, "square"},
                                      {Type::tf32, 4096, 4096, 1024, "thin"},
                                      {Type::tf32, 8192, 8192, 8192, "square"}};
    EXPECT_EQ(batched_by_rows(kernels, Type::tf32, 4096, 4096, 1500), Names{"thin"});
    EXPECT_EQ(batched_by_rows(kernels, Type::tf32, 4096, 4096, 2048), (Names{"square", "thin"}));
    EXPECT_EQ(batched_by_rows(kernels, Type::tf32, 6000, 6000, 6000), Names{"square"});
}

TEST(vendor_kernels, rows_and_columns_are_not_exchanged) {
    const cuda::VendorKernels kernels{{Type::f64, 512, 1024, 2048, "wide"}, {Type::f64, 2048, 1024, 512, "tall"}};
    EXPECT_EQ(batched_by_rows(kernels, Type::f64, 512, 1024, 2048), Names{"wide"});
    EXPECT_EQ(batched_by_rows(kernels, Type::f64, 2048, 1024, 512), Names{"tall"});
    // Stored by columns, a product 512 x 1024 x 2048 is to the library what 2048 x 1024 x 512 is by rows.
    EXPECT_EQ(kernels_by_distance(kernels, Type::f64, KernelUse::batched, {512, 2048, 1024}), Names{"tall"});
}

TEST(vendor_kernels, those_of_lone_products_and_of_batches_are_kept_apart) {
    const cuda::VendorKernels kernels{{Type::f32, 64, 64, 64, "many"},
                                      {Type::f32, 64, 64, 64, "one", KernelUse::alone}};
    EXPECT_EQ(kernels_by_distance(kernels, Type::f32, KernelUse::batched, {64, 64, 64}), Names{"many"});
    EXPECT_EQ(kernels_by_distance(kernels, Type::f32, KernelUse::alone, {64, 64, 64}), Names{"one"});
}

}  // namespace
}  // namespace heptad::test
