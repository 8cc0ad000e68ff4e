// What a process does before anything else.
#pragma once

namespace heptad::cli {

/// Makes failures of writing ones that are told and cleaned up, instead of signals that end the process, and keeps
/// matrix files off the numbers of standard streams that were closed.
void prepare_process();

}  // namespace heptad::cli
