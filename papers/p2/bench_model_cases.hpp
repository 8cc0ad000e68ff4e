// What `heptad bench model` predicts and measures: the shapes of P2's figure 8 and more, and on each of them every way
// to have sums inside the kernel, beside levels in passes.
#pragma once

#include <string>
#include <vector>

#include "plan/model/machine.hpp"
#include "plan/model/plan.hpp"

namespace heptad::cli {

/// Squares; m = n = 16384 with k from 1024 to 8192; 4096 x 16384 x 4096.
std::vector<ProblemSize> model_shapes();

struct ModelVariant {
    std::string name;
    std::vector<LevelPlan> levels;  // none: cuBLAS
};

/// Those that the machine has kernels for and that leave blocks of at least 256. `all_tiles`: one level in blocks of
/// every shape too.
std::vector<ModelVariant> model_variants(const ProblemSize& size, Type type, const Machine& machine, bool all_tiles);

}  // namespace heptad::cli
