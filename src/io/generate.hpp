// Matrices made up on the spot. An element depends on (kind, options, seed, i, j) and on nothing else: not on the
// number of threads, not on the order of storage, not on the machine (no libm function is used).
//
//   uniform    floats: [-1, 1) on the grid of the type; integers: all values; complex: both parts like floats
//   positive   floats: [0, 1) on the grid of the type; integers: those that are not negative
//   normal     floats: mean 0, deviation 1 (Marsaglia's polar method)
//   integer    low .. high, each as likely                        (numbers only)
//   bits       1 with probability `density`, else 0               (every type)
//   identity   1 on the diagonal                                  (every type)
//   ones, zeros                                                   (every type)
//   graph      square; edge i -> j, i != j, so that a vertex has `average_degree` edges in the mean   (every type)
//   hilbert    1 / (i + j + 1)                                    (floats)
//   kaporin    u_ij / (1 + |i - j|), u as in `uniform`: entries fall off from the diagonal   (floats)
//
// The last one stands in for the matrix of I. Kaporin, A practical algorithm for faster matrix multiplication (1999),
// that the error study of docs/p0.md cites and does not print; it is chosen to show the same errors.
#pragma once

#include <cstdint>
#include <string>

#include <heptad/bits.hpp>

#include "base/matrix.hpp"
#include "io/hooks.hpp"

namespace heptad {

struct GenerateOptions {
    std::int64_t low = -8, high = 8;  ///< integer
    double density = 0.5;             ///< bits
    double average_degree = 8;        ///< graph
};

/// Throws Error(usage) for an unknown kind (the sentence lists them), a kind that does not go with the type, or an
/// option out of range; Error(resource) without memory.
Matrix generate(const std::string& kind, std::int64_t rows, std::int64_t cols, Type type, std::uint64_t seed,
                const GenerateOptions& options = {}, const FileHooks& hooks = {});

/// The same elements of type gf2 (or bool), packed: an eighth of the memory, and no detour by bytes.
BitMatrix generate_bits(const std::string& kind, std::int64_t rows, std::int64_t cols, std::uint64_t seed,
                        const GenerateOptions& options = {}, const FileHooks& hooks = {});

/// "uniform normal ..."
std::string generate_kinds();

}  // namespace heptad
