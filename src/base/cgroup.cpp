#include "base/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <optional>

#include "base/text_stream.hpp"

namespace heptad {
namespace {

bool lists(const std::string& comma_separated, const std::string& word) {
    const std::vector<std::string> parts = split(comma_separated, ',');
    return std::ranges::find(parts, word) != parts.end();
}

/// Blanks and backslashes in a mount point stand as three octal digits.
std::string without_escapes(const std::string& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto is_octal = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '7'; };
        if (text[i] == '\\' && i + 3 < text.size() && is_octal(i + 1) && is_octal(i + 2) && is_octal(i + 3)) {
            plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

struct Mount {
    std::string group;  // the group that is seen at `point`
    std::string point;
};

/// Where the hierarchy is mounted: of v2, or of a v1 controller.
std::optional<Mount> find_mount(const std::string& root, int version, const std::string& controller) {
    std::ifstream mounts(root + "/proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line);) {
        // 36 35 98:0 /group /point options [more ...] - type source super-options
        const std::size_t dash = line.find(" - ");
        if (dash == std::string::npos) {
            continue;
        }
        const std::vector<std::string> before = split(line.substr(0, dash), ' ');
        const std::vector<std::string> after = split(line.substr(dash + 3), ' ');
        if (before.size() < 5 || after.size() < 3) {
            continue;
        }
        if (version == 2 ? after[0] == "cgroup2" : after[0] == "cgroup" && lists(after[2], controller)) {
            return Mount{without_escapes(before[3]), without_escapes(before[4])};
        }
    }
    return std::nullopt;
}

/// `group` as seen below the mount point: the mount may show a part of the tree only, or a part that the group is not
/// in, where nothing but the mount point itself says anything.
std::string below_mount(const std::string& group, const Mount& mount) {
    const std::string seen = mount.group == "/" ? "" : mount.group;
    const bool is_inside = group.compare(0, seen.size(), seen) == 0 &&
                           (group.size() == seen.size() || group[seen.size()] == '/') &&
                           group.find("/..") == std::string::npos;
    std::string below = is_inside ? group.substr(seen.size()) : "";
    while (!below.empty() && below.back() == '/') {
        below.pop_back();
    }
    return below;
}

void add_folders(std::vector<CgroupFolder>& folders, const std::string& top, std::string below, int version) {
    for (;;) {
        folders.push_back({top + below, version});
        const std::size_t slash = below.rfind('/');
        if (slash == std::string::npos) {
            return;
        }
        below.erase(slash);
    }
}

}  // namespace

std::vector<CgroupFolder> cgroup_folders(const std::string& controller, const std::string& root) {
    std::vector<CgroupFolder> v1, v2;
    std::ifstream groups(root + "/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        // 4:cpu,cpuacct:/group, and 0::/group for v2
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const int version = controllers.empty() ? 2 : 1;
        if (version == 1 && !lists(controllers, controller)) {
            continue;
        }
        if (const auto mount = find_mount(root, version, controller)) {
            add_folders(version == 1 ? v1 : v2, root + (mount->point == "/" ? "" : mount->point),
                        below_mount(line.substr(second + 1), *mount), version);
        }
    }
    v1.insert(v1.end(), v2.begin(), v2.end());
    return v1;
}

std::string first_line_of(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

}  // namespace heptad
