#include "plan/search/stage_choice.hpp"

namespace heptad {
namespace {

constexpr double kLeastGain = 1.02;  // smaller ones are within the error of predictions

}  // namespace

bool disk_binds(const FileProblem& problem, const FileTraffic& traffic) {
    return static_cast<double>(traffic.read_bytes()) / problem.read_bytes_per_s +
               static_cast<double>(traffic.written_bytes) / problem.write_bytes_per_s >
           traffic.multiply_s;
}

StageChoice choose_stage(const FileProblem& problem, const FileTraffic& traffic, double step_s,
                         const ProductPlan& cut) {
    if (disk_binds(problem, traffic)) {
        return {StepsCutBy::file, "the disk is the bottleneck: faster products would not help"};
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
