#include "move/ranks/communicator.hpp"

#include <heptad/cluster.hpp>

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <thread>

#include "base/fail_if.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kPiece_bytes = std::int64_t{64} << 20;
constexpr int kWorldTag = 32077;  // seldom used by others, whose messages share MPI_COMM_WORLD
constexpr int kTag = 7;
constexpr int kEagerLooks = 200;  // before a waiting rank begins to sleep
constexpr std::chrono::microseconds kNap{50};

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "unknown host";
}

int as_count(std::size_t bytes) {
    fail_if(bytes > static_cast<std::size_t>(std::numeric_limits<int>::max()), ErrorCode::internal,
            "a text of {} bytes is too long for one message", bytes);
    return static_cast<int>(bytes);
}

/// Only misuse of MPI gets here: its own error handler ends the job for everything else.
void check_mpi(int status, const char* what) {
    fail_if(status != MPI_SUCCESS, ErrorCode::internal, "{} failed with MPI's code {}", what, status);
}

/// Starts a message each way, in pieces far below MPI's 32-bit counts; -1 for none. The buffers must last until the
/// requests are done.
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

}  // namespace

struct Communicator::State {
    MPI_Comm world = MPI_COMM_NULL;
    std::function<void()> lookout;
    int exceptions_at_start = std::uncaught_exceptions();

    void wait(std::vector<MPI_Request>& requests) const {
        for (int looks = 0;; ++looks) {
            int done = 0;
            check_mpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
                      "waiting for a message");
            if (done != 0) {
                return;
            }
            if (lookout) {
                lookout();
            }
            if (looks > kEagerLooks) {
                std::this_thread::sleep_for(kNap);
            }
        }
    }
};

Communicator::Communicator(int* argc, char*** argv) : state_(std::make_unique<State>()) {
    int level = 0;
    check_mpi(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level), "beginning MPI");
    fail_if(level < MPI_THREAD_FUNNELED, ErrorCode::resource,
            "this MPI offers thread level {}, but {} (MPI_THREAD_FUNNELED) is needed; use one that "
            "was built with threads",
            level, static_cast<int>(MPI_THREAD_FUNNELED));
    MPI_Comm& world = state_->world;
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &world), "MPI_Comm_dup");
    check_mpi(MPI_Comm_rank(world, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(world, &size_), "MPI_Comm_size");
    MPI_Comm local = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &local), "MPI_Comm_split_type");
    check_mpi(MPI_Comm_rank(local, &local_rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(local, &local_size_), "MPI_Comm_size");
    check_mpi(MPI_Comm_free(&local), "MPI_Comm_free");
    host_ = host_name();
}

Communicator::~Communicator() {
    if (std::uncaught_exceptions() > state_->exceptions_at_start) {
        return;
    }
    MPI_Comm_free(&state_->world);
    MPI_Finalize();
}

void Communicator::set_lookout(std::function<void()> lookout) {
    state_->lookout = std::move(lookout);
}

void Communicator::exchange(int to, const void* sent, std::int64_t sent_bytes, int from, void* received,
                            std::int64_t received_bytes) {
    std::vector<MPI_Request> requests =
        start_exchange(state_->world, kTag, to, sent, sent_bytes, from, received, received_bytes);
    state_->wait(requests);
    if (from >= 0 && from != rank_) {
        received_bytes_ += received_bytes;
    }
}

std::vector<std::string> Communicator::gather_texts(const std::string& text) {
    const auto ranks = static_cast<std::size_t>(size_);
    const int length = as_count(text.size());
    std::vector<int> lengths(ranks), starts(ranks);
    std::vector<MPI_Request> request(1);
    check_mpi(MPI_Iallgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, state_->world, request.data()),
              "MPI_Iallgather");
    state_->wait(request);
    std::size_t total = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        starts[rank] = as_count(total);
        total += static_cast<std::size_t>(lengths[rank]);
    }
    std::string all(total, '\0');
    check_mpi(MPI_Iallgatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR,
                              state_->world, request.data()),
              "MPI_Iallgatherv");
    state_->wait(request);
    std::vector<std::string> texts;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        texts.push_back(all.substr(static_cast<std::size_t>(starts[rank]), static_cast<std::size_t>(lengths[rank])));
    }
    return texts;
}

std::string Communicator::broadcast_text(const std::string& text) {
    std::vector<MPI_Request> request(1);
    int length = as_count(text.size());
    check_mpi(MPI_Ibcast(&length, 1, MPI_INT, 0, state_->world, request.data()), "MPI_Ibcast");
    state_->wait(request);
    std::string copy = text;
    copy.resize(static_cast<std::size_t>(length));
    check_mpi(MPI_Ibcast(copy.data(), length, MPI_CHAR, 0, state_->world, request.data()), "MPI_Ibcast");
    state_->wait(request);
    return copy;
}

void Communicator::barrier() {
    std::vector<MPI_Request> request(1);
    check_mpi(MPI_Ibarrier(state_->world, request.data()), "MPI_Ibarrier");
    state_->wait(request);
}

void Communicator::agree(const std::function<void()>& step) {
    std::string failure;  // the code as one character, then the sentence
    try {
        step();
    } catch (const Error& error) {
        failure = static_cast<char>(error.code());
        failure += fmt::format("rank {} ({}): {}", rank(), host(), error.what());
    } catch (const std::bad_alloc&) {
        failure = static_cast<char>(ErrorCode::resource);
        failure += fmt::format("rank {} ({}): memory ran out; use more ranks or a smaller --memory", rank(), host());
    }
    for (const std::string& one : gather_texts(failure)) {
        if (!one.empty()) {
            throw AgreedError(static_cast<ErrorCode>(static_cast<unsigned char>(one[0])), one.substr(1));
        }
    }
}

void Communicator::abort(int exit_code) {
    MPI_Abort(state_->world, exit_code);
    std::_Exit(exit_code);
}

RankExchange mpi_exchange() {
    return [](int to, const void* sent, std::int64_t sent_bytes, int from, void* received,
              std::int64_t received_bytes) {
        std::vector<MPI_Request> requests =
            start_exchange(MPI_COMM_WORLD, kWorldTag, to, sent, sent_bytes, from, received, received_bytes);
        check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    };
}

int first_difference(const std::vector<std::string>& texts) {
    const auto other =
        std::find_if(texts.begin(), texts.end(), [&](const std::string& text) { return text != texts.front(); });
    return other == texts.end() ? -1 : static_cast<int>(other - texts.begin());
}

}  // namespace heptad
