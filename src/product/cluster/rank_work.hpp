// What a rank needs to compute its part of C, whatever the algorithm.
#pragma once

#include <atomic>
#include <optional>

#include "base/matrix.hpp"
#include "io/rank_journal.hpp"
#include "move/ranks/communicator.hpp"
#include "move/ranks/window_source.hpp"
#include "move/ranks/window_writer.hpp"
#include "move/stage_trace.hpp"
#include "move/stages.hpp"
#include "plan/search/cluster_plan.hpp"
#include "product/cluster/node_settings.hpp"
#include "run/dense/evenness.hpp"

namespace heptad {

struct RankWork {
    const ProductPlan& plan;
    Communicator& ranks;
    const WindowSource& a;
    const WindowSource& b;
    const MatrixWindows* c0 = nullptr;     // where beta is not zero
    const WindowWriter* result = nullptr;  // ranks without a part of C have none
    NodeSettings node;
    StageTrace& trace;
    StageFailure& failure;
    std::atomic<double>& fraction_done;
    const FinishedUnits& finished;
};

/// to += from in the type's arithmetic (bool: OR) on so many threads: how partial results of C are added. Both have
/// rows that are contiguous, or both columns.
void add_partial_sum(const View& to, const View& from, int threads);
/// c = alpha * a * b + beta * c on this rank's processor or device, on the account of stage MM.
void multiply_on_node(const RankWork& work, const ConstView& a, const ConstView& b, Factor beta, const View& c);

/// The plan's algorithm; called by every rank. Throws what any stage of this rank threw.
void multiply_on_grid(const RankWork& work);
void multiply_pegmm(const RankWork& work);
void multiply_mod_pegmm(const RankWork& work);
/// As judge_for_caps() has found A and B.
void multiply_by_caps(const RankWork& work, const Evenness& even);
/// Powers of two with which A and B can be summed before they are multiplied. Nothing where they hold a NaN or an Inf,
/// sums could overflow, or they are so uneven that the accuracy asked for would be lost. The same on every rank.
std::optional<Evenness> judge_for_caps(const RankWork& work);

}  // namespace heptad
