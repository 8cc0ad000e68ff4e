#include "product/device/device_list.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

#include "base/fail_if.hpp"
#include "io/device_machine.hpp"
#include "kernels/cuda/device/device.hpp"
#include "move/staging.hpp"
#include "product/device/cuda_device.hpp"

namespace heptad {
namespace {

/// Kept free on a GPU: what the driver and the libraries take for themselves.
constexpr std::int64_t kReservedBytes = std::int64_t{1} << 30;
/// A core copies from memory to memory.
constexpr double kCopyBytesPerS = 8e9;

[[noreturn]] void refuse(const std::string& name) {
    fail(ErrorCode::usage,
         "'{}' is not a list of devices; use cuda:0,1 for two NVIDIA devices, or cpu:4 for four cores as devices (1 to "
         "{})",
         name, kMostDevices);
}

int number(const std::string& name, const std::string& word) {
    const bool digits = !word.empty() && word.size() <= 3 &&
                        std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (!digits) {
        refuse(name);
    }
    return std::stoi(word);
}

}  // namespace

bool is_device_list(const std::string& name) {
    return name.starts_with("cpu:") || (name.starts_with("cuda:") && name.find(',') != std::string::npos);
}

DeviceList parse_device_list(const std::string& name) {
    DeviceList list;
    list.name = name;
    if (name == "cuda") {
        list.cuda = true;
        list.indices = {0};
        return list;
    }
    if (name.starts_with("cpu:")) {
        const int cores = number(name, name.substr(4));
        if (cores < 1 || cores > kMostDevices) {
            refuse(name);
        }
        for (int i = 0; i < cores; ++i) {
            list.indices.push_back(i);
        }
        return list;
    }
    if (!name.starts_with("cuda:")) {
        refuse(name);
    }
    list.cuda = true;
    for (std::size_t begin = 5; begin <= name.size();) {
        const std::size_t end = std::min(name.find(',', begin), name.size());
        const int index = number(name, name.substr(begin, end - begin));
        fail_if(std::find(list.indices.begin(), list.indices.end(), index) != list.indices.end(), ErrorCode::usage,
                "'{}' names device {} twice; name each once", name, index);
        list.indices.push_back(index);
        begin = end + 1;
    }
    if (list.indices.size() > static_cast<std::size_t>(kMostDevices)) {
        refuse(name);
    }
    return list;
}

DeviceSet open_devices(const DeviceList& list) {
    DeviceSet devices;
    for (const int index : list.indices) {
        if (list.cuda) {
            devices.push_back(std::make_unique<CudaDevice>(index));
        } else {
            devices.push_back(open_core());
        }
    }
    return devices;
}

DeviceFacts device_facts(const DeviceList& list) {
    DeviceFacts facts;
    facts.name = list.name;
    facts.devices = static_cast<int>(list.indices.size());
    if (!list.cuda) {
        facts.memory_bytes = std::numeric_limits<std::int64_t>::max();
        facts.upload_bytes_per_s = facts.download_bytes_per_s = kCopyBytesPerS;
        facts.in_host_memory = true;
        return facts;
    }
    facts.upload_bytes_per_s = facts.download_bytes_per_s = assumed_device().link_bytes_per_s;
    facts.buffer_bytes_per_s = assumed_device().locked_buffer_bytes_per_s;
    facts.staging_bytes = kStagingBytes;
    facts.least_staged_bytes = kLeastStagedBytes;
    facts.memory_bytes = usable_bytes_of_each(list, cuda::report());
    return facts;
}

std::int64_t usable_bytes_of_each(const DeviceList& list, const DeviceReport& found) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const int index : list.indices) {
        const DeviceInfo* const there = found.find(index);
        least = std::min(least, there != nullptr ? there->free_bytes : assumed_device().memory_bytes);
    }
    return std::max<std::int64_t>(0, least - kReservedBytes);
}

}  // namespace heptad
