// heptad algorithms: the catalogue, the facts of one algorithm with its text, and the search for sparse bases.
#include <nlohmann/json.hpp>

#include "algorithm/catalogue.hpp"
#include "algorithm/describe.hpp"
#include "algorithm/schedule.hpp"
#include "algorithm/search_basis.hpp"
#include "commands.hpp"
#include "output.hpp"

namespace heptad::cli {
namespace {

std::vector<std::string> schedules_of(const std::string& algorithm) {
    std::vector<std::string> names;
    for (const std::string& name : schedule_names()) {
        if (find_schedule(name).algorithm == algorithm) {
            names.push_back(name);
        }
    }
    return names;
}

std::vector<std::string> types_of(Ring ring) {
    std::vector<std::string> names;
    for (const Type type :
         {Type::f64, Type::f32, Type::tf32, Type::bf16, Type::f16, Type::i32, Type::gf2, Type::boolean}) {
        if (ring_admits(ring, type)) {
            names.emplace_back(type_name(type));
        }
    }
    return names;
}

nlohmann::ordered_json to_json(const CatalogueEntry& entry) {
    const Algorithm& algorithm = entry.algorithm;
    const AlgorithmFacts& facts = entry.facts;
    nlohmann::ordered_json object{{"name", algorithm.name},
                                  {"m", algorithm.m},
                                  {"k", algorithm.k},
                                  {"n", algorithm.n},
                                  {"rank", facts.rank},
                                  {"ring", ring_name(algorithm.ring)},
                                  {"types", types_of(algorithm.ring)},
                                  {"exponent", facts.exponent},
                                  {"leading_constant", facts.leading_constant},
                                  {"additions_plain", facts.additions_plain},
                                  {"additions_a", facts.additions_a},
                                  {"additions_b", facts.additions_b},
                                  {"additions_c", facts.additions_c},
                                  {"growth", facts.growth},
                                  {"rms_growth", facts.rms_growth},
                                  {"largest_sum_a", facts.largest_sum_a},
                                  {"largest_sum_b", facts.largest_sum_b},
                                  {"largest_sum_c", facts.largest_sum_c},
                                  {"roundings", facts.roundings},
                                  {"weights_a", facts.weights_a},
                                  {"weights_b", facts.weights_b},
                                  {"weights_c", facts.weights_c},
                                  {"derived", entry.derived},
                                  {"source", algorithm.source}};
    if (algorithm.basis) {
        object["basis"] = {{"additions_phi", facts.basis_additions_a},
                           {"additions_psi", facts.basis_additions_b},
                           {"additions_chi", facts.basis_additions_c},
                           {"self_inverse", facts.self_inverse},
                           {"chaining", facts.chaining}};
    }
    return object;
}

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

}  // namespace

void run(const AlgorithmsArguments& arguments) {
    if (arguments.name == "search-basis") {
        run_search(arguments.json);
        return;
    }
    if (!arguments.name.empty()) {
        const CatalogueEntry& entry = find_algorithm(arguments.name);
        if (arguments.json) {
            nlohmann::ordered_json object = to_json(entry);
            object["schedules"] = schedules_of(entry.algorithm.name);
            object["text"] = print_algorithm(entry.algorithm);
            print(object);
        } else {
            print(describe(entry));
        }
        return;
    }
    if (!arguments.json) {
        print(describe_catalogue(arguments.with_derived));
        return;
    }
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const std::string& name : algorithm_names(arguments.with_derived)) {
        list.push_back(to_json(find_algorithm(name)));
    }
    print(nlohmann::ordered_json{{"algorithms", list}});
}

}  // namespace heptad::cli
