// Which folders limit a process, on made-up machines with cgroup v1, v2 and both.
#include "base/cgroup.hpp"

#include <gtest/gtest.h>

#include "base/made_up_root.hpp"

namespace heptad {
namespace {

std::vector<std::string> paths(const MadeUpRoot& root, const std::string& controller) {
    std::vector<std::string> found;
    for (const CgroupFolder& folder : cgroup_folders(controller, root.path())) {
        std::string version = folder.version == 1 ? "v1 " : "v2 ";
        found.push_back(version.append(folder.path, root.path().size()));
    }
    return found;
}

using Strings = std::vector<std::string>;

TEST(cgroup, nested_v2_groups_are_listed_from_the_own_one_up) {
    const MadeUpRoot root;
    root.write("/proc/self/cgroup", "0::/user.slice/job 7/step\n");
    root.write("/proc/self/mountinfo",
               "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    EXPECT_EQ(paths(root, "cpu"),
              (Strings{"v2 /sys/fs/cgroup/user.slice/job 7/step", "v2 /sys/fs/cgroup/user.slice/job 7",
                       "v2 /sys/fs/cgroup/user.slice", "v2 /sys/fs/cgroup"}));
}

TEST(cgroup, v1_controllers_have_mounts_of_their_own) {
    const MadeUpRoot root;
    root.write("/proc/self/cgroup", "5:memory:/jobs/a\n4:cpu,cpuacct:/jobs/b\n1:name=systemd:/c\n0::/d\n");
    root.write("/proc/self/mountinfo",
               "30 23 0:26 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
               "31 23 0:27 / /cg/memory rw - cgroup cgroup rw,memory\n"
               "32 23 0:28 / /cg/unified rw - cgroup2 cgroup2 rw\n");
    EXPECT_EQ(paths(root, "cpu"), (Strings{"v1 /cg/cpu,cpuacct/jobs/b", "v1 /cg/cpu,cpuacct/jobs", "v1 /cg/cpu,cpuacct",
                                           "v2 /cg/unified/d", "v2 /cg/unified"}));
    EXPECT_EQ(paths(root, "memory").front(), "v1 /cg/memory/jobs/a");
}

TEST(cgroup, a_container_sees_its_own_group_at_the_mount_point) {
    const MadeUpRoot root;
    root.write("/proc/self/cgroup", "4:cpu:/docker/77/inner\n");
    root.write("/proc/self/mountinfo", "30 23 0:26 /docker/77 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
    EXPECT_EQ(paths(root, "cpu"), (Strings{"v1 /sys/fs/cgroup/cpu/inner", "v1 /sys/fs/cgroup/cpu"}));
    root.write("/proc/self/cgroup", "4:cpu:/docker/778\n");
    EXPECT_EQ(paths(root, "cpu"), (Strings{"v1 /sys/fs/cgroup/cpu"})) << "/docker/778 is not inside /docker/77";
    root.write("/proc/self/cgroup", "4:cpu:/docker/77/../../other\n");
    EXPECT_EQ(paths(root, "cpu"), (Strings{"v1 /sys/fs/cgroup/cpu"}));
}

TEST(cgroup, blanks_in_a_mount_point_are_understood) {
    const MadeUpRoot root;
    root.write("/proc/self/cgroup", "0::/\n");
    root.write("/proc/self/mountinfo", "30 23 0:26 / /my\\040groups rw - cgroup2 none rw\n");
    EXPECT_EQ(paths(root, "cpu"), (Strings{"v2 /my groups"}));
}

TEST(cgroup, broken_or_missing_files_give_no_folders) {
    const MadeUpRoot root;
    EXPECT_EQ(paths(root, "cpu"), Strings{});
    root.write("/proc/self/cgroup", "nonsense\n\n0:\n0::/a\n");
    EXPECT_EQ(paths(root, "cpu"), Strings{});
    root.write("/proc/self/mountinfo", "1 2 3\n - - - \n30 23 0:26 / /x rw - cgroup2\n");
    EXPECT_EQ(paths(root, "cpu"), Strings{});
}

}  // namespace
}  // namespace heptad
