// heptad algorithms: the catalogue, and the facts of one algorithm with its text.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "algorithm/catalogue.hpp"
#include "algorithm/describe.hpp"
#include "algorithm/schedule.hpp"
#include "command.hpp"
#include "option_words.hpp"
#include "output.hpp"

namespace heptad::cli {
namespace {

struct AlgorithmsArguments {
    std::string name;  // of an algorithm or a topic; empty: the catalogue
    bool with_derived = false;
    bool json = false;
};

std::vector<std::string> schedules_of(const std::string& algorithm) {
    std::vector<std::string> names;
    for (const std::string& name : schedule_names()) {
        if (find_schedule(name).algorithm == algorithm) {
            names.push_back(name);
        }
    }
    return names;
}

nlohmann::ordered_json entry_json(const CatalogueEntry& entry) {
    const Algorithm& algorithm = entry.algorithm;
    const AlgorithmFacts& facts = entry.facts;
    nlohmann::ordered_json object{{"name", algorithm.name},
                                  {"m", algorithm.m},
                                  {"k", algorithm.k},
                                  {"n", algorithm.n},
                                  {"rank", facts.rank},
                                  {"ring", ring_name(algorithm.ring)},
                                  {"types", types_of(algorithm)},
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

void run(const AlgorithmsArguments& arguments) {
    for (const auto* each = RegisterTopic::first; each != nullptr; each = each->next) {
        if (arguments.name == each->entry.name) {
            return each->entry.run(arguments.json);
        }
    }
    if (!arguments.name.empty()) {
        const CatalogueEntry& entry = find_algorithm(arguments.name);
        if (arguments.json) {
            nlohmann::ordered_json object = entry_json(entry);
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
        list.push_back(entry_json(find_algorithm(name)));
    }
    print(nlohmann::ordered_json{{"algorithms", list}});
}

Command add_algorithms(CLI::App& root, const std::string& /*typed*/) {
    CLI::App* command = root.add_subcommand("algorithms", "the catalogue and its facts");
    auto algorithms = std::make_shared<AlgorithmsArguments>();
    std::string text = "one algorithm (a name or an .alg file)";
    for (const auto* each = RegisterTopic::first; each != nullptr; each = each->next) {
        text += fmt::format(", or {}: {}", each->entry.name, each->entry.does);
    }
    command->add_option("NAME", algorithms->name, text)->type_name("");
    command->add_flag("--all", algorithms->with_derived, "also list the symmetric variants of rectangular ones");
    add_json_flag(*command, algorithms->json);
    command->footer("Example: heptad algorithms winograd");
    return {command, [algorithms] { return [algorithms] { run(*algorithms); }; }};
}

const RegisterCommand registered_algorithms({.order = 7, .add = add_algorithms});

}  // namespace
}  // namespace heptad::cli
