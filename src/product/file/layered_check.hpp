// --verify of a product with outer levels. Its steps multiply sums of blocks, so that no strip of A or B passes by
// itself: A and B are read once more, for A (B X), and C X is compared while the last pass makes C.
#pragma once

#include <functional>

#include "check/streamed_check.hpp"
#include "move/stage_trace.hpp"
#include "plan/search/file_layers.hpp"
#include "product/file/product_inputs.hpp"

namespace heptad {

class LayeredCheck {
public:
    LayeredCheck(const OuterLaunch& layers, const check::JudgedProduct& product, int threads);

    /// False: a stop was wanted.
    bool read_operands(const OpenInputs& inputs, IoQueue& queue, StageTrace& trace,
                       const std::function<bool()>& stop_wanted);
    /// Rows of C, and what was added to them (null: nothing). Throws Error(verification) if they are wrong.
    void after_rows(const FileWindow& rows, const ConstView& c, const ConstView* c0);
    VerifyResult result() const { return check_.result(); }

private:
    const OuterLaunch& layers_;
    FileSchedule schedule_;  // one tile: all of C, of which only the vectors are kept
    StreamedCheck check_;
};

}  // namespace heptad
