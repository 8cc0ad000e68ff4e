// Who cuts up the steps of a product from file to file for one device: the file's own cut, whose buffers the device has
// copies of, or the host once more, by levels of a fast algorithm over blocks that it adds up (P3 3.7).
//
// Levels at the host cost reads and writes of host memory and more transfers; they pay where the device's memory is too
// small for as many levels there. Where the disk binds they cannot pay, and none are taken.
#pragma once

#include "plan/search/file_plan.hpp"
#include "plan/search/host_plan.hpp"

namespace heptad {

enum class StepsCutBy : std::uint8_t { file, host };

struct StageChoice {
    StepsCutBy by = StepsCutBy::file;
    const char* reason = "";  // in words that end a sentence
};

/// Does the disk take longer than the products of the plan?
bool disk_binds(const FileProblem& problem, const FileTraffic& traffic);

/// `step_s`: predicted for the plan's whole step on the device; `cut`: what the host would make of the same step.
StageChoice choose_stage(const FileProblem& problem, const FileTraffic& traffic, double step_s, const ProductPlan& cut);

}  // namespace heptad
