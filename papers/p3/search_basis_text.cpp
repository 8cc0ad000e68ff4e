// The report of the basis search, beside what the theorems say.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "papers/p3/search_basis.hpp"

namespace heptad {
namespace {

std::string describe(const char* matrix, const MatrixBases& bases) {
    return fmt::format(
        "  {}: {} bases; fewest additions {} ({} bases); lightest weights {} ({} bases); then the change of basis "
        "takes "
        "at least {} additions ({} bases)\n",
        matrix, bases.examined, bases.least_additions, bases.with_least_additions, fmt::join(bases.best_weights, ","),
        bases.with_best_weights, bases.least_basis_additions, bases.with_least_basis_additions);
}

std::string describe(const char* title, const char* theorem, const BasisDesign& design) {
    std::string text = fmt::format("{}; {} triples of bases\n  {}\n", title, design.examined, theorem);
    text += fmt::format("  found:    {} + {} + {} additions, {} + {} + {} for the bases, weights {} / {} / {}\n",
                        design.additions_a, design.additions_b, design.additions_c, design.basis_additions_a,
                        design.basis_additions_b, design.basis_additions_c, fmt::join(design.weights_a, ","),
                        fmt::join(design.weights_b, ","), fmt::join(design.weights_c, ","));
    text += fmt::format("  {} triples in {} forms attain this; one of them, proven:\n\n{}\n", design.attained,
                        design.forms_with, print_algorithm(design.example));
    return text;
}

}  // namespace

std::string describe(const BasisSearch& search) {
    std::string text = "Plain Strassen over GF(2), every basis of each matrix:\n";
    text += describe("U", search.u) + describe("V", search.v) + describe("W", search.w);
    text += fmt::format("\nAll {} forms of Strassen's algorithm over GF(2):\n\n", search.forms);
    text += describe("Self-inverse bases (phi, psi, chi each their own inverse), lightest core",
                     "theorem:  3 + 3 + 6 additions, 2 + 2 + 2 for the bases, weights 1,1,1,1,2,2,2 throughout "
                     "(Karppa, Kaski, theorem 1.1)",
                     search.self_inverse);
    text += describe("Self-inverse bases, cheapest bases", "no theorem: a heavier core allows cheaper bases",
                     search.self_inverse_cheap_bases);
    text += describe("Chaining bases (phi = psi = inverse of chi), cheapest bases",
                     "theorem:  3 + 3 + 6 additions, 2 + 2 + 2 for the bases, weights 1,1,1,1,2,2,2 twice and "
                     "1,1,1,1,2,3,3 (Karppa, Kaski, theorem 1.2)",
                     search.chaining);
    text += describe("Chaining bases, lightest core", "no theorem: the lightest core that chaining allows",
                     search.chaining_light);
    return text;
}

}  // namespace heptad
