// Which of the measured kernels a size gets.
#include "backend/cuda/vendor_kernels.hpp"

#include <gtest/gtest.h>

namespace heptad::test {
namespace {

using cuda::kernels_by_distance;
using Names = std::vector<std::string>;

TEST(vendor_kernels, the_nearest_size_comes_first_and_only_the_type_that_was_asked_for) {
    const cuda::VendorKernels kernels{{Type::bf16, 1024, 1024, 1024, "small"},
                                      {Type::bf16, 2048, 2048, 2048, "large"},
                                      {Type::f64, 2048, 2048, 2048, "other"}};
    EXPECT_EQ(kernels_by_distance(kernels, Type::bf16, 1100, 1024, 1024), (Names{"small", "large"}));
    EXPECT_EQ(kernels_by_distance(kernels, Type::bf16, 2000, 1900, 2048), (Names{"large", "small"}));
    EXPECT_EQ(kernels_by_distance(kernels, Type::f64, 1024, 4096, 2048), Names{"other"});
    EXPECT_EQ(kernels_by_distance(kernels, Type::f16, 1024, 1024, 1024), Names{});
    EXPECT_EQ(kernels_by_distance({}, Type::f64, 1, 1, 1), Names{});
}

TEST(vendor_kernels, sizes_more_than_twice_away_tell_nothing) {
    const cuda::VendorKernels kernels{{Type::bf16, 1024, 1024, 1024, "only"}};
    EXPECT_EQ(kernels_by_distance(kernels, Type::bf16, 2048, 512, 1024), Names{"only"});
    EXPECT_EQ(kernels_by_distance(kernels, Type::bf16, 2049, 1024, 1024), Names{});
    EXPECT_EQ(kernels_by_distance(kernels, Type::bf16, 1024, 1024, 511), Names{});
}

TEST(vendor_kernels, thin_sizes_get_those_of_thin_samples_and_no_name_comes_twice) {
    const cuda::VendorKernels kernels{{Type::tf32, 4096, 4096, 4096, "square"},
                                      {Type::tf32, 4096, 4096, 1024, "thin"},
                                      {Type::tf32, 8192, 8192, 8192, "square"}};
    EXPECT_EQ(kernels_by_distance(kernels, Type::tf32, 4096, 4096, 1500), Names{"thin"});
    EXPECT_EQ(kernels_by_distance(kernels, Type::tf32, 4096, 4096, 2048), (Names{"square", "thin"}));
    EXPECT_EQ(kernels_by_distance(kernels, Type::tf32, 6000, 6000, 6000), Names{"square"});
}

}  // namespace
}  // namespace heptad::test
