// heptad algorithms search-basis
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "papers/p3/search_basis.hpp"

namespace heptad::cli {
namespace {

nlohmann::ordered_json to_json(const MatrixBases& bases) {
    return {{"examined", bases.examined},
            {"least_additions", bases.least_additions},
            {"with_least_additions", bases.with_least_additions},
            {"best_weights", bases.best_weights},
            {"with_best_weights", bases.with_best_weights},
            {"least_basis_additions", bases.least_basis_additions},
            {"with_least_basis_additions", bases.with_least_basis_additions}};
}

nlohmann::ordered_json to_json(const BasisDesign& design) {
    return {{"additions", {design.additions_a, design.additions_b, design.additions_c}},
            {"basis_additions", {design.basis_additions_a, design.basis_additions_b, design.basis_additions_c}},
            {"weights_a", design.weights_a},
            {"weights_b", design.weights_b},
            {"weights_c", design.weights_c},
            {"attained", design.attained},
            {"forms_with", design.forms_with},
            {"example", print_algorithm(design.example)}};
}

void run_search(bool json) {
    const BasisSearch search = search_basis();
    if (!json) {
        print(describe(search));
        return;
    }
    print(nlohmann::ordered_json{{"u", to_json(search.u)},
                                 {"v", to_json(search.v)},
                                 {"w", to_json(search.w)},
                                 {"forms", search.forms},
                                 {"self_inverse", to_json(search.self_inverse)},
                                 {"self_inverse_cheap_bases", to_json(search.self_inverse_cheap_bases)},
                                 {"chaining", to_json(search.chaining)},
                                 {"chaining_light", to_json(search.chaining_light)}});
}

const RegisterTopic registered_search_basis({.name = "search-basis",
                                             .does = "find the sparsest bases of Strassen's algorithm over GF(2)",
                                             .run = run_search});

}  // namespace
}  // namespace heptad::cli
