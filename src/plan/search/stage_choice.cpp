#include "plan/search/stage_choice.hpp"

namespace heptad {
namespace {

constexpr double kLeastGain = 1.02;  // smaller ones are within the error of predictions

}  // namespace

bool disk_binds(const FileProblem& problem, const FilePlan& plan) {
    const std::int64_t read = plan.read_a_bytes + plan.read_b_bytes + plan.read_c0_bytes;
    return static_cast<double>(read) / problem.read_bytes_per_s +
               static_cast<double>(plan.written_bytes) / problem.write_bytes_per_s >
           plan.multiply_s;
}

StageChoice choose_stage(const FileProblem& problem, const FilePlan& plan, double step_s, const ProductPlan& cut) {
    if (disk_binds(problem, plan)) {
        return {StepsCutBy::file, "the disk binds: faster products would not help"};
    }
    if (cut.host->levels == 0) {
        return {StepsCutBy::file, "no level at the host pays"};
    }
    if (!(kLeastGain * cut.predicted_s < step_s)) {
        return {StepsCutBy::file, "levels on the device are as fast"};
    }
    return {StepsCutBy::host, "levels at the host are faster than those that fit on the device"};
}

}  // namespace heptad
