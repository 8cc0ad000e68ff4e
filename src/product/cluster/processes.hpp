// The processes of a grid that multiply together: messages between them, and what they throw together.
#pragma once

#include <heptad/cluster.hpp>

#include <cstdint>
#include <exception>

namespace heptad {

class Processes {
public:
    /// Both outlive it.
    Processes(const ProcessGrid& grid, const RankExchange& exchange)
        : grid_(grid),
          exchange_(exchange),
          count_(grid.rows * grid.cols),
          own_(grid.my_row * grid.cols + grid.my_col) {}

    int count() const { return count_; }
    int own() const { return own_; }

    /// In round t everybody sends to the t-th one after it and receives from the t-th one before it.
    template <class Round>
    void in_rounds(Round&& round) const {
        for (int t = 0; t < count_; ++t) {
            round((own_ + t) % count_, (own_ - t + count_) % count_);
        }
    }
    /// Not for messages to itself.
    void exchange(int to, const void* sent, std::int64_t sent_bytes, int from, void* received,
                  std::int64_t received_bytes) const {
        exchange_(rank_of(to), sent, sent_bytes, rank_of(from), received, received_bytes);
    }

    /// Carries out a step that sends nothing. What one process throws there, all throw: those that went on would wait
    /// for its messages for ever.
    template <class Step>
    void agree(Step&& step) const {
        std::exception_ptr problem;
        try {
            step();
        } catch (...) {
            problem = std::current_exception();
        }
        throw_alike(problem);
    }
    /// `problem`: of this process; none if it has none.
    void throw_alike(const std::exception_ptr& problem) const;

private:
    int rank_of(int process) const { return grid_.ranks[static_cast<std::size_t>(process)]; }

    const ProcessGrid& grid_;
    const RankExchange& exchange_;
    const int count_, own_;
};

}  // namespace heptad
