// The sums of one level, put off: they wait in a queue that the leaf works on beside its tiles, and are completed here
// at the latest when they are needed.
#pragma once

#include <span>

#include "kernels/bits/leaf.hpp"
#include "kernels/bits/level_program.hpp"
#include "kernels/bits/word_sums.hpp"

namespace heptad::bits {

/// The queue of a level, and what its sums mean for the quarters of C.
class LaterLevel {
public:
    /// `quarter_words`: of a quarter of C. The queue must be at rest, and is again after finish().
    LaterLevel(LaterQueue& queue, WordSum sum, std::uint64_t* c, std::int64_t quarter_words, bool c_holds_something);

    /// to = the sum of the sources. Returns a ticket for finish(). `to` may be the first of the sources.
    int add(std::uint64_t* to, std::span<const std::uint64_t* const> from, std::int64_t words);
    /// Additions of a quarter of C to another. A quarter that holds nothing is passed over.
    void add_quarters(std::span<const Addition> additions);

    /// A product is about to change this quarter. Returns whether it holds something, to which the product is added.
    bool begin_product(int quarter);
    void end_product(int quarter) { holds_ |= 1U << quarter; }

    /// Completes the sums up to a ticket, or all of them.
    void finish(int ticket);
    void finish();

private:
    LaterQueue& queue_;
    WordSum sum_;
    std::uint64_t* c_;
    std::int64_t quarter_words_;
    unsigned holds_;        // the quarters of C that hold something, one bit each
    int last_use_[4] = {};  // ticket of the last sum that reads or writes a quarter of C
};

/// The operand A or B of a level: quarters, and sums of them in two buffers, so that one can be made while the other is
/// used.
class LaterOperand {
public:
    /// `buffers` has room for two quarters.
    LaterOperand(const std::uint64_t* quarters, std::int64_t words, std::uint64_t* buffers)
        : quarters_(quarters), words_(words), buffers_(buffers) {}

    /// Sums are asked for, taken and given back in the same order; `wanted` has a bit for each quarter that is summed.
    bool has_room(unsigned wanted) const;
    void ask(unsigned wanted, LaterLevel& level);
    const std::uint64_t* take(unsigned wanted, LaterLevel& level);
    void give_back(unsigned wanted);

private:
    const std::uint64_t* quarters_;
    std::int64_t words_;
    std::uint64_t* buffers_;
    int tickets_[2] = {};
    int asked_ = 0, taken_ = 0, given_back_ = 0;
};

}  // namespace heptad::bits
