// The machine description that plans are made from: measured once (`heptad tune`), kept in a file per user and machine,
// or guessed from the processor's features.
//
// The file is $HEPTAD_TUNE_FILE, or tune-<key>.json in $XDG_CACHE_HOME/heptad (~/.cache/heptad). The key stands for the
// processor, its cores, the BLAS libraries with their versions and kernels, and Heptad's version, so that a change of
// any of them asks for a new measurement. The file holds one description per number of threads.
#pragma once

#include <functional>
#include <string>

#include "plan/machine.hpp"

namespace heptad {

/// fraction of the work done (0 to 1) and what is being measured.
using TuneProgress = std::function<void(double fraction, const std::string& stage)>;

/// Measures every leaf on squares and thin shapes in f32, f64 and i32, the passes over memory and the cost of a call,
/// and holds contests of whole plans. Takes about budget_s seconds, a third more at most: repetitions and, in need, the
/// largest shapes are left out. Throws Error(usage) for threads < 1 and whatever progress() throws.
Machine measure_machine(int threads, double budget_s = 60, const TuneProgress& progress = {});

/// What is known without measuring: rates by vector width, clock and cores, for the leaves this machine has.
Machine default_machine(int threads);

/// May a file that HEPTAD_TUNE_FILE names be missing? Not where plans are made: its name was mistyped.
enum class NamedFile { must_exist, may_be_missing };

/// The measured description for that many threads, or the default one: a file in the cache that is missing, damaged or
/// of another machine counts as not measured. Leaves that this machine does not have are left out. Throws Error(input)
/// for a file that the user named and that cannot be read.
Machine load_machine(int threads, NamedFile missing = NamedFile::must_exist);

/// Adds the description to the file, in place of an older one with as many threads; the file changes in one step, and
/// nothing is lost where others save at the same time. Throws Error(resource) if it cannot be written.
void save_machine(const Machine& machine);
/// Throws what save_machine would throw, before anybody has measured for minutes.
void require_savable();

/// Where the file is, whether it exists or not; empty if neither HEPTAD_TUNE_FILE, XDG_CACHE_HOME nor HOME is set.
std::string tune_file();

}  // namespace heptad
