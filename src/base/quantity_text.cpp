#include "base/quantity_text.hpp"
#include "base/types.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace heptad {

std::string format_bytes(std::int64_t bytes) {
    constexpr std::array<const char*, 5> kUnits{"bytes", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < kUnits.size()) {
        value /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.2f} {}", value, kUnits[unit]);
}

std::string format_seconds(double seconds) {
    if (!(seconds >= 0)) {
        return "unknown";
    }
    if (seconds >= 7200) {
        return fmt::format("{:.3g} h", seconds / 3600);
    }
    if (seconds >= 600) {
        return fmt::format("{:.3g} min", seconds / 60);
    }
    if (seconds >= 1) {
        return fmt::format("{:.3g} s", seconds);
    }
    if (seconds >= 1e-3) {
        return fmt::format("{:.3g} ms", seconds * 1e3);
    }
    if (seconds >= 1e-6) {
        return fmt::format("{:.3g} us", seconds * 1e6);
    }
    return fmt::format("{:.3g} ns", seconds * 1e9);
}

std::string format_clock(double seconds) {
    const auto total = static_cast<std::int64_t>(std::ceil(seconds));
    const std::int64_t hours = total / 3600;
    if (hours > 0) {
        return fmt::format("{}:{:02}:{:02}", hours, total / 60 % 60, total % 60);
    }
    return fmt::format("{}:{:02}", total / 60, total % 60);
}

std::string format_rate(double operations_per_s, Type type) {
    const char* unit = is_float(type) ? "FLOP/s" : "op/s";
    if (operations_per_s >= 1e12) {
        return fmt::format("{:.2f} T{}", operations_per_s / 1e12, unit);
    }
    if (operations_per_s >= 1e9) {
        return fmt::format("{:.1f} G{}", operations_per_s / 1e9, unit);
    }
    return fmt::format("{:.1f} M{}", operations_per_s / 1e6, unit);
}

std::string format_byte_rate(double bytes, double seconds) {
    return seconds > 0 ? fmt::format("{:.3g} GB/s", bytes / seconds / 1e9) : "-";
}

}  // namespace heptad
