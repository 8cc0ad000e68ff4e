// The options of the commands that multiply nothing: algorithms, tune and report.
#include <CLI/CLI.hpp>

#include "option_words.hpp"

namespace heptad::cli {

Registered add_algorithms(CLI::App& root) {
    CLI::App* command = root.add_subcommand("algorithms", "the catalogue and its facts");
    auto algorithms = std::make_shared<AlgorithmsArguments>();
    command
        ->add_option("NAME", algorithms->name,
                     "one algorithm (a name or an .alg file), or search-basis: find the sparsest bases of "
                     "Strassen's algorithm over GF(2)")
        ->type_name("");
    command->add_flag("--all", algorithms->with_derived, "also list the symmetric variants of rectangular ones");
    add_json_flag(*command, algorithms->json);
    command->footer("Example: heptad algorithms winograd");
    return {command, [algorithms] { return Invocation(*algorithms); }};
}

Registered add_tune(CLI::App& root) {
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
                return Invocation(*tune);
            }};
}

Registered add_report(CLI::App& root) {
    CLI::App* command = root.add_subcommand("report", "tables and pictures of result files and timelines, as HTML");
    auto report = std::make_shared<ReportArguments>();
    command->add_option("FILE", report->files, "what --json of a bench or --trace wrote")->required()->type_name("");
    command->add_option("-o,--output", report->output, "the page to write")->required()->type_name("HTML");
    add_json_flag(*command, report->json);
    command->footer("Example: heptad report result.json trace.json -o report.html");
    return {command, [report] { return Invocation(*report); }};
}

}  // namespace heptad::cli
