// heptad bench devices: products of matrices in host memory on one device or over several. Cores as devices are
// compared with as many threads; an NVIDIA device with the same product of matrices that lie there already ("in-core")
// and with the transfers alone, and where pipelines feed it, also with a transfer of the whole matrices. Packed bits
// fed by pipelines are compared with the least time that their blocks, transfers and copies could take.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <tuple>

#include "api/context.hpp"
#include "base/error.hpp"
#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "bench/suites/bench_machine.hpp"
#include "bench/suites/bench_product.hpp"
#include "bench/suites/bench_words.hpp"
#include "bench/suites/host_layer_bound.hpp"
#include "bench/suites/in_core_times.hpp"
#include "bench/suites/poison.hpp"
#include "bench/suites/result_files.hpp"
#include "bench/suites/transfer_times.hpp"
#include "check/verify.hpp"
#include "check/verify_bits.hpp"
#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "product/request/bit_operands.hpp"

#include "cli/output.hpp"
#include "io/generate.hpp"
#include "kernels/cuda/device/device.hpp"
#include "move/locked_pages.hpp"
#include "product/device/device_list.hpp"
#include "product/device/device_product.hpp"
#include "product/device/host_operand_plan.hpp"
#include "product/device/over_devices.hpp"
#include "run/bits/bit_product.hpp"

namespace heptad::cli {
namespace {

struct BenchDevicesArguments {
    ResultFiles results;
    std::vector<Type> types;
    std::vector<ProblemSize> shapes;  // empty: the suite's own
    std::string device;               // a list of devices
    HostOptions host;
    Accuracy accuracy = Accuracy::balanced;
    double density = 0.5;  // of ones in packed bits
    int rounds = 0;        // 0: 5
    bool locked = false;   // the pages of the matrices, for NVIDIA devices
    std::string command;   // as typed, for the result file
};

using Progress = std::function<void(int round, int rounds)>;

constexpr std::int64_t kDeviceSquares[] = {2048, 4096};
constexpr std::int64_t kLarge_bytes = std::int64_t{8} << 30;  // checking them would take longer than the contest

ContestRules rules_of(const BenchDevicesArguments& bench) {
    ContestRules rules;
    rules.rounds = bench.rounds > 0 ? bench.rounds : 5;
    rules.pause_s = 0.01;
    return rules;
}

BenchRecord record_of(const HostDecision& made, const std::vector<Timing>& timings) {
    const ProductPlan& plan = made.plan;
    BenchRecord record;
    record.suite = "devices";
    record.type = plan.type;
    record.size = {plan.m, plan.k, plan.n};
    record.device = plan.host->devices;
    record.threads = made.forecast.devices;
    record.plan = to_string(plan);
    record.levels = plan.host->levels;
    record.workspace_bytes = plan.workspace_bytes;
    record.predicted_s = plan.predicted_s;
    record.error_bound = plan.error_bound;
    if (timings.size() > 1) {
        set_times(record, timings.front(), timings.back());
        record.libraries_s = {{record.vendor, record.vendor_s}};
    } else {  // too large for one device
        set_times_alone(record, timings.back());
    }
    return record;
}

void require_right(bool right, const std::string& plan) {
    if (!right) {
        fail(ErrorCode::verification, "the product {} is wrong", plan);
    }
}

Contestant repeated(const std::string& name, const std::function<void()>& product) {
    return {name, [product](std::int64_t calls) {
                for (std::int64_t call = 0; call < calls; ++call) {
                    product();
                }
            }};
}

/// A, B and C in host memory.
struct BenchMatrices {
    BenchMatrices(Type type, const ProblemSize& size, bool locked)
        : a(generate(kind_of(type), size.m, size.k, type, 1)),
          b(generate(kind_of(type), size.k, size.n, type, 2)),
          c(type, size.m, size.n) {
        poison();
        if (locked) {
            for (const Matrix* matrix : {&a, &b, &c}) {
                pages.lock(matrix->data(), matrix->size_bytes());
            }
        }
    }
    static const char* kind_of(Type type) { return type == Type::gf2 || type == Type::boolean ? "bits" : "uniform"; }
    void poison() { poison_bytes(c.data(), c.size_bytes()); }
    std::int64_t bytes() const { return a.size_bytes() + b.size_bytes() + c.size_bytes(); }

