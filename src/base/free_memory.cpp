#include "base/free_memory.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <thread>

#include "base/cgroup.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
/// Empty where the file cannot be read.
std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

/// The number that a text begins with after blanks; nothing for words such as "max", and for numbers beyond 64 bits,
/// which mean the same.
std::optional<std::int64_t> leading_number(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_word = end != text.data() + text.size() && *end != ' ' && *end != '\t' && *end != '\n';
    return problem != std::errc() || is_word || value < 0 ? std::nullopt : std::optional(value);
}

/// The number after `name` at the beginning of a line.
std::optional<std::int64_t> number_after(std::string_view name, std::string_view text) {
    for (std::size_t line = 0; line < text.size();) {
        const std::size_t end = std::min(text.find('\n', line), text.size());
        const std::string_view words = text.substr(line, end - line);
        if (words.starts_with(name) && words.size() > name.size() &&
            (words[name.size()] == ' ' || words[name.size()] == '\t')) {
            return leading_number(words.substr(name.size()));
        }
        line = end + 1;
    }
    return std::nullopt;
}

std::int64_t available_on_machine(const std::string& root) {
    const std::string facts = text_of(root + "/proc/meminfo");
    const auto kibibytes = number_after("MemAvailable:", facts);
    return kibibytes && *kibibytes <= kUnlimited / 1024 ? *kibibytes * 1024 : kUnlimited;
}

/// A line of proc(5), status, in KiB: "VmHWM:     2080 kB". 0: there is none.
std::int64_t status_bytes(const std::string& root, std::string_view line) {
    const std::int64_t kibibytes = number_after(line, text_of(root + "/proc/self/status")).value_or(0);
    return std::min(kibibytes, kUnlimited / 1024) * 1024;
}

/// What a limit of the process leaves: a line of /proc/self/limits, and one of its status.
std::int64_t within_own_limit(const std::string& root, std::string_view limit, std::string_view use) {
    const auto most = number_after(limit, text_of(root + "/proc/self/limits"));
    if (!most) {
        return kUnlimited;
    }
    return std::max<std::int64_t>(0, *most - status_bytes(root, use));
}

/// What one group's limits leave.
std::int64_t left_in(const CgroupFolder& folder) {
    const bool is_second = folder.version == 2;
    const auto number_in = [&](const char* name) { return leading_number(first_line_of(folder.path + name)); };
    const auto limit_in = [&](const char* name) { return number_in(name).value_or(kUnlimited); };
    const std::int64_t limit =
        is_second ? std::min(limit_in("/memory.max"), limit_in("/memory.high")) : limit_in("/memory.limit_in_bytes");
    const auto used = number_in(is_second ? "/memory.current" : "/memory.usage_in_bytes");
    if (limit == kUnlimited || !used) {
        return limit;
    }
    const std::string facts = text_of(folder.path + "/memory.stat");
    const auto file_pages = number_after(is_second ? "inactive_file" : "total_inactive_file", facts);
    return limit - *used + std::min(file_pages.value_or(0), *used);
}

}  // namespace

std::int64_t free_address_bytes(const std::string& root) {
    return within_own_limit(root, "Max address space", "VmSize:");
}

std::int64_t reserved_address_bytes() {
    // OpenBLAS maps 128 MiB for every thread that packs, glibc as much for the arena of one, and OpenBLAS tries again
    // for ever where it gets nothing.
    constexpr std::int64_t kOfThread = std::int64_t{128} << 20;
    return kOfThread * (2 + static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency())));
}

std::int64_t free_memory_bytes(const std::string& root) {
    std::int64_t least = std::min(
        {available_on_machine(root), free_address_bytes(root), within_own_limit(root, "Max data size", "VmData:")});
    for (const CgroupFolder& folder : cgroup_folders("memory", root)) {
        least = std::min(least, left_in(folder));
    }
    return std::max<std::int64_t>(0, least);
}

std::int64_t resident_bytes() {
    return status_bytes("", "VmRSS:");
}

std::int64_t peak_resident_bytes() {
    if (const std::int64_t bytes = status_bytes("", "VmHWM:"); bytes > 0) {
        return bytes;
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

bool forget_peak_resident() {
    constexpr char kForgetPeak = '5';  // proc(5), clear_refs
    std::ofstream file("/proc/self/clear_refs");
    return static_cast<bool>(file << kForgetPeak << std::flush);
}

}  // namespace heptad
