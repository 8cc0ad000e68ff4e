// The file that a trace goes to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/atomic_file.hpp"

namespace heptad {

/// The absolute path with its links followed. A path that the system refuses to look at, such as one that is too long,
/// stays as it is: whoever opens it is told why.
std::filesystem::path place_of(const std::filesystem::path& path);

/// Known before the product, which may take hours: it can be written, and is none of the product's own files. Throws
/// Error(usage) for the latter, Error(input) or Error(resource) for the former.
void require_trace_file(const std::string& trace, const std::vector<std::string>& taken);

}  // namespace heptad
