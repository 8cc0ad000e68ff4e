// The control groups that limit this process: where the files of a controller lie, for cgroup v1 and v2.
//
// A group is limited by itself and by every group above it, so all of them are listed. Mount points come from
// /proc/self/mountinfo: a container may see only its own part of the tree, under any name.
#pragma once

#include <string>
#include <vector>

namespace heptad {

struct CgroupFolder {
    std::string path;  // without a slash at the end
    int version = 2;   // 1: "memory.limit_in_bytes", "cpu.cfs_quota_us"; 2: "memory.max", "cpu.max"
};

/// The folders of `controller` ("cpu", "memory") from the process's own group up to the highest that can be seen;
/// those of v1 before those of v2. Empty where there are none. Nobody says that a limit stands in each.
/// root: stands before every path that is read ("": the machine's own), for trees that a test makes up.
std::vector<CgroupFolder> cgroup_folders(const std::string& controller, const std::string& root = "");

/// The first line of a file; empty if it cannot be read.
std::string first_line_of(const std::string& path);

}  // namespace heptad
