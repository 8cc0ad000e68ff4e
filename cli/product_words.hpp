// The options of a product as typed, and what they mean.
#pragma once

#include <string>

#include "option_words.hpp"

namespace heptad::cli {

/// What the words promise (docs/accuracy.md).
inline constexpr const char* kAccuracyHelp =
    "what errors are relative to: exact (none: the product is rounded once), strict (each sum, as in a classical "
    "product), balanced (default: rows of A and columns of B) or fast (the largest entries)";

/// Options of a product as typed.
struct ProductWords {
    std::string type, device, algorithm, levels, accuracy, leaf, mode, threads, memory, alpha, beta, columns, raw_a,
        raw_b, overlap;
    HostWords host;
    bool json = false;
    Request plain;  ///< names and flags, which need no parsing

    /// What only a product from file to file has.
    bool by_files() const { return plain.resume || !overlap.empty() || !plain.trace_file.empty(); }
};

/// The names of A and B.
void add_operands(CLI::App& command, Request& request);
/// How the product is made: type, device, algorithm, levels, accuracy, memory ...
void add_plan_options(CLI::App& command, ProductWords& words);
/// What is multiplied and added: alpha, beta, C0, transposes, columns of packed bits.
void add_update_options(CLI::App& command, ProductWords& words);
/// How the run goes: check, files without headers, resume, overlap, timeline.
void add_run_options(CLI::App& command, ProductWords& words);

/// Values that were checked. Throws Error(usage).
Request request_of(const ProductWords& words);
void require_beta_with_add(const ProductWords& words);

}  // namespace heptad::cli
