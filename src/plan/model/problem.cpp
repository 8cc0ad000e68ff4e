#include "plan/model/problem.hpp"

#include "base/error.hpp"

namespace heptad {

const char* accuracy_name(Accuracy accuracy) {
    return accuracy == Accuracy::strict ? "strict" : accuracy == Accuracy::balanced ? "balanced" : "fast";
}

std::string to_string(const Problem& problem) {
    return fmt::format("problem {}x{}x{} {} accuracy={} algorithm={} levels={} threads={} accumulate={}", problem.m,
                       problem.k, problem.n, type_name(problem.type), accuracy_name(problem.options.accuracy),
                       problem.options.algorithm,
                       problem.options.levels < 0 ? "auto" : std::to_string(problem.options.levels), problem.threads,
                       problem.options.accumulate ? "yes" : "no");
}

}  // namespace heptad
