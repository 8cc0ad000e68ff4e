// heptad algorithms: the catalogue, the facts of one algorithm with its text, and the search for sparse bases.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "algorithm/catalogue.hpp"
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

std::string catalogue_text(bool with_derived) {
    std::string text = fmt::format("{:<22} {:<12} {:<7} {:>9} {:>9} {:>9} {:>9}  {}\n", "name", "size:rank", "ring",
                                   "exponent", "constant", "additions", "growth", "error growth on random data");
    for (const std::string& name : algorithm_names(with_derived)) {
        const CatalogueEntry& entry = find_algorithm(name);
        const AlgorithmFacts& facts = entry.facts;
        const std::string constant =
            facts.leading_constant > 0 ? fmt::format("{:.3f}", facts.leading_constant) : std::string("-");
        text += fmt::format("{:<22} {:<12} {:<7} {:>9.4f} {:>9} {:>9} {:>9.4g}  {:.4g}\n", name,
                            entry.algorithm.signature(), ring_name(entry.algorithm.ring), facts.exponent, constant,
                            facts.additions(), facts.growth, facts.rms_growth);
    }
    return text + "'heptad algorithms NAME' shows one; plans choose among them, or use --algorithm NAME.\n";
}

std::string entry_text(const CatalogueEntry& entry) {
    const Algorithm& algorithm = entry.algorithm;
    const AlgorithmFacts& facts = entry.facts;
    std::string text;
    const auto line = [&](const std::string& what, const std::string& value) {
        text += fmt::format("# {:<20} {}\n", what, value);
    };
    line("algorithm", fmt::format("{} {} over {}{}", algorithm.name, algorithm.signature(), ring_name(algorithm.ring),
                                  entry.derived ? ", derived by symmetry" : ""));
    line("types", fmt::format("{}", fmt::join(types_of(algorithm.ring), " ")));
    line("exponent", fmt::format("{:.6f}", facts.exponent));
    if (facts.leading_constant > 0) {
        line("leading constant", fmt::format("{:.6g}", facts.leading_constant));
    }
    line("additions", fmt::format("{} (A {}, B {}, C {}), {} without sharing", facts.additions(), facts.additions_a,
                                  facts.additions_b, facts.additions_c, facts.additions_plain));
    line("growth",
         fmt::format("{:.6g} (random data: {:.4g} times the classical error)", facts.growth, facts.rms_growth));
    line("largest sums",
         fmt::format("A {:.4g}, B {:.4g}, C {:.4g}", facts.largest_sum_a, facts.largest_sum_b, facts.largest_sum_c));
    line("roundings", fmt::format("{}", facts.roundings));
    line("weights of A", fmt::format("{}", fmt::join(facts.weights_a, " ")));
    line("weights of B", fmt::format("{}", fmt::join(facts.weights_b, " ")));
    line("weights of C", fmt::format("{}", fmt::join(facts.weights_c, " ")));
    if (algorithm.basis) {
        line("basis additions", fmt::format("phi {}, psi {}, chi {}", facts.basis_additions_a, facts.basis_additions_b,
                                            facts.basis_additions_c));
        line("bases",
             fmt::format("{}self-inverse, {}chaining", facts.self_inverse ? "" : "not ", facts.chaining ? "" : "not "));
    }
    if (const auto schedules = schedules_of(algorithm.name); !schedules.empty()) {
        line("schedules", fmt::format("{}", fmt::join(schedules, " ")));
    }
    return text + print_algorithm(algorithm);
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
            print(entry_text(entry));
        }
        return;
    }
    if (!arguments.json) {
        print(catalogue_text(arguments.with_derived));
        return;
    }
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const std::string& name : algorithm_names(arguments.with_derived)) {
        list.push_back(to_json(find_algorithm(name)));
    }
    print(nlohmann::ordered_json{{"algorithms", list}});
}

}  // namespace heptad::cli
