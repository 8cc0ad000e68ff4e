// Libraries in somebody else's process: no fork, no change of the environment, no kernel below what the processor can
// do, and nothing of the affinity of whoever came first.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "base/cores.hpp"
#include "citizen/child.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/vendor_blas.hpp"
#include "kernels/cpu/vendor_blas_calls.hpp"
#include "kernels/cpu/vendor_blas_correction.hpp"

namespace {
constinit std::atomic<int> forks{0}, changes{0};
}  // namespace

// In place of the C library's: to see whether somebody calls them.
extern "C" int setenv(const char*, const char*, int) noexcept {
    ++changes;
    return 0;
}
extern "C" int unsetenv(const char*) noexcept {
    ++changes;
    return 0;
}
extern "C" int putenv(char*) noexcept {
    ++changes;
    return 0;
}

namespace heptad::cpu {
namespace {

/// The first who asks for libraries is bound to one processor.
TEST(vendor_blas_foreign, loading_does_not_fork_or_change_the_environment_or_keep_the_callers_affinity) {
    pthread_atfork([] { ++forks; }, nullptr, nullptr);
    const CpuSet all = cpus_of(getpid());
    std::thread([&] {
        CpuSet one;
        int cpu = 0;
        while (!all.contains(cpu)) {
            ++cpu;
        }
        one.add(cpu);
        ASSERT_TRUE(bind_thread(0, one));
        vendor_reports();
        EXPECT_EQ(cpus_of(0), one);
    }).join();
    EXPECT_EQ(forks, 0);
    EXPECT_EQ(changes, 0);
    const VendorLibrary* const openblas = vendor_library(Vendor::openblas);
    if (openblas != nullptr && openblas->set_threads != nullptr && std::getenv("OPENBLAS_NUM_THREADS") == nullptr &&
        std::getenv("OMP_NUM_THREADS") == nullptr) {
        EXPECT_EQ(openblas->started_threads, all.count());
    }
}

TEST(vendor_blas_foreign, a_library_that_picked_a_poor_kernel_is_no_leaf_and_the_report_says_so) {
    const CpuBackend backend(shared_pool(2));
    const std::vector<std::string> leaves = backend.leaves(Type::f64);
    for (const VendorReport& report : vendor_reports()) {
        const bool is_leaf = std::find(leaves.begin(), leaves.end(), report.name) != leaves.end();
        EXPECT_EQ(is_leaf, report.found && !report.is_slow) << report.name;
        EXPECT_EQ(report.is_slow, report.text().find("is not used") != std::string::npos && report.found);
        if (report.found && !report.is_slow) {
            EXPECT_EQ(report.core, report.best_core);
        }
    }
    EXPECT_EQ(leaves.back(), "heptad");
}

TEST(vendor_blas_foreign, the_child_of_a_fork_does_not_enter_a_library_that_a_thread_of_its_parent_was_in) {
    HEPTAD_FORKS_WITH_THREADS();
    vendor_reports();  // which also watches forks
    std::atomic<bool> inside = false, leave = false;
    std::thread other([&] {
        const VendorCall call(Vendor::blis);
        inside = true;
        while (!leave) {
            std::this_thread::yield();
        }
    });
    while (!inside) {
        std::this_thread::yield();
    }
    EXPECT_EQ(citizen::in_child([] {
                  const bool blis = static_cast<bool>(VendorCall(Vendor::blis));
                  const bool openblas = static_cast<bool>(VendorCall(Vendor::openblas));
                  return !blis && openblas ? 0 : 1;
              }),
              "exit 0");
    leave = true;
    other.join();
    EXPECT_TRUE(static_cast<bool>(VendorCall(Vendor::blis)));
}

constinit std::atomic<bool> is_watched{false}, inside_at_exit{false}, left{false};

/// From before main, so called after what is registered when libraries are loaded.
const int registered = std::atexit([] {
    if (is_watched && !left) {
        _exit(3);
    }
});

TEST(vendor_blas_foreign, exit_waits_for_who_is_inside_a_library) {
    HEPTAD_FORKS_WITH_THREADS();
    ASSERT_EQ(registered, 0);
    EXPECT_EQ(citizen::in_child([] {
                  vendor_reports();
                  is_watched = true;
                  std::thread([] {
                      const VendorCall call(Vendor::openblas);
                      inside_at_exit = true;
                      std::this_thread::sleep_for(std::chrono::milliseconds(100));
                      left = true;
                  }).detach();
                  while (!inside_at_exit) {
                      std::this_thread::yield();
                  }
                  return 0;
              }),
              "exit 0");
}

}  // namespace
}  // namespace heptad::cpu
