// Messages of any length over MPI, in pieces far below its 32-bit counts. Only this folder's sources include it: it
// needs <mpi.h>.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace heptad {

/// Throws Error(internal) that names the call, unless it succeeded.
void check_mpi(int status, const char* what);

/// Starts a message each way; -1 for none. The buffers must last until the requests are done.
std::vector<MPI_Request> start_exchange(MPI_Comm ranks, int tag, int to, const void* sent, std::int64_t sent_bytes,
                                        int from, void* received, std::int64_t received_bytes);

}  // namespace heptad
