// heptad-mpi mul: runs the job, gathers what the ranks did, and lets the root print it.
#pragma once

#include "cli/mpi/mpi_options.hpp"

namespace heptad::cli {

/// `give_up` ends the whole job; see move/stages.hpp.
void run(const MpiMulArguments& mul, Communicator& ranks, const StageFailure::GiveUp& give_up);

}  // namespace heptad::cli
