#include "io/sealed_line.hpp"

#include <fmt/format.h>

#include "io/checksum.hpp"

namespace heptad {

std::string sealed(const std::string& text) {
    return fmt::format("{} #{:016x}\n", text, checksum(text.data(), static_cast<std::int64_t>(text.size())));
}

std::optional<std::string> unsealed(const std::string& line) {
    constexpr std::size_t kSeal = 18;  // " #" and 16 digits
    if (line.size() < kSeal) {
        return std::nullopt;
    }
    std::string text = line.substr(0, line.size() - kSeal);
    return sealed(text) == line + "\n" ? std::optional(text) : std::nullopt;
}

}  // namespace heptad
