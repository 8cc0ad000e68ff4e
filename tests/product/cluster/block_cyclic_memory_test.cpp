// Memory that runs out on one process of a grid while the others have some: all end, and with the same answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

#include <heptad/cluster.hpp>

#include "citizen/failing_memory.hpp"

namespace heptad {
namespace {

constexpr int kRows = 2, kCols = 2, kProcesses = kRows * kCols;
constexpr std::int64_t kM = 29, kK = 41, kN = 23, kLeading = 60;

/// Messages between threads that need no memory: the sender waits until its bytes were taken.
class Meeting {
public:
    void exchange(int own, int to, const void* sent, std::int64_t sent_bytes, int from, void* received,
                  std::int64_t received_bytes) {
        std::unique_lock lock(mutex_);
        Message& mine = between(own, to);
        mine = {sent, sent_bytes, true};
        changed_.notify_all();
        Message& theirs = between(from, own);
        wait(lock, [&] { return theirs.is_there; });
        is_right_ = is_right_ && theirs.bytes == received_bytes;
        std::memcpy(received, theirs.data, static_cast<std::size_t>(std::min(theirs.bytes, received_bytes)));
        theirs.is_there = false;
        changed_.notify_all();
        wait(lock, [&] { return !mine.is_there; });
    }
    bool is_right() const { return is_right_; }

private:
    struct Message {
        const void* data = nullptr;
        std::int64_t bytes = 0;
        bool is_there = false;
    };
    Message& between(int from, int to) { return messages_[static_cast<std::size_t>(from * kProcesses + to)]; }
    template <class Condition>
    void wait(std::unique_lock<std::mutex>& lock, const Condition& holds) {
        constexpr std::chrono::seconds kPatience{20};
        is_right_ = changed_.wait_for(lock, kPatience, holds) && is_right_;  // otherwise nobody comes any more
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::array<Message, kProcesses * kProcesses> messages_;
    bool is_right_ = true;
};

struct Outcome {
    int failed = 0, without_memory = 0;
    std::int64_t written = 0, allocations = 0;
    bool is_right = true;  // messages, and C where nobody failed
};

/// C = A B + C / 2 where A and B are ones and C is 7.
Outcome multiply(Accuracy accuracy, std::int64_t failing, citizen::Shortage shortage) {
    Meeting meeting;
    std::latch ready(kProcesses), begin(1);
    std::array<ErrorCode, kProcesses> codes{};
    std::vector<std::vector<double>> results(kProcesses, std::vector<double>(kLeading * kLeading, 7));
    std::vector<std::thread> processes;
    for (int process = 0; process < kProcesses; ++process) {
        processes.emplace_back([&, process] {
            std::vector<double> a(kLeading * kLeading, 1), b(a);
            const ProcessGrid grid{kRows, kCols, process / kCols, process % kCols, {0, 1, 2, 3}};
            const auto whole = [&](std::vector<double>& local, std::int64_t rows, std::int64_t cols) {
                return BlockCyclicPart{{local.data(), Type::f64, rows, cols, 5, 3, 1, 0, kLeading}, 0, 0, false};
            };
            const BlockCyclicPart pa = whole(a, kM, kK), pb = whole(b, kK, kN),
                                  pc = whole(results[static_cast<std::size_t>(process)], kM, kN);
            const RankExchange exchange = [&meeting, process](int to, const void* sent, std::int64_t sent_bytes,
                                                              int from, void* received, std::int64_t received_bytes) {
                meeting.exchange(process, to, sent, sent_bytes, from, received, received_bytes);
            };
            Options options;
            options.accuracy = accuracy;
            ready.count_down();
            begin.wait();
            try {
                multiply_block_cyclic({kM, kK, kN}, 1, pa, pb, 0.5, pc, grid, exchange, options, 1);
            } catch (const Error& error) {
                codes[static_cast<std::size_t>(process)] = error.code();
            } catch (...) {
                codes[static_cast<std::size_t>(process)] = ErrorCode::internal;
            }
        });
    }
    ready.wait();
    citizen::let_allocation_fail(failing, shortage);
    begin.count_down();
    for (std::thread& process : processes) {
        process.join();
    }
    Outcome outcome;
    outcome.allocations = citizen::serve_allocations();
    for (const ErrorCode code : codes) {
        outcome.failed += code != ErrorCode{} ? 1 : 0;
        outcome.without_memory += code == ErrorCode::resource ? 1 : 0;
    }
    for (const std::vector<double>& local : results) {
        for (const double x : local) {
            outcome.written += x == kK + 3.5 ? 1 : 0;
            outcome.is_right = outcome.is_right && (outcome.failed > 0 || x == 7 || x == kK + 3.5);
        }
    }
    outcome.is_right = outcome.is_right && meeting.is_right();
    return outcome;
}

TEST(block_cyclic_memory, where_one_process_has_none_all_say_so_and_nobody_waits) {
    for (const Accuracy accuracy : {Accuracy::balanced, Accuracy::exact}) {
        multiply(accuracy, 0, citizen::Shortage::once);  // plans are made, and kept
        const Outcome whole = multiply(accuracy, 0, citizen::Shortage::once);
        ASSERT_EQ(whole.failed, 0);
        ASSERT_EQ(whole.written, kM * kN);
        int seen = 0;
        for (const citizen::Shortage shortage : {citizen::Shortage::once, citizen::Shortage::for_good}) {
            for (const std::int64_t number : citizen::chosen_allocations(whole.allocations, 200)) {
                const Outcome outcome = multiply(accuracy, number, shortage);
                ASSERT_TRUE(outcome.is_right) << number << " of " << whole.allocations;
                ASSERT_TRUE(outcome.failed == 0 || outcome.without_memory == kProcesses)
                    << number << ": " << outcome.failed << " failed, " << outcome.without_memory << " without memory";
                ASSERT_TRUE(outcome.failed > 0 || outcome.written == kM * kN) << number;
                seen += outcome.failed > 0 ? 1 : 0;
            }
        }
        EXPECT_GT(seen, 50);
    }
}

}  // namespace
}  // namespace heptad
