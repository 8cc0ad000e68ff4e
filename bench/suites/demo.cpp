// heptad demo: a product of every kind, each beside another way to get it, in under a minute on two cores.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/thread_pool.hpp"
#include "bench/suites/bench_machine.hpp"
#include "bench/suites/demo_lines.hpp"
#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/option_words.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "io/machine_file.hpp"

namespace heptad::cli {
namespace {

struct DemoArguments {
    bool quick = false, json = false;
    int threads = 0;
};

constexpr std::int64_t kQuickDivisor = 8;

std::string row(const std::string& kind, const std::string& what, const std::string& time, const std::string& ratio,
                const std::string& against, const std::string& error) {
    return fmt::format("{:<8} {:<28} {:>9} {:>8}  {:<18} {}\n", kind, what, time, ratio, against, error);
}

std::string row(const DemoLine& line) {
    return row(line.kind, line.what, format_seconds(line.seconds), fmt::format("{:.2f}", line.ratio), line.against,
               line.error);
}

void run(const DemoArguments& arguments) {
    DemoSettings settings;
    settings.threads = threads_or_default(arguments.threads);
    settings.stop_if_interrupted = stop_if_interrupted;
    if (arguments.quick) {
        settings.divisor = kQuickDivisor;
        settings.rounds = 1;
    }
    if (!arguments.json) {
        print(machine_line() + row("kind", "product", "Heptad", "ratio", "against", "error"));
    }
    nlohmann::ordered_json lines = nlohmann::ordered_json::array();
    for (const auto& steps : {demo_number_steps(), demo_bit_steps(), demo_service_steps(), demo_device_steps()}) {
        for (const DemoStep& step : steps) {
            stop_if_interrupted();
            const DemoLine line = step(settings);
            if (!arguments.json) {
                print(row(line));
            }
            lines.push_back({{"kind", line.kind},
                             {"product", line.what},
                             {"heptad_s", line.seconds},
                             {"ratio", line.ratio},
                             {"against", line.against},
                             {"error", line.error}});
        }
    }
    if (arguments.json) {
        print(nlohmann::ordered_json{{"lines", lines}});
        return;
    }
    const bool measured = load_machine(settings.threads, NamedFile::may_be_missing).measured;
    print(fmt::format("\nratio: the time of the alternative over Heptad's; above 1, Heptad is faster{}\n{}",
                      arguments.quick ? " (for such small products, it means little)" : "",
                      measured ? "" : "plans used built-in figures; 'heptad tune' measures this machine\n"));
}

Command add_demo(CLI::App& root, const std::string& /*typed*/) {
    CLI::App* command = root.add_subcommand("demo", "a product of every kind, in under a minute");
    auto demo = std::make_shared<DemoArguments>();
    auto threads = std::make_shared<std::string>();
    command->add_flag("--quick", demo->quick, "an eighth of the sizes: shows what Heptad can do, but not how fast");
    add_value(*command, "--threads N", *threads,
              "threads to use (default: HEPTAD_THREADS, OMP_NUM_THREADS or all cores)");
    add_json_flag(*command, demo->json);
    command->footer("Example: heptad demo");
    return {command, [demo, threads] {
                demo->threads = thread_count(*threads);
                return [demo] { run(*demo); };
            }};
}

const RegisterCommand registered_demo({.order = 11, .add = add_demo});

}  // namespace
}  // namespace heptad::cli
