// Plays products in a given order and keeps book of the values that are alive. The search runs it for its counts; the
// recorder runs it once more to write the operations down. Policy, given the order of products:
//
//   sums of A and B   are made when the first product needs them, and die with their last reader;
//   sums of products  take a term in as soon as that costs no slot: always once the sum has begun, otherwise when a
//                     term would be read for the last time, so that the sum can take its place.
#pragma once

#include <vector>

#include "algorithm/scheduler.hpp"

namespace heptad {

class Simulation {
public:
    /// `recording` may be null; the graph must outlive the simulation.
    Simulation(const SchedulerGraph& graph, Recording* recording);

    /// Precondition: product s has not been played.
    void play(int s);
    /// After the last product: sums that had to wait.
    void finish() { settle(true); }

    int peak_temporaries() const { return peak_; }
    int live_values() const { return live_a_ + live_b_ + live_c_; }
    int operations() const { return operations_; }

private:
    struct Operand {
        std::size_t left = 0;  // in book_: readers to come, per value
        std::size_t made = 0;  // in book_: per statement
        std::vector<int> reg;  // per statement, when recording
    };

    void note_peak();
    void make_operand(const OperandGraph& graph, Operand& operand, Shape shape, int value);
    void read_operand(const OperandGraph& graph, Operand& operand, Shape shape, int value);
    void multiply(int s);
    void settle(bool force);
    void take_terms(int q, const std::vector<int>& terms);
    void complete(int q);
    void release(int value);
    RecordedOp::Term operand_term(const OperandGraph& graph, const Operand& operand, Shape shape, int value,
                                  Rational coefficient) const;
    int new_register(Shape shape);

    const SchedulerGraph* graph_;  // a pointer, so that a simulation can be assigned
    Recording* recording_;
    Operand a_, b_;
    // The search copies simulations by the thousand, so that all its counters and flags are one array.
    std::vector<std::int16_t> book_;
    std::size_t left_c_ = 0;      // readers to come, per value; a finished output has one that never comes
    std::size_t available_ = 0;   // per value
    std::size_t terms_left_ = 0;  // per accumulator
    std::size_t begun_ = 0;       // per accumulator
    std::size_t taken_ = 0;       // per accumulator and term, from first_term_[q] on
    std::int16_t& book(std::size_t part, int index) { return book_[part + static_cast<std::size_t>(index)]; }
    std::int16_t& taken(int q, std::size_t term) {
        return book_[taken_ + static_cast<std::size_t>(graph_->first_term[static_cast<std::size_t>(q)]) + term];
    }
    std::vector<int> value_reg_, sum_reg_;  // when recording: of available values, of begun sums
    std::vector<int> touched_;              // accumulators that may have something to take
    std::vector<int> visiting_, ready_;     // for settle(); members to keep their memory
    int live_a_ = 0, live_b_ = 0, live_c_ = 0;
    int peak_ = 0, operations_ = 0;
};

}  // namespace heptad
