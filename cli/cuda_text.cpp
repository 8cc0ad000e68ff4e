#include "cuda_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "product/device/device_facts.hpp"
#include "text.hpp"

namespace heptad::cli {

std::string cuda_text() {
    const cuda::Report report = cuda::report();
    std::string versions = report.built ? fmt::format("runtime {}", report.runtime) : "";
    if (!report.driver.empty()) {
        versions += fmt::format(", driver {}", report.driver);
    }
    if (!report.cublas.empty()) {
        versions += fmt::format(", cuBLAS {} ({})", report.cublas, report.cublas_path);
    }
    std::string text = fmt::format("cuda         {}{}{}\n", versions, !report.available && report.built ? "; " : "",
                                   report.available ? "" : "not usable: " + report.problem);
    for (const cuda::DeviceInfo& device : report.devices) {
        text += fmt::format("cuda:{:<7} {}, compute capability {}.{}, {} multiprocessors, {}{}\n", device.index,
                            device.name, device.major, device.minor, device.multiprocessors,
                            format_bytes(device.memory_bytes),
                            report.available ? fmt::format(" ({} free)", format_bytes(device.free_bytes)) : "");
    }
    return text;
}

nlohmann::ordered_json cuda_json() {
    const cuda::Report report = cuda::report();
    nlohmann::ordered_json devices = nlohmann::ordered_json::array();
    for (const cuda::DeviceInfo& device : report.devices) {
        nlohmann::ordered_json object{{"index", device.index},
                                      {"name", device.name},
                                      {"compute_capability", fmt::format("{}.{}", device.major, device.minor)},
                                      {"multiprocessors", device.multiprocessors},
                                      {"memory_bytes", device.memory_bytes}};
        if (report.available) {
            object["free_bytes"] = device.free_bytes;
        }
        devices.push_back(object);
    }
    return {{"built", report.built},
            {"available", report.available},
            {"problem", report.problem},
            {"driver", report.driver},
            {"runtime", report.runtime},
            {"cublas", report.cublas},
            {"cublas_path", report.cublas_path},
            {"devices", devices}};
}

}  // namespace heptad::cli
