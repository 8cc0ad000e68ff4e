// What the environment asks of the cuBLAS drop-in (docs/drop-in.md), which is read at the first call of a process: each
// in a child that has made none.
#include <gtest/gtest.h>

#include <cstdlib>

#include "api/cublas/entry_signatures.hpp"
#include "api/cublas/made_up_cublas.hpp"
#include "citizen/child.hpp"

extern "C" heptad::cublas_testing::Gemm<int> cublasSgemm_v2;

namespace {

/// "exit 1": such a call is looked at; "exit 0": it is passed on at once.
std::string looks_at(const char* name, const char* value, int n) {
    return heptad::citizen::in_child([&] {
        setenv(name, value, 1);
        const float one = 1;
        int handle = 0;
        const int status = cublasSgemm_v2(&handle, 0, 0, n, n, n, &one, &handle, n, &handle, n, &one, &handle, n);
        return status != kStatusOf12 ? 100 : made_up_cublas_12.questions > 0 ? 1 : 0;
    });
}

constexpr int kLarge = 8192;

}  // namespace

TEST(cublas_knobs, off_and_no_workspace_pass_everything_on) {
    EXPECT_EQ(looks_at("HEPTAD_OFF", "0", kLarge), "exit 1");
    EXPECT_EQ(looks_at("HEPTAD_OFF", "1", kLarge), "exit 0");
    EXPECT_EQ(looks_at("HEPTAD_WORKSPACE", "0", kLarge), "exit 0");
    EXPECT_EQ(looks_at("HEPTAD_WORKSPACE", "8G", kLarge), "exit 1");
}

TEST(cublas_knobs, the_smallest_size_goes_before_the_table) {
    EXPECT_EQ(looks_at("HEPTAD_MIN_SIZE", "", 256), "exit 0");
    EXPECT_EQ(looks_at("HEPTAD_MIN_SIZE", "16", 16), "exit 1");
    EXPECT_EQ(looks_at("HEPTAD_MIN_SIZE", "16", 15), "exit 0");
    EXPECT_EQ(looks_at("HEPTAD_MIN_SIZE", "9000", kLarge), "exit 0");
}

TEST(cublas_knobs, tf32_that_is_forced_upon_all_is_left_to_cublas) {
    EXPECT_EQ(looks_at("NVIDIA_TF32_OVERRIDE", "1", kLarge), "exit 0");
    EXPECT_EQ(looks_at("NVIDIA_TF32_OVERRIDE", "0", kLarge), "exit 1");
}
