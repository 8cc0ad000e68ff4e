// Files with machine descriptions, one per user and machine: {"key": text, "machines": [description, ...]}.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/machine.hpp"
#include "run/tune.hpp"

namespace heptad {

/// A kept file: what its measurements depend on, and where it is. Named by the variable, or tune-<key>.json in
/// $XDG_CACHE_HOME/heptad or ~/.cache/heptad; no path if none of them is set.
struct TuneFile {
    std::string key, path;
    bool named = false;    // by the user, and taken at his word whatever its key says
    std::string variable;  // that names it, or may
};
TuneFile tune_file_for(const std::string& key, const char* variable);

/// A file that the user named and that cannot be read is an Error(input), unless it is only missing and may be. One in
/// the cache that is missing, damaged or of another machine has none.
std::vector<Machine> read_machines(const TuneFile& file, NamedFile missing = NamedFile::must_exist);

/// Reads, changes and writes under a lock, so that two who do that at once lose nothing; readers see the old file or
/// the new one. Descriptions that cannot be read are left out. Throws Error(resource) if the file cannot be written.
void update_machines(const TuneFile& file, const std::function<void(std::vector<Machine>&)>& change);

/// Throws what update_machines would throw, before anybody has measured for minutes. Makes the folder of the file.
void require_updatable(const TuneFile& file);

}  // namespace heptad
