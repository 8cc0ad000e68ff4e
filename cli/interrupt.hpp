// Ctrl-C and SIGTERM set a cancel token; whoever works looks at it and stops cleanly. A second signal ends the process
// at once.
#pragma once

#include <heptad/heptad.hpp>

namespace heptad::cli {

/// Installs the handlers on first use.
const CancelToken& interrupt_token();

/// Throws Error(cancelled) once a signal came.
void stop_if_interrupted();

}  // namespace heptad::cli
