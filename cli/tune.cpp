// heptad tune: measures this machine once and keeps it; plans use it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/thread_pool.hpp"
#include "command.hpp"
#include "interrupt.hpp"
#include "io/device_machine.hpp"
#include "io/machine_file.hpp"
#include "machine_text.hpp"
#include "option_words.hpp"
#include "output.hpp"
#include "product/device/device_facts.hpp"
#include "product/device/device_product.hpp"
#include "progress.hpp"
#include "tune/tune.hpp"

namespace heptad::cli {
namespace {

struct TuneArguments {
    std::string device = "cpu";  // or a CUDA device
    bool quick = false;
    bool show = false;
    bool anyway = false;  // beside other programs, too
    int threads = 0;
    bool json = false;
};

double budget_s(const TuneArguments& arguments) {
    constexpr double kUsual = 100, kQuick = 5;
    return arguments.quick ? kQuick : kUsual;
}

Machine measure_and_save(const TuneArguments& arguments, int threads, LoadWatch& watch) {
    require_savable();
    ProgressMeter meter;
    meter.begin("tune");
    Machine machine = measure_machine(
        threads, budget_s(arguments),
        [&](double fraction, const std::string& stage) {
            stop_if_interrupted();
            meter.update(fraction, stage);
        },
        &watch);
    stop_if_interrupted();
    if (watch.stored_something()) {
        save_machine(machine);
    }
    return machine;
}

Machine device_machine(const TuneArguments& arguments, LoadWatch& watch) {
    const int device = nvidia_index(arguments.device);
    if (arguments.show) {
        return load_device_machine(device, NamedFile::may_be_missing);
    }
    ProgressMeter meter;
    meter.begin("tune");
    double done = 0;
    constexpr double kStages = 57;  // leaves of all types, passes and their shapes, whole plans, and products of bits
    return tune_device(
        device, arguments.quick,
        [&](const std::string& stage) {
            stop_if_interrupted();
            meter.update(done++ / kStages, stage);
        },
        watch);
}

void run(const TuneArguments& arguments) {
    const bool on_device = is_device_product(arguments.device);
    const int threads = threads_or_default(arguments.threads);
    LoadRules rules = load_rules(on_device ? 1 : threads, budget_s(arguments));
    rules.stores_disturbed = arguments.anyway;
    LoadWatch watch(rules);
    const Machine machine = on_device        ? device_machine(arguments, watch)
                            : arguments.show ? load_machine(threads, NamedFile::may_be_missing)
                                             : measure_and_save(arguments, threads, watch);
    const std::string file = on_device ? device_tune_file(nvidia_index(arguments.device)).path : tune_file();
    if (arguments.json) {
        print(nlohmann::ordered_json{{"file", file},
                                     {"measured", machine.measured},
                                     {"notice", watch.notice()},
                                     {"machine", nlohmann::ordered_json::parse(print_machine(machine))}});
        return;
    }
    const std::string where =
        machine.measured ? file : std::string("not measured yet: built-in defaults; run 'heptad tune'");
    const std::string notice = watch.notice().empty() ? "" : fmt::format("notice       {}\n", watch.notice());
    print(fmt::format("tuned        {}\nthreads      {}\n{}{}", where, machine.threads, notice,
                      machine_summary(machine)));
}

Command add_tune(CLI::App& root, const std::string& /*typed*/) {
    CLI::App* command = root.add_subcommand("tune", "measure this machine once; plans use it");
    auto tune = std::make_shared<TuneArguments>();
    command->add_flag("--quick", tune->quick, "fewer and smaller measurements; on a device, bit products only");
    auto device = std::make_shared<std::string>();
    add_value(*command, "--device D", *device, "cpu, cuda or cuda:N");
    command->add_flag("--show", tune->show, "show earlier measurements without measuring");
    command->add_flag("--anyway", tune->anyway, "also store measurements that other programs disturbed");
    auto threads = std::make_shared<std::string>();
    add_value(*command, "--threads N", *threads,
              "measure for this many threads (default: HEPTAD_THREADS, OMP_NUM_THREADS or all cores)");
    add_json_flag(*command, tune->json);
    command->footer("Example: heptad tune --quick");
    return {command, [tune, threads, device] {
                tune->device = device->empty() ? "cpu" : parse_device(*device);
                tune->threads = thread_count(*threads);
                return [tune] { run(*tune); };
            }};
}

const RegisterCommand registered_tune({.order = 8, .add = add_tune});

}  // namespace
}  // namespace heptad::cli
