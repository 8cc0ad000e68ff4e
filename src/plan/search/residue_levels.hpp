// The levels inside a plan by residues on a device. Their sums are sums of bytes modulo p, so they cost no digits, only
// memory, and any algorithm over Z will do.
#pragma once

#include <string>
#include <vector>

#include "algorithm/level_terms.hpp"
#include "base/device_layout.hpp"
#include "plan/model/plan.hpp"
#include "plan/model/problem.hpp"

namespace heptad {

inline constexpr int kMostResidueLevels = 2;

/// All levels together.
struct ResidueLevels {
    BlockGrid blocks;
    int products = 1;
    /// The kernels that make bytes of numbers, and numbers of bytes, have the sums of winograd in their code. Others
    /// are made in passes over planes.
    bool in_kernels = true;
};
ResidueLevels residue_levels(const ProductPlan& plan);

/// A side of a matrix, cut into blocks.
struct ResidueSide {
    std::int64_t size = 0;
    int blocks = 1;
    std::int64_t block_lines() const { return residue_block_lines(size, blocks); }
    std::int64_t block_bytes() const { return residue_block_bytes(size, blocks); }
};

/// Why such levels cannot be inside residues, as a sentence. Empty: they can.
std::string residue_levels_refusal(const std::vector<LevelPlan>& levels);

/// So many levels of the algorithm that options name; of winograd, if they name none.
std::vector<LevelPlan> levels_inside_residues(const Options& options, int count);
/// How many of them options ask for, or at most leave to choose. Throws Error(usage) where they cannot be.
int most_levels_inside_residues(const Options& options);

/// The sums of levels that can.
LevelTerms residue_level_terms(const std::vector<LevelPlan>& levels);

}  // namespace heptad
