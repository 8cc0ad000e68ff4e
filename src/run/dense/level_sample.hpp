// What levels would do to the errors of a product, tried on a sample of it: some rows of A and columns of B together
// with those that levels add to them, at some places along k together with those that levels add to these.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/backend.hpp"
#include "plan/model/level_trial.hpp"

namespace heptad {

/// Lines of an operand (rows of A, or columns of B) at some places of every block. It may be filled part by part.
class LevelSample {
public:
    /// Of `count` lines of so many values each. `runs_of_lines`: neighbouring lines, not places, lie side by side in
    /// memory.
    LevelSample(std::int64_t count, std::int64_t length, std::int64_t blocks_of_lines, std::int64_t blocks_along_k,
                bool runs_of_lines);
    /// The values of a part whose uppermost line is `first_line`, and whose place `first_inner` is its first, with
    /// these powers of two and over the usual one (2^usual). Lines whose numbers have several parts, as complex ones,
    /// show them in turn: the part of that number at every so many-th place.
    void note(const ConstView& part, std::int64_t first_line, std::int64_t first_inner, const LineExponents& exponents,
              double usual, int number = 0, int parts = 1);

    /// Lines with exponents of kZeroLine: what C has there is written as zeros, whatever levels make of it. And lines
    /// beyond those that are there, which fill up the last block.
    void leave_out_zeros(const std::vector<std::int32_t>& exponents, std::int64_t lines_there);

    std::vector<std::int64_t> lines, places;  // of every block, counted from its first
    std::int64_t block_lines, block_places, line_blocks, inner_blocks, k;
    std::vector<double> values;  // block by block; of each, place by place
    bool is_left_out(std::int64_t block, std::size_t line) const {
        return left_out_[static_cast<std::size_t>(block) * lines.size() + line];
    }

private:
    std::vector<bool> left_out_;
};

/// How many times the largest error of the classical product over |A||B| that of these levels would be: sums of
/// rounding errors of which each is as large as the partial sum that it is made in. Infinite where nothing meets and
/// levels have something to round. NaN where the sample has one.
double growth_in(const LevelSample& of_a, const LevelSample& of_b, const std::vector<LevelPlan>& levels);

}  // namespace heptad
