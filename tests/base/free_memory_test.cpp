// Free memory as made-up /proc and /sys trees tell it: both versions of cgroups, nested, in containers, and garbage.
#include "base/free_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limits>
#include <string>

#include "base/made_up_root.hpp"

namespace heptad::test {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

std::string text(std::int64_t mebibytes) {
    return std::to_string(mebibytes * kMiB) + "\n";
}

/// Files of a machine that is not this one.
class Tree {
public:
    Tree& write(const std::string& path, const std::string& contents) {
        root_.write(path, contents);
        return *this;
    }
    /// A cgroup of version 2 with a limit and what is used, in MiB.
    Tree& second(const std::string& path, const std::string& limit, std::int64_t used) {
        return write(path + "/memory.max", limit).write(path + "/memory.current", text(used));
    }
    Tree& first(const std::string& path, const std::string& limit, std::int64_t used) {
        return write(path + "/memory.limit_in_bytes", limit).write(path + "/memory.usage_in_bytes", text(used));
    }
    std::int64_t free_bytes() const { return free_memory_bytes(root_.path()); }
    /// In whole MiB.
    std::int64_t free() const { return free_bytes() / kMiB; }

private:
    MadeUpRoot root_;
};

const char* const kMeminfo = "MemTotal:       8388608 kB\nMemFree:         10240 kB\nMemAvailable:    1048576 kB\n";
const char* const kSecondMount =
    "22 1 0:20 / /proc rw shared:1 - proc proc rw\n"
    "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
const char* const kFirstMounts =
    "25 1 0:23 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "26 1 0:24 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
/// What version 1 shows for "no limit".
const char* const kNoneInFirst = "9223372036854771712\n";

TEST(free_memory, without_any_file_there_is_no_limit) {
    EXPECT_EQ(Tree().free_bytes(), kNoLimit);
}

TEST(free_memory, the_machine_tells_what_is_available) {
    EXPECT_EQ(Tree().write("/proc/meminfo", kMeminfo).free(), 1024);
}

TEST(free_memory, every_cgroup_of_version_2_up_to_the_root_counts) {
    Tree tree;
    tree.write("/proc/meminfo", kMeminfo).write("/proc/self/mountinfo", kSecondMount);
    tree.write("/proc/self/cgroup", "0::/user.slice/app/worker\n");
    tree.second("/sys/fs/cgroup/user.slice/app/worker", "max\n", 10);
    EXPECT_EQ(tree.free(), 1024);
    tree.second("/sys/fs/cgroup/user.slice/app/worker", text(500), 100);
    EXPECT_EQ(tree.free(), 400);
    tree.second("/sys/fs/cgroup/user.slice/app", text(600), 250);
    EXPECT_EQ(tree.free(), 350);
    tree.second("/sys/fs/cgroup/user.slice", text(700), 400);
    EXPECT_EQ(tree.free(), 300);
    tree.second("/sys/fs/cgroup", text(800), 600);
    EXPECT_EQ(tree.free(), 200);
    tree.second("/sys/fs/cgroup/user.slice/other", text(50), 49);  // not ours
    EXPECT_EQ(tree.free(), 200);
}

TEST(free_memory, a_high_mark_counts_and_inactive_pages_of_files_are_free) {
    Tree tree;
    tree.write("/proc/self/mountinfo", kSecondMount).write("/proc/self/cgroup", "0::/app\n");
    tree.second("/sys/fs/cgroup/app", text(500), 450);
    EXPECT_EQ(tree.free(), 50);
    tree.write("/sys/fs/cgroup/app/memory.stat",
               "anon 1\nfile 2\nactive_file 7\ninactive_file " + text(120) + "slab 9\n");
    EXPECT_EQ(tree.free(), 170);
    tree.write("/sys/fs/cgroup/app/memory.high", text(480));
    EXPECT_EQ(tree.free(), 150);
    tree.write("/sys/fs/cgroup/app/memory.high", "max\n");
    EXPECT_EQ(tree.free(), 170);
}

TEST(free_memory, every_cgroup_of_version_1_up_to_the_root_counts) {
    Tree tree;
    tree.write("/proc/meminfo", kMeminfo).write("/proc/self/mountinfo", kFirstMounts);
    tree.write("/proc/self/cgroup", "5:cpu,cpuacct:/elsewhere\n4:memory:/jobs/17\n0::/\n");
    tree.first("/sys/fs/cgroup/memory", kNoneInFirst, 900);
    EXPECT_EQ(tree.free(), 1024);
    tree.first("/sys/fs/cgroup/memory/jobs/17", text(400), 216);
    EXPECT_EQ(tree.free(), 184);
    tree.first("/sys/fs/cgroup/memory/jobs", text(300), 216);
    EXPECT_EQ(tree.free(), 84);
    tree.write("/sys/fs/cgroup/memory/jobs/memory.stat", "inactive_file 5\ntotal_inactive_file " + text(16));
    EXPECT_EQ(tree.free(), 100);
    tree.first("/sys/fs/cgroup/memory/elsewhere", text(1), 0);  // the path of another controller
    EXPECT_EQ(tree.free(), 100);
}

TEST(free_memory, both_versions_side_by_side_count) {
    Tree tree;
    tree.write("/proc/self/mountinfo",
               std::string(kFirstMounts) + "31 22 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    tree.write("/proc/self/cgroup", "4:memory:/jobs\n0::/unit\n");
    tree.first("/sys/fs/cgroup/memory/jobs", text(400), 100);
    tree.second("/sys/fs/cgroup/unified/unit", text(300), 50);
    EXPECT_EQ(tree.free(), 250);
    tree.first("/sys/fs/cgroup/memory/jobs", text(400), 200);
    EXPECT_EQ(tree.free(), 200);
}

TEST(free_memory, a_container_sees_its_own_part_of_the_hierarchy_at_the_mount_point) {
    Tree tree;
    tree.write("/proc/self/mountinfo", "26 1 0:24 /docker/4f2a /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    tree.write("/proc/self/cgroup", "4:memory:/docker/4f2a\n");
    tree.first("/sys/fs/cgroup/memory", text(256), 56);
    EXPECT_EQ(tree.free(), 200);
    tree.first("/sys/fs/cgroup/memory/inner", text(100), 20);
    EXPECT_EQ(tree.free(), 200);
    tree.write("/proc/self/cgroup", "4:memory:/docker/4f2a/inner\n");
    EXPECT_EQ(tree.free(), 80);
    for (const char* const outside : {"4:memory:/docker/4f2a-other\n", "4:memory:/system\n", "4:memory:/../x\n"}) {
        tree.write("/proc/self/cgroup", outside);
        EXPECT_EQ(tree.free(), 200) << outside;
    }
}

TEST(free_memory, limits_of_address_space_and_data_count) {
    const auto limits = [](const std::string& data, const std::string& address) {
        return "Limit                     Soft Limit           Hard Limit           Units     \n"
               "Max data size             " +
               data +
               "            unlimited            bytes     \n"
               "Max address space         " +
               address + "            unlimited            bytes     \n";
    };
    Tree tree;
    tree.write("/proc/self/status", "Name:\tx\nVmPeak:\t  999999 kB\nVmSize:\t  102400 kB\nVmData:\t   20480 kB\n");
    tree.write("/proc/self/limits", limits("unlimited", "unlimited"));
    EXPECT_EQ(tree.free_bytes(), kNoLimit);
    tree.write("/proc/self/limits", limits(std::to_string(500 * kMiB), "unlimited"));
    EXPECT_EQ(tree.free(), 480);
    tree.write("/proc/self/limits", limits("unlimited", std::to_string(1024 * kMiB)));
    EXPECT_EQ(tree.free(), 924);
    tree.write("/proc/self/limits", limits("unlimited", std::to_string(64 * kMiB)));
    EXPECT_EQ(tree.free_bytes(), 0);
}

TEST(free_memory, garbage_is_no_limit_and_more_used_than_allowed_leaves_nothing) {
    for (const char* const garbage :
         {"", "max", "many\n", "-5\n", "99999999999999999999999\n", "12abc\n", "\n\n", "0x10\n"}) {
        Tree tree;
        tree.write("/proc/meminfo", kMeminfo).write("/proc/self/mountinfo", kSecondMount);
        tree.write("/proc/self/cgroup", "0::/app\n").second("/sys/fs/cgroup/app", garbage, 10);
        EXPECT_EQ(tree.free(), 1024) << garbage;
        tree.write("/sys/fs/cgroup/app/memory.max", text(100)).write("/sys/fs/cgroup/app/memory.stat", garbage);
        EXPECT_EQ(tree.free(), 90) << garbage;
        tree.write("/proc/self/cgroup", garbage).write("/proc/self/mountinfo", garbage).write("/proc/meminfo", garbage);
        EXPECT_EQ(tree.free_bytes(), kNoLimit) << garbage;
    }
    Tree tree;
    tree.write("/proc/self/mountinfo", kSecondMount).write("/proc/self/cgroup", "0::/app\n");
    EXPECT_EQ(tree.second("/sys/fs/cgroup/app", text(100), 130).free_bytes(), 0);
}

TEST(free_memory, this_machine_has_some_and_a_limit_of_address_space_is_seen) {
    const std::int64_t here = free_memory_bytes();
    EXPECT_GT(here, 0);
    EXPECT_LT(here, std::int64_t{1} << 50);
#ifndef HEPTAD_REDUCED_TESTS  // the sanitizers reserve address space of their own
    const pid_t child = fork();
    if (child == 0) {
        const rlimit limit{rlim_t{1} << 30, rlim_t{1} << 30};
        setrlimit(RLIMIT_AS, &limit);
        _exit(free_memory_bytes() < (std::int64_t{1} << 30) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#endif
}

}  // namespace
}  // namespace heptad::test
