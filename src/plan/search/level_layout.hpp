// Where the blocks of one level live. The planner tells the workspace from this, and the runner carves it up by this,
// so the two cannot disagree.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithm/algorithm.hpp"
#include "algorithm/linear_program.hpp"
#include "algorithm/schedule.hpp"
#include "plan/model/plan.hpp"

namespace heptad {

/// Every block of workspace starts on such a boundary.
inline constexpr std::int64_t kWorkspaceAlignment = 64;

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
/// Batched: every product has a block of its own, input blocks are copied and signs applied, so that all products of
/// the level lie at equal distances and one call multiplies them.
struct OperandLayout {
    bool batched = false;
    std::vector<int> slot_of_value;
    int stored = 0;       // blocks of workspace
    int inputs_read = 0;  // input blocks that the pass reads
};
OperandLayout operand_layout(const LinearProgram& program, bool batched);

/// How a level stores its blocks; devices have needs of their own.
struct LevelStorage {
    bool batched = false;         // see OperandLayout
    bool padded = false;          // rows begin on 16-byte boundaries
    bool products_apart = false;  // parallel mode: no product is kept in a block of C
    /// Blocks of A and B are written by passes only, which a device skips where the input is not finite: products that
    /// belong there go to a spare block first.
    bool guards_inputs = false;
};
/// `in_batch`: the leaf takes the products of the level below which there is none in one call.
LevelStorage level_storage(bool on_device, bool in_batch, LevelMode mode);
LevelStorage level_storage(const ProductPlan& plan, std::size_t depth);

/// Products of a level in parallel mode that need workspace: with beta = 0 the first ones are kept in C's own blocks.
int stored_products(const Algorithm& algorithm, bool accumulate, const LevelStorage& storage);

/// How a level is entered: must it add to C, and may it destroy the blocks that it is given as A and B?
struct LevelEntry {
    bool accumulate = false;
    bool operands_die = false;
    bool operator==(const LevelEntry&) const = default;
};
/// The schedule that a level in serial mode follows: the one it names where that may be used, otherwise the default.
/// An overwriting one that adds is also used where C = A*B is asked for: C is cleared first.
const Schedule& level_schedule(const LevelPlan& level, bool core, const LevelEntry& entry);
/// How a product of the schedule enters the level below.
LevelEntry entry_below(const ScheduleStep& product, const LevelEntry& entry);
/// Every way in which the plan's runs enter each of its levels. Needs core, levels, and flags.
std::vector<std::vector<LevelEntry>> level_entries(const ProductPlan& plan);

/// Is this product made in a spare block? One in place must be, and on a device one that goes to a block of A or B.
bool needs_spare(const ScheduleStep& step, const LevelStorage& storage);
bool needs_spare(const Schedule& schedule, const LevelStorage& storage);

/// Neighbouring combine steps of one shape, [first, last): they run as one pass over memory.
struct CombineRun {
    int first = 0, last = 0;
    Shape shape = Shape::c;
};
std::vector<CombineRun> combine_runs(const Schedule& schedule);

/// Elements from one row of a stored block to the next (or of one column, where it is stored by columns).
std::int64_t stored_stride(std::int64_t length, Type type, bool padded);
/// Bytes of one stored block of that shape.
std::int64_t block_bytes(Shape shape, const ProblemSize& block, Type type, bool padded);
/// Bytes of a temporary: the largest shape it holds.
std::int64_t temporary_bytes(const Temporary& temporary, const ProblemSize& block, Type type, bool padded);

/// Types of the blocks that levels keep.
struct BlockTypes {
    Type sums, products;
    BlockTypes(Type type, bool scaled) : sums(sums_type(type, scaled)), products(products_type(type, scaled)) {}
};

/// Workspace of one level alone, its products' own workspace apart.
std::int64_t level_workspace_bytes(const LevelPlan& level, bool core, const LevelEntry& entry, const ProblemSize& block,
                                   const BlockTypes& types, const LevelStorage& storage);
/// What the additions of one level cost, whatever the sizes: blocks of each shape read and written, and passes.
struct LevelCost {
    double a_blocks = 0, b_blocks = 0, c_blocks = 0;
    int passes = 0;              // parallel sections, the products apart
    bool adds_products = false;  // the level below must accumulate
};
LevelCost level_cost(const LevelPlan& level, bool core, const LevelEntry& entry, const LevelStorage& storage);
double traffic_bytes(const LevelCost& cost, const ProblemSize& block, const BlockTypes& types);
/// What the outermost level reads of A and B beyond that, because they are wider than their sums.
double wider_operand_bytes(const ProblemSize& whole, Type type, bool scaled);

/// Workspace that a device needs beside the blocks: its view of the operands, and what a leaf splits operands into.
std::int64_t reserved_bytes(const ProductPlan& plan);
/// Workspace of the whole plan, fringes and changes of basis included. Needs sizes, core, levels, type and flags.
std::int64_t plan_workspace_bytes(const ProductPlan& plan);

}  // namespace heptad
