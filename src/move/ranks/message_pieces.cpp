#include "move/ranks/message_pieces.hpp"

#include <heptad/cluster.hpp>

#include <algorithm>
#include <cstddef>

#include "base/error.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kPiece_bytes = std::int64_t{64} << 20;
constexpr int kWorldTag = 32077;  // seldom used by others, whose messages share MPI_COMM_WORLD

}  // namespace

/// Only misuse of MPI gets here: its own error handler ends the job for everything else.
void check_mpi(int status, const char* what) {
    if (status != MPI_SUCCESS) {
        fail(ErrorCode::internal, "{} failed with MPI's code {}", what, status);
    }
}

std::vector<MPI_Request> start_exchange(MPI_Comm ranks, int tag, int to, const void* sent, std::int64_t sent_bytes,
                                        int from, void* received, std::int64_t received_bytes) {
    std::vector<MPI_Request> requests;
    for (std::int64_t done = 0; from >= 0 && done < received_bytes; done += kPiece_bytes) {
        const auto bytes = static_cast<int>(std::min(kPiece_bytes, received_bytes - done));
        requests.emplace_back();
        check_mpi(
            MPI_Irecv(static_cast<std::byte*>(received) + done, bytes, MPI_BYTE, from, tag, ranks, &requests.back()),
            "MPI_Irecv");
    }
    for (std::int64_t done = 0; to >= 0 && done < sent_bytes; done += kPiece_bytes) {
        const auto bytes = static_cast<int>(std::min(kPiece_bytes, sent_bytes - done));
        requests.emplace_back();
        check_mpi(
            MPI_Isend(static_cast<const std::byte*>(sent) + done, bytes, MPI_BYTE, to, tag, ranks, &requests.back()),
            "MPI_Isend");
    }
    return requests;
}

RankExchange mpi_exchange() {
    return [](int to, const void* sent, std::int64_t sent_bytes, int from, void* received,
              std::int64_t received_bytes) {
        std::vector<MPI_Request> requests =
            start_exchange(MPI_COMM_WORLD, kWorldTag, to, sent, sent_bytes, from, received, received_bytes);
        check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    };
}

}  // namespace heptad
