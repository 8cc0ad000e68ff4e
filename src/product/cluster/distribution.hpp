// P4's setting: the operands are files of the root alone. It hands every rank the windows that the rank will use, which
// keeps them in a scratch file of its own, one after the other; and it collects the parts of C.
//
//   DR   the root reads windows      NS   and sends them      NR   the others receive      DW   and write
#pragma once

#include <functional>

#include "move/ranks/communicator.hpp"
#include "move/ranks/window_source.hpp"
#include "move/ranks/window_writer.hpp"
#include "move/stage_trace.hpp"
#include "move/stages.hpp"
#include "plan/predict/cluster_forecast.hpp"

namespace heptad {

/// One operand on its way to the ranks.
struct Distribution {
    const ProductPlan& plan;
    Communicator& ranks;
    const MatrixWindows* file = nullptr;  // the root has it
    const ScratchSource& scratch;         // every rank has one, of its own windows
    StageTrace& trace;
    StageFailure& failure;
};

/// Every rank gets its own windows, in turn. `windows_of` gives any rank's. The checksum of what is in the own scratch.
std::uint64_t scatter_windows(const Distribution& distribution,
                              const std::function<std::vector<Window>(std::int64_t rank)>& windows_of);
/// Every rank gets all of them.
std::uint64_t broadcast_windows(const Distribution& distribution, const std::vector<Window>& windows, Broadcast how);

/// The root writes the other ranks' parts of C, which they have in files of their own, to its file.
void collect_result(const ProductPlan& plan, Communicator& ranks, const WindowWriter* own, StageTrace& trace);

}  // namespace heptad
