// Every entry of `heptad bench p1` on a device: the steps of the ablation, the dead ends and the plans, levels 1 to 3,
// bit for bit on integer data, in the workspace they tell.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "io/device_machine.hpp"
#include "papers/p1/bench_p1_entries.hpp"
#include "product/device/device_matrix.hpp"

namespace heptad::test {
namespace {

class P1OnDevice : public testing::TestWithParam<Type> {};

TEST_P(P1OnDevice, every_entry_is_exact_and_stays_in_its_workspace) {
    HEPTAD_NEEDS_DEVICE();
    const Type type = GetParam();
    constexpr std::int64_t kGuard = 4096;
    std::mt19937 random(1);
    const cuda::Stream stream(0);
    cuda::CudaBackend backend(0, stream.handle());
    for (const std::int64_t n : {std::int64_t{32}, std::int64_t{96}, std::int64_t{256}}) {
        GuardedMatrix a(type, n, n, Layout::rows), b(type, n, n, Layout::rows), c(type, n, n, Layout::rows);
        a.fill_random(random, 1);
        b.fill_random(random, 1);
        GuardedMatrix expected = c;
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                double sum = 0;
                for (std::int64_t q = 0; q < n; ++q) {
                    sum += a.get(i, q) * b.get(q, j);
                }
                expected.set(i, j, sum);
            }
        }
        int run = 0;
        for (const cli::P1Entry& entry :
             cli::p1_entries(type, n, {1, 2, 3}, stream, backend, default_device_machine())) {
            for (const bool timed : {false, true}) {
                GuardedMatrix here_a = a, here_b = b, here_c = c;
                DeviceMatrixCopy da(here_a, stream.handle()), db(here_b, stream.handle()), dc(here_c, stream.handle());
                const cuda::DeviceMemory workspace(0, entry.workspace_bytes + kGuard, stream.handle());
                cuda::fill_bytes(workspace.data(), 0xff, entry.workspace_bytes + kGuard, stream.handle());
                cli::P1Times times(0);
                entry.run({da.view(), db.view(), dc.view()}, workspace.data(), timed ? &times : nullptr);
                dc.fetch();
                std::vector<unsigned char> behind(kGuard);
                cuda::copy_rows(static_cast<std::byte*>(workspace.data()) + entry.workspace_bytes, kGuard,
                                behind.data(), kGuard, kGuard, 1, stream.handle());
                stream.synchronize();
                ASSERT_TRUE(here_c.equals(expected)) << entry.variant << ", " << entry.levels << " levels, n = " << n;
                ASSERT_EQ(behind, std::vector<unsigned char>(kGuard, 0xff)) << entry.variant;
                if (timed && entry.levels > 0) {
                    EXPECT_GT(times.seconds()[cli::P1Part::product], 0) << entry.variant;
                }
                ++run;
            }
        }
        EXPECT_EQ(run, 2 * (3 * 11 + 1));
    }
}

INSTANTIATE_TEST_SUITE_P(device, P1OnDevice, testing::Values(Type::f32, Type::f64),
                         [](const testing::TestParamInfo<Type>& of) { return std::string(type_name(of.param)); });

}  // namespace
}  // namespace heptad::test
