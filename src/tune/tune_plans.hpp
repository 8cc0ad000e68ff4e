// The decision that matters most, which plan to take, is measured and not put together from parts: whole plans run in
// rounds with the library on real problems (tune/plan_rounds.hpp).
#pragma once

#include <functional>
#include <string>

#include "kernels/cpu/cpu_backend.hpp"
#include "plan/model/machine.hpp"
#include "tune/load_watch.hpp"
#include "tune/plan_candidates.hpp"
#include "tune/plan_rounds.hpp"
#include "tune/tune_timing.hpp"

namespace heptad {

struct RoundsTime {
    int most_rounds = 7;
    double most_s = 1;
    bool goes_on_undecided = false;  // takes twice both where somebody is ahead, but not clearly
};

/// What leaves and plans are measured with, and what stands where a measurement cannot be trusted.
struct TuneGround {
    cpu::CpuBackend& backend;
    const Operands& operands;
    LoadWatch& watch;
    const Machine& before;
};

/// One problem: records its plans with the growth of their errors, and what classical products took in the samples of
/// their leaves, which were not taken side by side. Disturbed by others, the rows of `before` stay. False: its seconds
/// are too short. The operands have room for the shape.
bool measure_plans_on(const TuneGround& ground, Type type, const TunedShape& shape, const CandidateLimits& limits,
                      const RoundsTime& time, Machine& machine);

/// Squares from 32 to kLongest, thin shapes and vectors. About `most_s` seconds; shapes that do not fit are left out,
/// the largest ones last.
void measure_plans(const TuneGround& ground, Type type, double most_s, Machine& machine,
                   const std::function<void(const std::string& stage)>& progress);

}  // namespace heptad
