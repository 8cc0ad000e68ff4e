#include "bench/suites/host_energy.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace heptad::cli {
namespace {

std::optional<double> number_in(const std::filesystem::path& file) {
    std::ifstream stream(file);
    double value = 0;
    return stream >> value ? std::optional(value) : std::nullopt;
}

}  // namespace

HostEnergy HostEnergy::now(const std::string& folder) {
    HostEnergy energy;
    std::error_code ignored;  // without the folder there are no counters
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        const std::string name = entry.path().filename().string();
        // "intel-rapl:0" is a package; "intel-rapl:0:0" is a part of it, and "intel-rapl-mmio:0" the same once more.
        const std::string prefix = "intel-rapl:";
        if (!name.starts_with(prefix) || name.find(':', prefix.size()) != std::string::npos) {
            continue;
        }
        const std::optional<double> microjoules = number_in(entry.path() / "energy_uj");
        if (!microjoules) {
            return {};  // a sum without one package would mislead
        }
        energy.packages_.push_back(
            {name, *microjoules * 1e-6, number_in(entry.path() / "max_energy_range_uj").value_or(0) * 1e-6});
    }
    std::sort(energy.packages_.begin(), energy.packages_.end(),
              [](const Package& x, const Package& y) { return x.name < y.name; });
    return energy;
}

std::optional<double> HostEnergy::since(const HostEnergy& earlier) const {
    if (packages_.empty() || packages_.size() != earlier.packages_.size()) {
        return std::nullopt;
    }
    double joules = 0;
    for (std::size_t i = 0; i < packages_.size(); ++i) {
        const double used = packages_[i].joules - earlier.packages_[i].joules;
        joules += used >= 0 ? used : used + packages_[i].range_joules;
    }
    return joules;
}

}  // namespace heptad::cli
