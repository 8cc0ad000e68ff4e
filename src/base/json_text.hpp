// JSON that somebody hands in: tune files, plans, results. Read with suspicion.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace heptad {

/// No file of ours nests its values deeper than a tenth of this. Printing and copying a value recurse, so that deeper
/// ones would end the process on its stack.
inline constexpr int kDeepestJson = 100;

/// Throws Error(input) where the text is no JSON, or nests deeper.
nlohmann::json parse_json(const std::string& text);

}  // namespace heptad
