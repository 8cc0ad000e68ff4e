// Where the blocks of one level live. The planner tells the workspace from this, and the runner carves it up by this,
// so the two cannot disagree.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithm/algorithm.hpp"
#include "algorithm/linear_program.hpp"
#include "algorithm/schedule.hpp"
#include "plan/plan.hpp"

namespace heptad {

/// Every block of workspace starts on such a boundary.
inline constexpr std::int64_t kWorkspaceAlignment = 64;

/// Sizes of the blocks inside one level.
struct BlockSize {
    std::int64_t m = 0, k = 0, n = 0;
};

/// The additions of one level: what goes into the products and how the products make up C.
struct LevelPrograms {
    const Algorithm* algorithm = nullptr;  // the coefficients the programs carry out (core or standard basis)
    const LinearProgram* a = nullptr;
    const LinearProgram* b = nullptr;
    const LinearProgram* c = nullptr;
};
/// `core`: the sums in the algorithm's own bases; otherwise in the standard basis.
LevelPrograms level_programs(const std::string& algorithm, bool core);

/// One operand of a level in parallel mode. Value v of the program lives in workspace block slot_of_value[v], or, if
/// that is -1, in an input block or only inside the pass.
struct OperandLayout {
    std::vector<int> slot_of_value;
    int stored = 0;       // blocks of workspace
    int inputs_read = 0;  // input blocks that the pass reads
};
OperandLayout operand_layout(const LinearProgram& program);

/// Products of a level in parallel mode: with beta = 0 the first ones are kept in C's own blocks.
int stored_products(const Algorithm& algorithm, bool accumulate);

/// The schedule that a level in serial mode follows.
const Schedule& level_schedule(const LevelPlan& level, bool core, bool accumulate);

/// Neighbouring combine steps of one shape, [first, last): they run as one pass over memory.
struct CombineRun {
    int first = 0, last = 0;
    Shape shape = Shape::c;
};
std::vector<CombineRun> combine_runs(const Schedule& schedule);

/// Bytes of one stored block of that shape.
std::int64_t block_bytes(Shape shape, const BlockSize& block, Type type);
/// Bytes of a temporary: the largest shape it holds.
std::int64_t temporary_bytes(const Temporary& temporary, const BlockSize& block, Type type);

/// Workspace of one level alone, its products' own workspace apart.
std::int64_t level_workspace_bytes(const LevelPlan& level, bool core, bool accumulate, const BlockSize& block,
                                   Type type);
/// What the additions of one level cost, whatever the sizes: blocks of each shape read and written, and passes.
struct LevelCost {
    double a_blocks = 0, b_blocks = 0, c_blocks = 0;
    int passes = 0;              // parallel sections, the products apart
    bool adds_products = false;  // the level below must accumulate
};
LevelCost level_cost(const LevelPlan& level, bool core, bool accumulate);
double traffic_bytes(const LevelCost& cost, const BlockSize& block, Type type);

/// Workspace of the whole plan, fringes and changes of basis included. Needs sizes, core, levels, type and flags.
std::int64_t plan_workspace_bytes(const ProductPlan& plan);

}  // namespace heptad
