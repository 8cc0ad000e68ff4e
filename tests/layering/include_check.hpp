// Who may include whom (docs/architecture.md): a folder includes only folders with a lower number.
//
//   base 0   algorithm 1   plan 2   kernels 2   run 3   check 4   io 4   move 5   product 6   tune 7   api 7   cli 8
//   bench 9   papers 10
//
// Two folders with the same number (plan and kernels) do not know each other. The public headers under include/heptad/
// may be included by all and include nothing but each other and the standard library. No two headers have one name, and
// no file has more than 450 lines. plan/ names no backend, library or leaf. Of the layers below it, cli includes only
// base, algorithm, plan/model, io, product, tune and api, and sees no kernels of a processor or a device through those.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heptad::layering {

struct Include {
    int line = 0;
    std::string path;  // as written between the quotes or brackets
};

/// Every #include of a C or C++ text, also those inside #if; comments do not count.
std::vector<Include> includes_of(const std::string& text);

/// The sentence to print if `file` (relative to the repository, such as "src/plan/model/plan.cpp") must not include
/// `path`.
std::optional<std::string> violation(const std::filesystem::path& file, const std::string& path);

struct Name {
    int line = 0;
    std::string name;
};

/// The leaves of base/leaf_traits.cpp, in quotes, with the constants that some have in its table (kResidueLeaf).
std::vector<std::string> leaf_names(const std::string& traits, const std::string& constants);
/// Those leaves, and backends and libraries in quotes, that a file of plan/ has; comments do not count.
std::vector<Name> names_in_plan(const std::filesystem::path& file, const std::string& text,
                                const std::vector<std::string>& leaves);

inline constexpr int kMostLines = 450;

struct Report {
    int files = 0;
    int includes = 0;
    std::vector<std::string> violations;  // "src/base/x.hpp:12: ..."
};

/// Reads include/, src/, cli/, python/, bench/, papers/ and tests/ under `repository`; of the last only names and
/// lengths. `files` and `includes` count the others.
Report check_tree(const std::filesystem::path& repository);

}  // namespace heptad::layering
