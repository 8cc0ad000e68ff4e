// The file that --trace names.
#pragma once

#include <string>
#include <vector>

namespace heptad::cli {

/// Known before the product, which may take hours: it can be written, and is none of the product's own files. Throws
/// Error(usage) for the latter, Error(input) or Error(resource) for the former.
void require_trace_file(const std::string& trace, const std::vector<std::string>& taken);

}  // namespace heptad::cli
