// `heptad mul` and `heptad plan` from file to file, where the matrices do not fit in memory.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bit_operands.hpp"
#include "options.hpp"
#include "product/file/file_product.hpp"

namespace heptad::cli {

struct StageDecision {
    StageProducts stage;
    std::string reason;  // why the host takes levels of its own, or none; empty: that was not a question
};
/// How strips and panels are multiplied: on the processor, or on the device that the options name, by its own levels or
/// with levels at the host where those are predicted to be faster.
StageDecision decide_stage(const ProductOptions& product, const FileProblem& problem);
/// The stage of a product that goes on: of that, only whether the host cut up its steps for the device.
StageProducts stage_as_begun(const ProductOptions& product, bool host_cuts_steps);
/// How bits are multiplied.
StageProducts bit_stage_products(const ProductOptions& product, Type algebra);

/// Memory that a product from file to file may use: --memory, or most of what the machine has free.
std::int64_t file_memory_bytes(const ProductOptions& product);

/// Outer levels through files that a product on the processor asks for. Throws Error(usage) where its accuracy is
/// strict and its type rounds.
OuterLevels outer_levels(const ProductOptions& product, Type type);
/// Throws Error(usage) where such levels are asked for and the product does not go from file to file, `why`.
void refuse_outer_levels(const ProductOptions& product, const std::string& why);
/// A sentence where one outer level through files is predicted to be clearly faster than the plan, and nobody said
/// whether it is wanted; else nothing.
std::string outer_level_hint(const ProductOptions& product, const FileProblem& problem, const FilePlan& plan,
                             const StageProducts& stage);

/// Does this product go from file to file? Where something only that can do is asked for, or the matrices do not fit.
bool goes_by_files(const MulArguments& mul, std::int64_t operand_bytes);

void run_files(const MulArguments& mul);
void run_files(const PlanArguments& arguments);
/// Packed bits, in one of the two algebras.
void run_bit_files(const MulArguments& mul, Type algebra, const BitFacts& facts);

/// What moved and what bound, for people and as JSON.
std::string describe(const FileProductReport& report, const ProblemSize& size);
nlohmann::ordered_json to_json(const FileProductReport& report, const ProblemSize& size);
nlohmann::ordered_json to_json(const FileLayers& layers);
/// "DR 2.1 GB/s  MM 61 GFLOP/s  DW 0.8 GB/s"
std::string stage_rates(const StageTrace& trace, Type type);

}  // namespace heptad::cli