    Matrix a, b, c;
    LockedPages pages;  // unlocked before the matrices go
};

/// The last contestant's result is checked.
std::vector<Timing> contest(const BenchDevicesArguments& bench, BenchMatrices& matrices,
                            const std::vector<Contestant>& contestants, const std::string& what,
                            const Progress& progress) {
    ContestHooks hooks;
    hooks.poison = [&] { matrices.poison(); };
    hooks.progress = progress;
    hooks.after_last_sample = [&](std::size_t contestant) {
        if (contestant + 1 == contestants.size()) {
            VerifyOptions check;
            check.by.accuracy = bench.accuracy;
            check.rounds = matrices.bytes() > kLarge_bytes ? 3 : check.rounds;
            require_right(verify(matrices.a, matrices.b, matrices.c, check).passed(), what);
        }
    };
    return run_contest(contestants, rules_of(bench), hooks);
}

Options options_of(const BenchDevicesArguments& bench) {
    Options options;
    options.device = bench.device;
    options.accuracy = bench.accuracy;
    options.host = bench.host;
    return options;
}

ProductContext bench_context() {
    ProductContext context;
    context.hooks.cancel = &interrupt_token();
    return context;
}

/// One NVIDIA device that holds all three matrices: how much of the rate there is left from host memory to host memory?
BenchRecord bench_host_to_host(const BenchDevicesArguments& bench, BenchMatrices& matrices, const Progress& progress) {
    const Options options = options_of(bench);
    const Type type = matrices.a.type();
    const InCoreTimes in_core = time_in_core(matrices.a, matrices.b, options, rules_of(bench), progress);
    const std::vector<Contestant> contestants{repeated("heptad", [&] {
        multiply_on_device(1, matrices.a.view(), matrices.b.view(), 0, matrices.c.view(), options, bench_context());
    })};
    const std::vector<Timing> timings = contest(bench, matrices, contestants, in_core.plan, progress);
    BenchRecord record;
    record.suite = "devices";
    record.variant = bench.locked ? "host to host, pages locked before" : "host to host";
    record.type = type;
    record.size = {matrices.c.rows(), matrices.a.cols(), matrices.c.cols()};
    record.device = bench.device;
    record.plan = in_core.plan;
    const ProductPlan from_host = plan_host_operands(record.size, type, type, false, options, bench_context()).plan;
    record.predicted_s = from_host.predicted_s;
    record.levels = level_count(from_host);
    record.workspace_bytes = from_host.workspace_bytes;
    record.error_bound = std::max(in_core.error_bound, from_host.error_bound);
    set_times(record, in_core.timing, timings.front());
    record.libraries_s = {{record.vendor, record.vendor_s}};
    const TransferTimes transfers =
        time_transfers(matrices.a, matrices.b, matrices.c, cuda::device_index(options.device), rules_of(bench));
    record.shares = {{"there_s", transfers.there_s},
                     {"back_s", transfers.back_s},
                     {"both_ways_s", transfers.both_ways_s},
                     {"share_of_bound", std::max(transfers.both_ways_s, record.vendor_s) / record.heptad_s},
                     {"least_s", least_seconds(transfers, record.vendor_s)}};
    StageTrace trace(true);
    ProductContext traced = bench_context();
    traced.trace = &trace;
    multiply_on_device(1, matrices.a.view(), matrices.b.view(), 0, matrices.c.view(), options, traced);
    const DeviceTimeline line = timeline_of(trace);
    record.shares.insert(record.shares.end(), {{"steps", line.steps},
                                               {"first_product_s", line.first_product_s},
                                               {"arrived_s", line.arrived_s},
                                               {"device_busy_s", line.busy_s},
                                               {"device_idle_s", line.idle_s()},
                                               {"multiplied_s", line.multiplied_s},
                                               {"fetched_s", line.fetched_s}});
    return record;
}

BenchRecord bench_dense(const BenchDevicesArguments& bench, Type type, const ProblemSize& size,
                        const Progress& progress) {
    const DeviceList list = parse_device_list(bench.device);
    const Options options = options_of(bench);
    const ProductContext context = bench_context();
    BenchMatrices matrices(type, size, bench.locked && list.cuda);
    Options one = options;
    one.host = {};
    one.device = list.cuda ? fmt::format("cuda:{}", list.indices.front()) : "cpu";
    const bool fits = list.cuda && !goes_beyond_device(matrices.bytes(), one);
    if (fits && list.indices.size() == 1 && !goes_beyond_device(matrices.bytes(), options)) {
        return bench_host_to_host(bench, matrices, progress);
    }
    const HostDecision plan = make_plan_over_devices(size, type, type, options, context);
    std::vector<Contestant> contestants;
    if (!list.cuda) {
        ProductContext threads = context;
        threads.threads = static_cast<int>(list.indices.size());
        contestants.push_back(repeated("threads", [&, threads] {
            multiply_in_memory(1, matrices.a.view(), matrices.b.view(), 0, matrices.c.view(), one, threads);
        }));
    } else if (fits) {
        contestants.push_back(repeated("transfer", [&] {
            multiply_on_device(1, matrices.a.view(), matrices.b.view(), 0, matrices.c.view(), one, context);
        }));
    }
    contestants.push_back(repeated("heptad", [&] {
        multiply_over_devices(1, matrices.a.view(), matrices.b.view(), 0, matrices.c.view(), options, context);
    }));
    return record_of(plan, contest(bench, matrices, contestants, to_string(plan.plan), progress));
}

/// Where there is nothing to compare with, the bound takes its place: the ratio is the share of it that was reached, as
/// P3 states it.
void set_bound(BenchRecord& record, const HostLayerBound& bound) {
    record.variant = bound.text(record.heptad_s);
    record.shares = {{"products_s", bound.products_s},
                     {"link_s", bound.link_s},
                     {"host_memory_s", bound.host_memory_s},
                     {"wall_over_bound", record.heptad_s / bound.seconds()}};
    if (!record.is_compared()) {
        record.vendor = "bound";
        record.vendor_s = record.vendor_min_s = record.vendor_max_s = bound.seconds();
        record.ratio = record.vendor_s / record.heptad_s;
        record.libraries_s = {{record.vendor, record.vendor_s}};
    }
}

BenchRecord bench_bits(const BenchDevicesArguments& bench, Type type, const ProblemSize& size,
                       const Progress& progress) {
    bits::BitOptions options;
    options.device = bench.device;
    options.host = bench.host;
    const BitMatrix a = BitMatrix::random(size.m, size.k, 1, bench.density),
                    b = BitMatrix::random(size.k, size.n, 2, bench.density);
    BitMatrix c(size.m, size.n);
    ProductContext context;
    context.hooks.cancel = &interrupt_token();
    const HostDecision plan = make_bit_plan_over_devices(type, size, false, options, context);
    const DeviceList list = parse_device_list(bench.device);
    const DeviceSet devices = open_devices(list);
    BlockProducts products(plan.forecast, bit_sub_product(plan.plan, context), *devices.front(), a, b);
    std::vector<Contestant> contestants{repeated("products", [&] { products.run(); })};
    if (!list.cuda) {
        contestants.push_back(repeated("threads", [&] {
            bits::multiply_bits(type, a, b, c.view(), false, {}, {plan.forecast.devices, {&interrupt_token()}});
        }));
    }
    contestants.push_back(
        repeated("heptad", [&] { multiply_bits_over_devices(type, a, b, c.view(), false, options, context); }));
    ContestHooks hooks;
    hooks.poison = [&] { poison(c); };
    hooks.progress = progress;
    hooks.after_last_sample = [&](std::size_t contestant) {
        if (contestant + 1 == contestants.size()) {
            require_right(verify_bits(type, a, b, c, {}).passed(), to_string(plan.plan));
        }
    };
    const std::vector<Timing> timings = run_contest(contestants, rules_of(bench), hooks);
    BenchRecord record = record_of(plan, {timings.begin() + 1, timings.end()});
    set_bound(record, products.bound(timings.front().median_s));
    return record;
}

/// Below the row of a product from host memory to host memory.
std::string transfer_line(const BenchRecord& record) {
    const auto share = [&](const char* name) {
        return std::ranges::find(record.shares, name, [](const auto& named) { return named.first; })->second;
    };
    const auto time = [&](const char* name) { return format_seconds(share(name)); };
    return fmt::format(
        "{0:>8}{1:.3f} of the rate of the transfers (A and B there {2}, C back {3}, both at a time {4}) or of "
        "the product, whichever is slower; no order takes less than {5}\n"
        "{0:>8}once more, {6} steps: first product after {7}, A and B there after {8}, products {9}, device idle "
        "between "
        "them {10}, last product after {11}, C back after {12}\n",
        "", share("share_of_bound"), time("there_s"), time("back_s"), time("both_ways_s"), time("least_s"),
        share("steps"), time("first_product_s"), time("arrived_s"), time("device_busy_s"), time("device_idle_s"),
        time("multiplied_s"), time("fetched_s"));
}

void run(const BenchDevicesArguments& bench) {
    require_writable(bench.results);
    const DeviceList list = parse_device_list(bench.device);
    open_devices(list);
    const std::optional<int> cuda = list.cuda ? std::optional(list.indices.front()) : std::nullopt;
    std::vector<ProblemSize> shapes = bench.shapes;
    if (shapes.empty()) {
        for (const std::int64_t n : kDeviceSquares) {
            shapes.push_back({n, n, n});
        }
    }
    ProgressMeter meter;
    meter.begin("bench devices");
    print(cuda ? device_line(*cuda) : machine_line());
    print(table_head());
    std::vector<BenchRecord> records;
    for (const Type type : bench.types) {
        for (const ProblemSize& size : shapes) {
            stop_if_interrupted();
            const auto progress = [&](int round, int rounds) {
                stop_if_interrupted();
                meter.update(static_cast<double>(round) / rounds, type_name(type));
            };
            const bool packed = type == Type::gf2 || type == Type::boolean;
            records.push_back((packed ? bench_bits : bench_dense)(bench, type, size, progress));
            meter.clear();
            print(table_row(records.back()));
            if (packed) {
                print(fmt::format("{:>8}{}\n", "", records.back().variant));
            }
            if (!packed && !records.back().shares.empty()) {
                print(transfer_line(records.back()));
            }
        }
    }
    write_results(bench.results, bench.command, records, cuda);
    print(results_line(bench.results));
}

Command add_bench_devices(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand("devices", "matrices in host memory over several devices (docs/devices.md)");
    auto words = std::make_shared<BenchWords>();
    auto host = std::make_shared<HostWords>();
    auto devices = std::make_shared<BenchDevicesArguments>();
    devices->command = typed;
    add_value(*suite, "--types T,...", words->types, "default f32,gf2,bool");
    add_value(*suite, "--sizes N,...", words->sizes, "n or MxKxN (default 2048,4096)");
    add_value(*suite, "--device D", words->device, "cpu:N, cuda or cuda:0,1 (default cpu:2)");
    add_accuracy_option(*suite, *words);
    add_value(*suite, "--rounds R", words->rounds, "samples of each (default 5)");
    suite->add_flag("--locked", devices->locked,
                    "NVIDIA devices: lock the pages of the matrices first, outside the time");
    add_value(*suite, "--density D", words->density, "share of ones in packed bits (default: 0.5)");
    add_result_options(*suite, devices->results);
    add_host_options(*suite, *host);
    suite->footer("Example: heptad bench devices --types f32 --sizes 4096 --device cpu:2 --host-levels 1");
    return {suite, [words, host, devices] {
                for (const std::string& name : split(words->types.empty() ? "f32,gf2,bool" : words->types, ',')) {
                    devices->types.push_back(type_from_name(name));
                }
                devices->shapes = bench_sizes(words->sizes);
                devices->device = words->device.empty() ? "cpu:2" : words->device;
                parse_device_list(devices->device);  // or wrong usage
                devices->host = host_options(*host, devices->device, false);
                devices->accuracy = bench_accuracy(words->accuracy);
                if (!words->density.empty()) {
                    devices->density = bench_density(words->density);
                }
                devices->rounds = bench_rounds(words->rounds);
                return [devices] { run(*devices); };
            }};
}

const RegisterCommand registered_bench_devices({.parent = "bench", .order = 4, .add = add_bench_devices});

}  // namespace
}  // namespace heptad::cli
