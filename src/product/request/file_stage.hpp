// The multiplying stage of a product from file to file: on the processor, on an NVIDIA device, or cut up by the host
// for several devices, by levels of a fast algorithm where they pay (P3 3.7). Levels never reach beyond a step, so that
// tiles stay the unit of the journal. And outer levels, as asked for, around all steps.
#pragma once

#include <string>

#include "product/file/file_product.hpp"
#include "product/request/request.hpp"

namespace heptad {

struct StageDecision {
    StageProducts stage;
    std::string reason;  // why the host takes levels of its own, or none; empty: that was not a question
};
/// How strips and panels are multiplied: on the processor, or on the device that the options name, by its own levels or
/// with levels at the host where those are predicted to be faster.
StageDecision decide_stage(const Request& request, const FileProblem& problem);
/// The stage of a product that goes on: of that, only whether the host cut up its steps for the device.
StageProducts stage_as_begun(const Request& request, bool host_cuts_steps);
/// How bits are multiplied.
StageProducts bit_stage_products(const Request& request, Type algebra);

/// Outer levels through files that a product on the processor asks for. Throws Error(usage) where its accuracy is
/// strict and its type rounds.
OuterLevels outer_levels(const Request& request, Type type);
/// Throws Error(usage) where such levels are asked for and the product does not go from file to file, `why`.
void refuse_outer_levels(const Request& request, const std::string& why);
/// A sentence where one outer level through files is predicted to be clearly faster than the plan, and nobody said
/// whether it is wanted; else nothing.
std::string outer_level_hint(const Request& request, const FileProblem& problem, const FileLaunch& launch,
                             const StageProducts& stage);

}  // namespace heptad
