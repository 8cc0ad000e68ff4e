// Is C = A * B (or C = A * B + C0) for packed bit matrices?
//
// gf2: Freivalds' test with 64 random vectors in one pass: X has a word of 64 bits per column of B, and C X is compared
//   with A (B X). A wrong C passes with probability 2^-64.
// bool: rows drawn at random are recomputed exactly; see verify_bool.cpp for what that says.
#pragma once

#include <optional>

#include <heptad/bits.hpp>

#include "check/verify.hpp"

namespace heptad {

/// Of the options, seed, all_rows, sampled_rows, threads and cancel are looked at. Throws Error(input) for shapes that
/// do not match.
VerifyResult verify_bits(Type algebra, const ConstBitView& a, const ConstBitView& b, const ConstBitView& c,
                         const std::optional<ConstBitView>& c0, const VerifyOptions& options = {});

}  // namespace heptad
