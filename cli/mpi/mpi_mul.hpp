// heptad-mpi mul: runs the job, gathers what the ranks did, and lets the root print it.
#pragma once

#include "cli/mpi/mpi_options.hpp"

namespace heptad::cli {

void run(const MpiMulArguments& mul, Communicator& ranks);

}  // namespace heptad::cli
