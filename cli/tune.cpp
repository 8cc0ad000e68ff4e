// heptad tune: measures this machine once and keeps it; plans use it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "commands.hpp"
#include "interrupt.hpp"
#include "io/device_machine.hpp"
#include "io/machine_file.hpp"
#include "machine_text.hpp"
#include "output.hpp"
#include "product/device/device_facts.hpp"
#include "progress.hpp"
#include "tune/tune.hpp"
#include "tune/tune_device.hpp"

namespace heptad::cli {
namespace {

constexpr double kBudgetSeconds = 100, kQuickBudgetSeconds = 5;

Machine measure_and_save(const TuneArguments& arguments, int threads) {
    require_savable();
    ProgressMeter meter;
    meter.begin("tune");
    Machine machine = measure_machine(threads, arguments.quick ? kQuickBudgetSeconds : kBudgetSeconds,
                                      [&](double fraction, const std::string& stage) {
                                          stop_if_interrupted();
                                          meter.update(fraction, stage);
                                      });
    stop_if_interrupted();
    save_machine(machine);
    return machine;
}

Machine device_machine(const TuneArguments& arguments) {
    const int device = cuda::device_index(arguments.device);
    if (arguments.show) {
        return load_device_machine(device, NamedFile::may_be_missing);
    }
    ProgressMeter meter;
    meter.begin("tune");
    double done = 0;
    constexpr double kStages = 57;  // leaves of all types, passes and their shapes, whole plans, and products of bits
    return tune_device(device, arguments.quick, [&](const std::string& stage) {
        stop_if_interrupted();
        meter.update(done++ / kStages, stage);
    });
}

}  // namespace

void run(const TuneArguments& arguments) {
    const bool on_device = cuda::is_device_name(arguments.device);
    const int threads = arguments.threads > 0 ? arguments.threads : available_cores();
    const Machine machine = on_device        ? device_machine(arguments)
                            : arguments.show ? load_machine(threads, NamedFile::may_be_missing)
                                             : measure_and_save(arguments, threads);
    const std::string file = on_device ? device_tune_file(cuda::device_index(arguments.device)).path : tune_file();
    if (arguments.json) {
        print(nlohmann::ordered_json{{"file", file},
                                     {"measured", machine.measured},
                                     {"machine", nlohmann::ordered_json::parse(print_machine(machine))}});
        return;
    }
    const std::string where =
        machine.measured ? file : std::string("not measured yet: built-in defaults; run 'heptad tune'");
    print(fmt::format("tuned        {}\nthreads      {}\n{}", where, machine.threads, machine_summary(machine)));
}

}  // namespace heptad::cli
