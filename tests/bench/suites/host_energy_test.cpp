// Counters of processor packages, read from a folder that looks like the kernel's.
#include "bench/suites/host_energy.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace heptad::cli {
namespace {

class HostEnergyTest : public ::testing::Test {
protected:
    void SetUp() override {
        folder_ = std::filesystem::path(::testing::TempDir()) /
                  ::testing::UnitTest::GetInstance()->current_test_info()->name();
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    void set(const std::string& package, long microjoules) const {
        std::filesystem::create_directories(folder_ / package);
        std::ofstream(folder_ / package / "energy_uj") << microjoules << "\n";
        std::ofstream(folder_ / package / "max_energy_range_uj") << 10'000'000 << "\n";
    }
    HostEnergy now() const { return HostEnergy::now(folder_.string()); }
    std::filesystem::path folder_;
};

TEST_F(HostEnergyTest, packages_add_up_parts_and_doubles_do_not_count_and_counters_start_again) {
    set("intel-rapl:0", 1'000'000);
    set("intel-rapl:1", 9'000'000);
    set("intel-rapl:0:0", 5);
    set("intel-rapl-mmio:0", 5);
    const HostEnergy before = now();
    set("intel-rapl:0", 3'000'000);
    set("intel-rapl:1", 500'000);  // went round
    set("intel-rapl:0:0", 7'000'000);
    EXPECT_TRUE(before.known());
    EXPECT_DOUBLE_EQ(now().since(before).value_or(-1), 2.0 + 1.5);
}

TEST_F(HostEnergyTest, what_cannot_be_read_is_unknown) {
    EXPECT_FALSE(now().known());
    EXPECT_FALSE(HostEnergy::now((folder_ / "missing").string()).known());
    set("intel-rapl:0", 1);
    const HostEnergy before = now();
    std::filesystem::create_directories(folder_ / "intel-rapl:1");  // without a counter
    EXPECT_FALSE(now().known());
    EXPECT_FALSE(now().since(before).has_value());
}

}  // namespace
}  // namespace heptad::cli
