// What is known of a pointer without asking a driver.
#include "kernels/cuda/device/loaded_driver.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace heptad::cuda {
namespace {

TEST(loaded_driver, memory_below_the_break_is_of_the_heap_and_no_other) {
    auto* const grown = static_cast<char*>(sbrk(4096));
    ASSERT_NE(grown, reinterpret_cast<char*>(-1));
    EXPECT_TRUE(are_of_heap({grown}));
    EXPECT_TRUE(are_of_heap({grown + 4095}));
    EXPECT_FALSE(are_of_heap({sbrk(0)}));
    EXPECT_FALSE(device_holding(grown).has_value());
    EXPECT_FALSE(device_of_context().has_value()) << "nobody has asked for a device in this process";
    const int local = 0;
    EXPECT_FALSE(are_of_heap({&local}));
    void* const mapped = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    EXPECT_FALSE(are_of_heap({mapped}));
    munmap(mapped, 4096);
    EXPECT_FALSE(are_of_heap({nullptr}));
    EXPECT_FALSE(are_of_heap({grown, &local}));
}

}  // namespace
}  // namespace heptad::cuda
