// The ranks of an MPI job and what they say to each other. Only the thread that began the session calls MPI
// (MPI_THREAD_FUNNELED). Messages of any length go in pieces far below MPI's 32-bit counts, and whoever waits for one
// looks up now and then, so that a failure in another thread of the rank ends the wait.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace heptad {

/// A failure that every rank was told of: one of them should print it.
class AgreedError : public Error {
public:
    using Error::Error;
};

class Communicator {
public:
    /// Begins MPI. Throws Error(resource) where it lacks the thread level.
    Communicator(int* argc, char*** argv);
    /// Ends MPI, unless an exception is on its way: then other ranks may wait for this one, and abort() is due.
    ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    int rank() const { return rank_; }
    int size() const { return size_; }
    /// Ranks on the same machine: how many, and which of them this is.
    int local_size() const { return local_size_; }
    int local_rank() const { return local_rank_; }
    const std::string& host() const { return host_; }

    /// Called by whoever waits, every fraction of a millisecond; may throw.
    void set_lookout(std::function<void()> lookout);

    /// Sends and receives at once; `to` or `from` may be -1 for none. The lengths must match on both sides.
    void exchange(int to, const void* sent, std::int64_t sent_bytes, int from, void* received,
                  std::int64_t received_bytes);
    void send(int to, const void* data, std::int64_t bytes) { exchange(to, data, bytes, -1, nullptr, 0); }
    void receive(int from, void* data, std::int64_t bytes) { exchange(-1, nullptr, 0, from, data, bytes); }
    /// Everybody gets everybody's.
    std::vector<std::string> gather_texts(const std::string& text);
    /// Everybody gets the root's.
    std::string broadcast_text(const std::string& text);
    void barrier();

    /// Runs the same step on every rank. Where it fails on some, all throw the AgreedError of the first of them, with
    /// its rank and host.
    void agree(const std::function<void()>& step);

    /// Bytes that exchange() received from other ranks so far.
    std::int64_t received_bytes() const { return received_bytes_; }
    /// Takes bytes out of that count which said something about matrices and were no parts of them.
    void discount(std::int64_t bytes) { received_bytes_ -= bytes; }

    /// Ends the whole job now.
    [[noreturn]] void abort(int exit_code);

private:
    struct State;
    std::unique_ptr<State> state_;
    int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
    std::string host_;
    std::int64_t received_bytes_ = 0;
};

/// The text that differs from the first one, and whose it is; -1 if none does.
int first_difference(const std::vector<std::string>& texts);

}  // namespace heptad
