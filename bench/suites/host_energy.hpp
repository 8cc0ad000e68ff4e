// The energy that the processors have used, as the kernel counts it (RAPL, under /sys/class/powercap).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace heptad::cli {

/// Counters of all processor packages at one time. Most systems let only the administrator read them.
class HostEnergy {
public:
    /// Reads them from a folder like /sys/class/powercap.
    static HostEnergy now(const std::string& folder = "/sys/class/powercap");
    /// Joules since an earlier reading; nothing where a counter could not be read then or now.
    std::optional<double> since(const HostEnergy& earlier) const;
    /// Could they be read?
    bool known() const { return !packages_.empty(); }

private:
    struct Package {
        std::string name;
        double joules = 0;
        double range_joules = 0;  // the counter starts again at this
    };
    std::vector<Package> packages_;
};

}  // namespace heptad::cli
