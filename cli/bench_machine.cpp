#include "bench_machine.hpp"

#include <fmt/chrono.h>

#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>

#include "backend/cpu/cpu_info.hpp"
#include "backend/cpu/vendor_blas.hpp"
#include "commit.hpp"  // written by commit.cmake
#include "output.hpp"
#include "place/file/atomic_file.hpp"

namespace heptad::cli {

nlohmann::ordered_json machine_facts(const std::string& command) {
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
    return {{"cpu", cpu.brand},
            {"architecture", cpu.architecture},
            {"cores", cpu.usable_cores},
            {"device", "cpu"},
            {"libraries", libraries},
            {"heptad", version()},
            {"commit", HEPTAD_COMMIT},
            {"command", command},
            {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now))}};
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

void write_result_file(const std::string& path, const std::string& command, const std::vector<BenchRecord>& records) {
    nlohmann::ordered_json results = nlohmann::ordered_json::array();
    for (const BenchRecord& record : records) {
        results.push_back(to_json(record));
    }
    const std::string text = pretty({{"machine", machine_facts(command)}, {"results", results}});
    AtomicFile file(path, static_cast<std::int64_t>(text.size()));
    file.write(text.data(), static_cast<std::int64_t>(text.size()));
    file.commit();
}

}  // namespace heptad::cli
