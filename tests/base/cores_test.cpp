// Which processors may be used: masks of any size, quotas of both kinds of control groups.
#include "base/cores.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "base/error.hpp"
#include "base/made_up_root.hpp"

namespace heptad {
namespace {

/// A kernel for `processors` processors whose caller may use those given.
GetAffinity kernel_with(int processors, std::vector<int> allowed) {
    return [processors, allowed = std::move(allowed)](pid_t, std::size_t bytes, cpu_set_t* to) {
        if (bytes * 8 < static_cast<std::size_t>(processors)) {
            errno = EINVAL;
            return -1;
        }
        std::memset(to, 0, bytes);
        for (const int cpu : allowed) {
            CPU_SET_S(static_cast<std::size_t>(cpu), bytes, to);
        }
        return 0;
    };
}

TEST(cores, more_than_1024_processors_are_all_seen) {
    const CpuSet cpus = cpus_of(0, kernel_with(8192, {0, 1023, 1024, 5000, 8191}));
    EXPECT_EQ(cpus.count(), 5);
    EXPECT_TRUE(cpus.contains(8191));
    EXPECT_FALSE(cpus.contains(8190));
    EXPECT_FALSE(cpus.contains(100000));
    EXPECT_FALSE(cpus.contains(-1));
    const CpuSet fewer = cpus.without(8191);
    EXPECT_EQ(fewer.count(), 4);
    EXPECT_EQ(fewer.without(7), fewer);
    EXPECT_EQ(fewer, cpus_of(0, kernel_with(5001, {0, 1023, 1024, 5000}))) << "the size of the mask does not matter";
}

TEST(cores, a_kernel_that_does_not_say_gives_an_empty_set) {
    const GetAffinity refuses = [](pid_t, std::size_t, cpu_set_t*) {
        errno = ESRCH;
        return -1;
    };
    EXPECT_TRUE(cpus_of(0, refuses).empty());
    EXPECT_TRUE(cpus_of(0, kernel_with(1 << 30, {})).empty());
    EXPECT_FALSE(bind_thread(0, CpuSet{}));
}

TEST(cores, sets_grow_by_what_is_added) {
    CpuSet cpus;
    cpus.add(3);
    cpus.add(2000);
    EXPECT_EQ(cpus.count(), 2);
    EXPECT_TRUE(cpus.contains(2000));
    EXPECT_FALSE(cpus.without(3).contains(3));
}

class Quota : public ::testing::Test {
protected:
    Quota() {
        root.write("/proc/self/mountinfo",
                   "30 23 0:26 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
                   "32 23 0:28 / /cg/unified rw - cgroup2 cgroup2 rw\n");
    }
    MadeUpRoot root;
};

TEST_F(Quota, of_v1_counts_and_minus_one_is_no_limit) {
    root.write("/proc/self/cgroup", "4:cpu,cpuacct:/job\n");
    root.write("/cg/cpu/cpu.cfs_quota_us", "-1\n");
    root.write("/cg/cpu/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(cores_by_quota(root.path()), 0);
    root.write("/cg/cpu/job/cpu.cfs_quota_us", "250000\n");
    root.write("/cg/cpu/job/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(cores_by_quota(root.path()), 3);
    root.write("/cg/cpu/cpu.cfs_quota_us", "100000\n");
    EXPECT_EQ(cores_by_quota(root.path()), 1) << "the group above is tighter";
}

TEST_F(Quota, of_nested_v2_groups_is_the_tightest) {
    root.write("/proc/self/cgroup", "0::/a/b/c\n");
    root.write("/cg/unified/a/b/c/cpu.max", "max 100000\n");
    root.write("/cg/unified/a/b/cpu.max", "150000 50000\n");
    root.write("/cg/unified/a/cpu.max", "900000 100000\n");
    EXPECT_EQ(cores_by_quota(root.path()), 3);
    root.write("/cg/unified/a/cpu.max", "20000 100000\n");
    EXPECT_EQ(cores_by_quota(root.path()), 1);
}

TEST_F(Quota, that_makes_no_sense_is_no_limit) {
    root.write("/proc/self/cgroup", "4:cpu,cpuacct:/job\n0::/job\n");
    for (const char* text : {"", "max", "max max", "x y", "0 100000", "100000 0", "100000", "-5 3", "1e300 1"}) {
        root.write("/cg/unified/job/cpu.max", text);
        EXPECT_EQ(cores_by_quota(root.path()), 0) << text;
    }
}

/// The processors of this process, where there are at least two.
std::vector<int> two_cpus() {
    const CpuSet all = cpus_of(getpid());
    std::vector<int> found;
    for (int cpu = 0; cpu < 1 << 16 && found.size() < 2; ++cpu) {
        if (all.contains(cpu)) {
            found.push_back(cpu);
        }
    }
    return found;
}

TEST(cores, are_those_of_the_calling_thread_and_looked_up_again) {
    if (two_cpus().size() < 2) {
        GTEST_SKIP() << "one processor";
    }
    const int before = available_cores();
    std::thread([&] {
        CpuSet one;
        one.add(two_cpus()[1]);
        ASSERT_TRUE(bind_thread(0, one));
        EXPECT_EQ(available_cores(), 1) << "a bound thread has what it is bound to";
        ASSERT_TRUE(bind_thread(0, cpus_of(getpid())));
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        EXPECT_EQ(available_cores(), before) << "and more when it is let loose";
    }).join();
    EXPECT_EQ(available_cores(), before) << "others are not concerned";
}

TEST(cores, threads_of_the_environment_are_those_of_heptad_or_the_first_of_openmp) {
    EXPECT_EQ(threads_in(nullptr, nullptr).by_heptad, 0);
    EXPECT_EQ(threads_in("", "").by_heptad, 0);
    EXPECT_EQ(threads_in("3", "5").by_heptad, 3);
    EXPECT_EQ(threads_in("4096", nullptr).by_heptad, 4096);
    for (const char* const omp : {"4", "4,2", " 4 , 2", "4,x"}) {
        EXPECT_EQ(threads_in(nullptr, omp).by_omp, 4) << omp;
    }
    for (const char* const omp : {"", "many", "-2", "0", "4x", ",2", "99999999999"}) {
        EXPECT_EQ(threads_in(nullptr, omp).by_omp, 0) << omp;
    }
}

TEST(cores, threads_that_heptad_cannot_have_are_an_error_that_names_the_variable) {
    for (const char* const text : {"x", "0", "-1", "4097", "2.5", "2 ", " 2", "4,2", "99999999999"}) {
        try {
            threads_in(text, "2");
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage);
            EXPECT_NE(std::string(error.what()).find("HEPTAD_THREADS"), std::string::npos) << error.what();
        }
    }
}

TEST(cores, threads_that_were_asked_for_are_given) {
    EXPECT_EQ(threads_or_default(7), 7);
    EXPECT_GE(threads_or_default(), 1);
}

}  // namespace
}  // namespace heptad
