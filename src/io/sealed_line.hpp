// Lines of a journal that end in a checksum of themselves: a torn or damaged one is known.
#pragma once

#include <optional>
#include <string>

namespace heptad {

/// With the seal and the end of the line.
std::string sealed(const std::string& text);
/// A line, without its end, without its seal; nothing if it does not fit.
std::optional<std::string> unsealed(const std::string& line);

}  // namespace heptad
