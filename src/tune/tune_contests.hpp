// The decision that matters most, which plan to take, is measured and not put together from parts: whole plans run in
// turns with the library on real problems (plan/predict/contest.hpp).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "kernels/cpu/cpu_backend.hpp"
#include "plan/model/machine.hpp"
#include "plan/predict/contest_entrants.hpp"
#include "tune/tune_timing.hpp"

namespace heptad {

struct ContestTime {
    int most_turns = 7;
    double most_s = 1;
    bool settles_doubt = false;  // takes twice both where somebody is ahead, but not beyond doubt
};

/// One contest; none if its seconds are too short for a verdict. The operands have room for the shape.
std::optional<Contest> hold_contest(cpu::CpuBackend& backend, const Operands& operands, Type type, const Shape& shape,
                                    const EntrantLimits& limits, const ContestTime& time, const Machine& machine);

/// Adds contests of `type` to machine.contests: squares from 32 to kLongest, thin shapes and vectors. What they say of
/// classical products and of levels goes to the samples of the leaves and to machine.level_factors. About `most_s`
/// seconds; shapes that do not fit are left out, the largest ones last.
void measure_contests(cpu::CpuBackend& backend, const Operands& operands, Type type, double most_s, Machine& machine,
                      const std::function<void(const std::string& stage)>& progress);

}  // namespace heptad
