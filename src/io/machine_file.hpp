// The machine descriptions that plans are made from: measured once (`heptad tune`) and kept in a file per user and
// machine, {"key": text, "machines": [description, ...]}, or guessed from the processor's features.
//
// The CPU's file is $HEPTAD_TUNE_FILE, or tune-<key>.json in $XDG_CACHE_HOME/heptad (~/.cache/heptad). The key stands
// for the processor, its cores, the BLAS libraries with their versions and kernels, Heptad's version and the edition of
// its kernels, so that a change of any of them asks for a new measurement. The file holds one description per number of
// threads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/model/machine.hpp"

namespace heptad {

/// What is known without measuring: rates by vector width, clock and cores, for the leaves this machine has.
Machine default_machine(int threads);

/// May a file that HEPTAD_TUNE_FILE names be missing? Not where plans are made: its name was mistyped.
enum class NamedFile { must_exist, may_be_missing };

/// While it lives, all files that are named may be missing: this process tunes, which makes them, and plans products
/// for it.
class TuningScope {
public:
    TuningScope();
    ~TuningScope();
    TuningScope(const TuningScope&) = delete;
    TuningScope& operator=(const TuningScope&) = delete;
};

/// From now on this process goes by the built-in figures where a file that is named cannot be read.
void allow_unreadable_files();

/// The measured description for that many threads, or the default one: a file in the cache that is missing, damaged or
/// of another machine counts as not measured. Leaves that this machine does not have are left out. Throws Error(input)
/// for a file that the user named and that cannot be read.
Machine load_machine(int threads, NamedFile missing = NamedFile::must_exist);

/// All that were measured on this processor, whichever BLAS libraries it had then: for a process that has a BLAS of its
/// own and loads no other. Of files in the order of their names; what cannot be read is left out.
std::vector<Machine> machines_of_this_processor();

/// Adds the description to the file, in place of an older one with as many threads; the file changes in one step, and
/// nothing is lost where others save at the same time. Throws Error(resource) if it cannot be written.
void save_machine(const Machine& machine);
/// Throws what save_machine would throw, before anybody has measured for minutes.
void require_savable();

/// How to go back to the built-in figures, as a sentence for people; empty if there is no file.
std::string way_back(const std::string& file);

/// Where the file is, whether it exists or not; empty if neither HEPTAD_TUNE_FILE, XDG_CACHE_HOME nor HOME is set.
std::string tune_file();

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
