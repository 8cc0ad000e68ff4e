// Freivalds' test while a product passes through memory, at no extra pass over the disk: with random vectors X for the
// columns of a tile, every panel adds A (B X), and when a strip of C is finished C X is compared with
// alpha A (B X) + beta C0 X.
//
// i32, i64: 64 vectors, exact; a wrong strip passes with probability at most 2^-64. Floats: 24 draws of random signs,
// times weights that keep small columns in sight, summed in a higher precision and judged by
// check/streamed_residual.hpp. Packed bits: streamed_bits.cpp.
#pragma once

#include <cstdint>
#include <memory>

#include "check/streamed_residual.hpp"
#include "plan/search/file_schedule.hpp"

namespace heptad {

class StreamedLanes;

class StreamedCheck {
public:
    StreamedCheck(const FileSchedule& schedule, const check::JudgedProduct& product, int threads);
    ~StreamedCheck();

    /// In the order of the steps, before each product; where C0 is added, the strip holds it at the first panel, or is
    /// null where after_band() will be told of it.
    void before_product(const FileStep& step, const ConstView& left, const ConstView& right, const ConstView& strip);
    /// After the last product of these rows of a strip. Throws Error(verification) if they are wrong.
    void after_rows(const FileStep& step, const FileWindow& window, const ConstView& rows);

    /// The same of a schedule of one tile whose rows all have a part in each other; `c0`: what was added, or null.
    void after_band(const FileWindow& window, const ConstView& rows, const ConstView* c0);

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
