// The search for cuts at the host (P3's d_h and pipelines), with cores as devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "product/device/over_devices.hpp"
#include "tune/device_tuning.hpp"

namespace heptad::test {
namespace {

/// 512 x 512 bits are 32 KiB.
constexpr std::int64_t kSide = 512;

std::vector<BitHostSample> measured(const std::string& devices, std::int64_t device_memory_bytes) {
    return measure_bit_hosts({devices, kSide, device_memory_bytes}, [](const std::string&) {});
}

TEST(bit_host_tuning, segments_and_levels_are_tried_with_one_pipeline_at_least) {
    std::set<int> levels;
    std::set<std::pair<int, int>> ways;
    for (const BitHostSample& sample : measured("cpu:2", std::int64_t{1} << 20)) {
        EXPECT_EQ(sample.n, kSide);
        EXPECT_EQ(sample.device_memory_bytes, std::int64_t{1} << 20);
        EXPECT_GT(sample.seconds, 0);
        EXPECT_GT(sample.predicted_s, 0);
        EXPECT_TRUE(ways.insert({sample.host_levels, sample.pipelines}).second);
        levels.insert(sample.host_levels);
    }
    EXPECT_EQ(levels, (std::set<int>{0, 1, 2}));
    for (const int level : levels) {
        EXPECT_TRUE(ways.contains({level, 1}));
    }
}

TEST(bit_host_tuning, what_does_not_fit_a_device_is_left_out) {
    // Blocks of one level are 256 x 256, three of them 24 KiB; of two levels a quarter of that.
    for (const BitHostSample& sample : measured("cpu:1", 20 << 10)) {
        EXPECT_NE(sample.host_levels, 1);
    }
    EXPECT_TRUE(measured("cpu:1", 100).empty());
}

TEST(bit_host_tuning, names_that_are_no_devices_are_refused) {
    EXPECT_THROW(measured("cores", std::int64_t{1} << 20), Error);
}

}  // namespace
}  // namespace heptad::test
