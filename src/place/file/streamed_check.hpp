// Freivalds' test while a product passes through memory, at no extra pass over the disk: with random vectors X for the
// columns of a tile, every panel adds A (B X), and when a strip of C is finished C X is compared with
// alpha A (B X) + beta C0 X.
//
// i32: 64 vectors, exact; a wrong strip passes with probability at most 2^-64. Floats: 24 draws of random signs, summed
// in a higher precision and compared with the rounding noise that src/check expects. A sum far above what the worst
// case of rounding could make of it is an error; one between the two is neither proof nor refutation, and reported as
// such. Packed bits: streamed_bits.hpp.
#pragma once

#include <cstdint>
#include <memory>

#include "check/verify.hpp"
#include "plan/file_schedule.hpp"

namespace heptad {

class StreamedLanes;

class StreamedCheck {
public:
    StreamedCheck(const FileSchedule& schedule, Type type, double alpha, double beta, std::int64_t k, int threads);
    ~StreamedCheck();

    /// In the order of the steps, before each product; where C0 is added, the strip holds it at the first panel.
    void before_product(const FileStep& step, const ConstView& left, const ConstView& right, const ConstView& strip);
    /// After the last product of these rows of a strip. Throws Error(verification) if they are wrong.
    void after_rows(const FileStep& step, const FileWindow& window, const ConstView& rows);

    /// Passed, or not verifiable, by what was looked at so far; from the thread of after_rows(), or when all is done.
    VerifyResult result() const;

    /// Memory for each row and column of a tile, and for each one of a panel and a strip; see FileProblem.
    static std::int64_t line_bytes(Type type);

private:
    const FileSchedule& schedule_;
    bool adds_;
    std::unique_ptr<StreamedLanes> lanes_;
};

}  // namespace heptad
