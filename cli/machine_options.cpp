// The options of the commands that multiply nothing: algorithms and tune.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "algorithm_topic.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "option_words.hpp"

namespace heptad::cli {
namespace {

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

Command add_tune(CLI::App& root, const std::string& /*typed*/) {
    CLI::App* command = root.add_subcommand("tune", "measure this machine once; plans use it");
    auto tune = std::make_shared<TuneArguments>();
    command->add_flag("--quick", tune->quick, "fewer and smaller measurements; on a device, of bit products alone");
    auto device = std::make_shared<std::string>();
    command->add_option("--device", *device, "cpu, cuda or cuda:N")->type_name("D");
    command->add_flag("--show", tune->show, "show what was measured before, and measure nothing");
    auto threads = std::make_shared<std::string>();
    command->add_option("--threads", *threads, "measure for so many threads (default: all cores)")->type_name("N");
    add_json_flag(*command, tune->json);
    command->footer("Example: heptad tune --quick");
    return {command, [tune, threads, device] {
                tune->device = device->empty() ? "cpu" : parse_device(*device);
                tune->threads = thread_count(*threads);
                return [tune] { run(*tune); };
            }};
}

const RegisterCommand algorithms({.order = 7, .add = add_algorithms});
const RegisterCommand tune({.order = 8, .add = add_tune});

}  // namespace
}  // namespace heptad::cli
