#include "kernels/cpu/cpu_info.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/cores.hpp"
#include "base/error.hpp"
#include "base/shared_state.hpp"
#include "base/text_stream.hpp"
#include "kernels/cpu/cpu_kernels.hpp"
#include "kernels/cpu/vendor_blas.hpp"

namespace heptad::cpu {
namespace {

/// The lines of a file of the kernel, as far as it can be read. Throws std::bad_alloc, which a stream keeps to itself:
/// what is found here is kept for the life of the process.
template <class Use>
void for_each_line(const std::string& path, const Use& use) {
    try {
        std::ifstream file(path);
        file.exceptions(std::ios::badbit);
        for (std::string line; std::getline(file, line) && use(line);) {
        }
    } catch (const std::ios_base::failure&) {  // NOLINT(bugprone-empty-catch): as if it ended there
    }
}

std::string first_line(const std::string& path) {
    std::string first;
    for_each_line(path, [&](const std::string& line) {
        first = line;
        return false;
    });
    return first;
}

std::int64_t leading_integer(const std::string& text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// "1024K" as /sys writes it.
std::int64_t parse_cache_size(const std::string& text) {
    const std::int64_t value = leading_integer(text);
    const char unit = text.empty() ? ' ' : text.back();
    return unit == 'K' ? value << 10 : unit == 'M' ? value << 20 : value;
}

void read_caches(CpuInfo& info) {
    for (int index = 0; index < 8; ++index) {
        const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
        const std::int64_t level = leading_integer(first_line(folder + "level"));
        const std::int64_t bytes = parse_cache_size(first_line(folder + "size"));
        if (first_line(folder + "type") == "Instruction" || level == 0) {
            continue;
        }
        (level == 1 ? info.l1d_bytes : level == 2 ? info.l2_bytes : info.l3_bytes) = bytes;
    }
}

/// The value behind the first "key : value" line of /proc/cpuinfo; empty if there is none.
std::string proc_cpuinfo(const std::string& key) {
    std::string value;
    for_each_line("/proc/cpuinfo", [&](const std::string& line) {
        const std::size_t colon = line.find(':');
        const bool is_it = line.compare(0, key.size(), key) == 0 && colon != std::string::npos &&
                           line.find_first_not_of(" \t", key.size()) == colon;
        if (is_it && colon + 2 <= line.size()) {
            value = line.substr(colon + 2);
        }
        return !is_it;
    });
    return value;
}

/// Arm processors have no brand string: the part number of their id register names the core design.
[[maybe_unused]] std::string arm_core_name(std::int64_t implementer, std::int64_t part) {
    struct Core {
        std::int64_t implementer, part;
        const char* name;
    };
    static constexpr std::array<Core, 17> cores{{{0x41, 0xd03, "Cortex-A53"},
                                                 {0x41, 0xd05, "Cortex-A55"},
                                                 {0x41, 0xd07, "Cortex-A57"},
                                                 {0x41, 0xd08, "Cortex-A72"},
                                                 {0x41, 0xd0b, "Cortex-A76"},
                                                 {0x41, 0xd0c, "Neoverse-N1"},
                                                 {0x41, 0xd40, "Neoverse-V1"},
                                                 {0x41, 0xd49, "Neoverse-N2"},
                                                 {0x41, 0xd4f, "Neoverse-V2"},
                                                 {0x41, 0xd83, "Neoverse-V3"},
                                                 {0x41, 0xd84, "Neoverse-V3"},
                                                 {0x41, 0xd8e, "Neoverse-N3"},
                                                 {0x43, 0x0af, "ThunderX2"},
                                                 {0x46, 0x001, "A64FX"},
                                                 {0x61, 0x022, "Apple M1"},
                                                 {0x61, 0x032, "Apple M2"},
                                                 {0xc0, 0xac3, "Ampere-1"}}};
    for (const Core& core : cores) {
        if (core.implementer == implementer && core.part == part) {
            return core.name;
        }
    }
    return fmt::format("arm core {:#x}:{:#x}", implementer, part);
}

[[maybe_unused]] std::int64_t hexadecimal(const std::string& text) {
    return text.empty() ? 0 : std::strtoll(text.c_str(), nullptr, 16);
}

/// The words of the kernel's flag line that decide which kernels can run.
std::vector<std::string> relevant_features(const std::string& flags) {
    static constexpr std::array<std::string_view, 24> relevant{
        "sse2",     "avx",          "fma",         "avx2",        "avx512f",     "avx512dq", "avx512bw", "avx512vl",
        "avx512cd", "avx512_vbmi2", "avx512_bf16", "avx512_fp16", "avx512_vnni", "amx_tile", "amx_bf16", "amx_int8",
        "asimd",    "asimdhp",      "asimddp",     "sve",         "sve2",        "i8mm",     "bf16",     "sme"};
    std::vector<std::string> found;
    std::istringstream words = stream_of(flags);
    for (std::string word; words >> word;) {
        if (std::ranges::find(relevant, word) != relevant.end()) {
            found.push_back(word);
        }
    }
    return found;
}

CpuInfo read_cpu_info() {
    CpuInfo info;
#if defined(__x86_64__)
    info.architecture = "x86-64";
    info.vendor = proc_cpuinfo("vendor_id");
    info.brand = proc_cpuinfo("model name");
    info.features = relevant_features(proc_cpuinfo("flags"));
#elif defined(__aarch64__)
    info.architecture = "aarch64";
    const std::int64_t implementer = hexadecimal(proc_cpuinfo("CPU implementer"));
    info.vendor = implementer == 0x41 ? "ARM" : fmt::format("implementer {:#x}", implementer);
    info.brand = arm_core_name(implementer, hexadecimal(proc_cpuinfo("CPU part")));
    info.features = relevant_features(proc_cpuinfo("Features"));
#else
    info.architecture = "other";
#endif
    if (info.brand.empty()) {
        info.brand = "unknown processor";
    }
    info.cores = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    info.usable_cores = available_cores();
    read_caches(info);
    info.max_mhz =
        static_cast<double>(leading_integer(first_line("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"))) /
        1000;
    if (info.max_mhz == 0) {
        info.max_mhz = static_cast<double>(leading_integer(proc_cpuinfo("cpu MHz")));
    }
    return info;
}

std::string kib(std::int64_t bytes) {
    return bytes == 0           ? std::string("unknown")
           : bytes >= (1 << 20) ? fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (1 << 20))
                                : fmt::format("{} KiB", bytes >> 10);
}

}  // namespace

bool CpuInfo::has(const std::string& feature) const {
    return std::ranges::find(features, feature) != features.end();
}

bool CpuInfo::has_avx512() const {
    return has("avx512f") && has("avx512dq") && has("avx512bw") && has("avx512vl") && has("avx512cd");
}

bool CpuInfo::has_avx2_fma() const {
    return has("avx2") && has("fma");
}

const CpuInfo& cpu_info() {
    static constinit Once<CpuInfo> info;
    return info.get(read_cpu_info);
}

std::string describe_machine_text() {
    const CpuInfo& info = cpu_info();
    std::string text = fmt::format("processor    {} ({})\n", info.brand, info.architecture);
    text += fmt::format("cores        {}, usable {}\n", info.cores, info.usable_cores);
    if (info.max_mhz > 0) {
        text += fmt::format("frequency    {:.0f} MHz\n", info.max_mhz);
    }
    text +=
        fmt::format("caches       L1d {}, L2 {}, L3 {}\n", kib(info.l1d_bytes), kib(info.l2_bytes), kib(info.l3_bytes));
    text += fmt::format("features     {}\n", fmt::join(info.features, " "));
    text += fmt::format("own kernels  {}\n", instruction_set_name(best_instruction_set()));
    for (const VendorReport& report : vendor_reports()) {
        text += fmt::format("{:<12} {}\n", report.name, report.text());
    }
    return text;
}

}  // namespace heptad::cpu
