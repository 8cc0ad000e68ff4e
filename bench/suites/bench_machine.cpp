#include "bench/suites/bench_machine.hpp"

#include <fmt/chrono.h>

#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>

#include "cli/text.hpp"
#include "commit.hpp"  // written by commit.cmake
#include "kernels/cpu/cpu_info.hpp"
#include "kernels/cpu/vendor_blas.hpp"
#include "kernels/cuda/device/device.hpp"

namespace heptad::cli {

nlohmann::ordered_json machine_facts(const std::string& command, std::optional<int> cuda_device) {
    const cpu::CpuInfo& cpu = cpu::cpu_info();
    nlohmann::ordered_json libraries = nlohmann::ordered_json::array();
    for (const cpu::VendorReport& report : cpu::vendor_reports()) {
        if (report.found) {
            libraries.push_back({{"name", report.name},
                                 {"version", report.version},
                                 {"core", report.core},
                                 {"correction", report.correction}});
        }
    }
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    nlohmann::ordered_json facts{{"cpu", cpu.brand},
                                 {"architecture", cpu.architecture},
                                 {"cores", cpu.usable_cores},
                                 {"device", "cpu"},
                                 {"libraries", libraries},
                                 {"heptad", version()},
                                 {"commit", HEPTAD_COMMIT},
                                 {"command", command},
                                 {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now))}};
    if (cuda_device) {
        const cuda::Report report = cuda::report();
        const cuda::DeviceInfo& device = report.devices.at(static_cast<std::size_t>(*cuda_device));
        facts["device"] = device.name;
        facts["device_memory_bytes"] = device.memory_bytes;
        facts["compute_capability"] = fmt::format("{}.{}", device.major, device.minor);
        facts["driver"] = report.driver;
        facts["cuda"] = report.runtime;
        facts["cublas"] = report.cublas;
        facts["libraries"] = nlohmann::ordered_json::array();
        facts["libraries"].push_back({{"name", "cublas"}, {"version", report.cublas}, {"path", report.cublas_path}});
    }
    return facts;
}

std::string machine_line() {
    const cpu::CpuInfo& cpu = cpu::cpu_info();
    std::string line = fmt::format("{}, {} core{}", cpu.brand, cpu.usable_cores, cpu.usable_cores == 1 ? "" : "s");
    for (const cpu::VendorReport& report : cpu::vendor_reports()) {
        if (report.found) {
            line += fmt::format("; {} {}{}", report.name, report.version,
                                report.core.empty() ? "" : " (" + report.core + ")");
        }
    }
    return line + "\n";
}

std::string device_line(int cuda_device) {
    const cuda::Report report = cuda::report();
    const cuda::DeviceInfo& device = report.devices.at(static_cast<std::size_t>(cuda_device));
    return fmt::format("{}, {}; driver {}, CUDA {}, cuBLAS {}\n", device.name, format_bytes(device.memory_bytes),
                       report.driver, report.runtime, report.cublas);
}

}  // namespace heptad::cli
