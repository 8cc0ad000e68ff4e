// The options of products over devices.
#include <CLI/CLI.hpp>

#include "base/fail_if.hpp"
#include "option_words.hpp"
#include "product/device/device_facts.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kMostHostLevels = 16;
constexpr std::int64_t kMostPipelines = 16;

}  // namespace

void add_host_options(CLI::App& command, HostWords& words) {
    add_value(command, "--device-memory SIZE", words.device_memory,
              "most memory to use on each device; the host cuts the product up to fit");
    add_value(command, "--host-levels N", words.levels,
              "over devices: auto, or levels at the host; 0: segments of C; on the processor, from file to file: "
              "outer levels through files");
    add_value(command, "--host-algorithm NAME", words.algorithm, "algorithm of those levels");
    add_value(command, "--pipelines N", words.pipelines, "over devices: auto, or how many feed each device");
}

HostOptions host_options(const HostWords& words, const std::string& device, bool may_go_by_files) {
    const bool over_devices = is_device_list(device) || cuda::is_device_name(device);
    const bool for_devices_alone = !words.device_memory.empty() || !words.pipelines.empty();
    fail_if(words.given() && !over_devices && (for_devices_alone || !may_go_by_files), ErrorCode::usage,
            "--device-memory, --host-levels, --host-algorithm and --pipelines are for products over devices; name them "
            "by --device, such as cuda, cuda:0,1 or cpu:4");
    HostOptions host;
    if (!words.device_memory.empty()) {
        host.device_memory_bytes = parse_bytes("--device-memory", words.device_memory);
    }
    if (!words.levels.empty() && words.levels != "auto") {
        host.levels = static_cast<int>(parse_integer("--host-levels", words.levels, 0, kMostHostLevels));
    }
    if (!words.algorithm.empty()) {
        host.algorithm = words.algorithm;
    }
    if (!words.pipelines.empty() && words.pipelines != "auto") {
        host.pipelines = static_cast<int>(parse_integer("--pipelines", words.pipelines, 1, kMostPipelines));
    }
    fail_if(!over_devices && host.levels < 0 && host.algorithm != "auto", ErrorCode::usage,
            "--host-algorithm {} names the algorithm of outer levels, and none are asked for; give --host-levels 1 too",
            host.algorithm);
    return host;
}

}  // namespace heptad::cli
