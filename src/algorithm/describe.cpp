#include "algorithm/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace heptad {
namespace {

std::string bases_of(const CatalogueEntry& entry) {
    const AlgorithmFacts& facts = entry.facts;
    std::string text = fmt::format("{} + {} + {} additions for phi, psi, chi", facts.basis_additions_a,
                                   facts.basis_additions_b, facts.basis_additions_c);
    text += facts.self_inverse ? "; each its own inverse" : "";
    text += facts.chaining ? "; products can be chained" : "";
    return text;
}

}  // namespace

std::vector<std::string> types_of(const Algorithm& algorithm) {
    std::vector<std::string> names;
    for (const Type type :
         {Type::f64, Type::f32, Type::tf32, Type::bf16, Type::f16, Type::i32, Type::i64, Type::gf2, Type::boolean}) {
        if (algorithm_admits(algorithm, type)) {
            names.emplace_back(type_name(type));
        }
    }
    return names;
}

std::string describe_catalogue(bool with_derived) {
    constexpr const char* row = "{:<20}{:<13}{:<8}{:>10}{:>9}{:>9}{:>8}{:>10}  {}\n";
    std::string text =
        fmt::format(row, "name", "size:rank", "ring", "additions", "growth", "random", "omega", "constant", "notes");
    const std::vector<std::string> shipped = algorithm_names(false);
    for (const std::string& name : with_derived ? algorithm_names(true) : shipped) {
        const CatalogueEntry& entry = find_algorithm(name);
        const AlgorithmFacts& facts = entry.facts;
        const std::string notes = entry.algorithm.basis ? "alternative basis" : entry.derived ? "derived" : "";
        const std::string constant =
            facts.leading_constant > 0 ? fmt::format("{:.2f}", facts.leading_constant) : std::string("-");
        text += fmt::format(row, name, entry.algorithm.signature(), ring_name(entry.algorithm.ring), facts.additions(),
                            fmt::format("{:.4g}", facts.growth), fmt::format("{:.3f}", facts.rms_growth),
                            fmt::format("{:.4f}", facts.exponent), constant, notes);
    }
    if (!with_derived) {
        std::vector<std::string> derived = algorithm_names(true);
        derived.erase(derived.begin(), derived.begin() + static_cast<std::ptrdiff_t>(shipped.size()));
        text += fmt::format("\nDerived by symmetry: {}\n", fmt::join(derived, " "));
    }
    text +=
        "\nadditions: block additions of one level, shared. growth: largest sum of |terms| in a block of C (classical: "
        "k).\n"
        "random: growth of random errors over the classical product. omega: exponent. constant: of n^omega, leaves of "
        "size 1.\nNames compose: strassen*2x2x3-11. `heptad algorithms NAME` shows one, also from an .alg file.\n";
    return text;
}

std::string describe(const CatalogueEntry& entry) {
    const Algorithm& algorithm = entry.algorithm;
    const AlgorithmFacts& facts = entry.facts;
    std::string text;
    const auto line = [&](const char* what, const std::string& value) {
        text += fmt::format("{:<20}{}\n", what, value);
    };
    line("name", algorithm.name);
    line("size:rank", fmt::format("{}, proven over {}{}", algorithm.signature(), ring_name(algorithm.ring),
                                  entry.derived ? ", derived by symmetry" : ""));
    line("types", fmt::format("{}", fmt::join(types_of(algorithm), " ")));
    line("source", algorithm.source);
    line("additions", fmt::format("{} + {} + {} = {} with shared sums, {} without", facts.additions_a,
                                  facts.additions_b, facts.additions_c, facts.additions(), facts.additions_plain));
    line("exponent", fmt::format("{:.4f}", facts.exponent));
    if (facts.leading_constant > 0) {
        line("leading constant", fmt::format("{:.4g}", facts.leading_constant));
    }
    line("growth", fmt::format("{:.4g} largest, {:.4g} for random errors (classical: {} and 1)", facts.growth,
                               facts.rms_growth, algorithm.k));
    line("largest sums", fmt::format("{:.4g} of A, {:.4g} of B, {:.4g} of products", facts.largest_sum_a,
                                     facts.largest_sum_b, facts.largest_sum_c));
    line("roundings", fmt::format("{} at most on one path through a level", facts.roundings));
    line("weights", fmt::format("{} / {} / {}", fmt::join(facts.weights_a, ","), fmt::join(facts.weights_b, ","),
                                fmt::join(facts.weights_c, ",")));
    if (algorithm.basis) {
        line("bases", bases_of(entry));
    }
    return text + "\n" + print_algorithm(algorithm);
}

}  // namespace heptad
