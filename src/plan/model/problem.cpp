#include "plan/model/problem.hpp"

#include "base/fail_if.hpp"
#include "base/names.hpp"
#include "base/types.hpp"

namespace heptad {

const char* accuracy_name(Accuracy accuracy) {
    static constexpr Names<Accuracy, 4> names{{"strict", "balanced", "fast", "exact"}};
    return names.of(accuracy);
}

bool takes_whole_k(Accuracy accuracy, Type type) {
    return accuracy == Accuracy::exact && is_float(type);
}

void refuse_exact(Accuracy accuracy, Type type, const char* place) {
    fail_if(takes_whole_k(accuracy, type), ErrorCode::usage,
            "accuracy exact is for products in memory and with heptad-mpi, not {}; use accuracy strict", place);
}

std::string to_string(const Problem& problem) {
    return fmt::format("problem {}x{}x{} {} accuracy={} algorithm={} levels={} threads={} accumulate={}", problem.m,
                       problem.k, problem.n, type_name(problem.type), accuracy_name(problem.options.accuracy),
                       problem.options.algorithm,
                       problem.options.levels < 0 ? "auto" : std::to_string(problem.options.levels), problem.threads,
                       problem.options.accumulate ? "yes" : "no");
}

}  // namespace heptad
