// Files with machine descriptions, one per user and machine: {"key": text, "machines": [description, ...]}.
#pragma once

#include <string>
#include <vector>

#include "plan/machine.hpp"

namespace heptad {

/// A kept file: what its measurements depend on, and where it is. Named by the variable, or tune-<key>.json in
/// $XDG_CACHE_HOME/heptad or ~/.cache/heptad; no path if none of them is set.
struct TuneFile {
    std::string key, path;
    bool named = false;  // by the user, and taken at his word whatever its key says
};
TuneFile tune_file_for(const std::string& key, const char* variable);

/// None if the file cannot be read, is damaged, or is of another machine.
std::vector<Machine> read_machines(const TuneFile& file);
/// In one step. Throws Error(resource) if it cannot be written.
void write_machines(const TuneFile& file, const std::vector<Machine>& machines);

}  // namespace heptad
