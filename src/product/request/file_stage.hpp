// The multiplying stage of a product from file to file: on the processor, on an NVIDIA device, or cut up by the host
// for several devices, by levels of a fast algorithm where they pay (P3 3.7). Levels never reach beyond a step, so that
// tiles stay the unit of the journal.
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

}  // namespace heptad
