// heptad bench devices: products of matrices in host memory over several devices, against the same product without
// pipelines: on as many threads as there are cores in the list, or by one transfer to the first NVIDIA device.
#include <algorithm>
#include <functional>

#include "api/context.hpp"
#include "backend/cuda/device.hpp"
#include "base/error.hpp"
#include "bench_machine.hpp"
#include "bench_product.hpp"
#include "bit_operands.hpp"
#include "bits/bit_product.hpp"
#include "check/verify.hpp"
#include "check/verify_bits.hpp"
#include "commands.hpp"
#include "interrupt.hpp"
#include "operands.hpp"
#include "output.hpp"
#include "place/devices/device_list.hpp"
#include "place/devices/device_product.hpp"
#include "place/devices/over_devices.hpp"
#include "place/file/generate.hpp"
#include "place/file/npy.hpp"

namespace heptad::cli {
namespace {

using Progress = std::function<void(int round, int rounds)>;

constexpr std::int64_t kSquares[] = {2048, 4096};

ContestRules rules_of(const BenchDevicesArguments& bench) {
    ContestRules rules;
    rules.rounds = bench.rounds > 0 ? bench.rounds : 5;
    rules.pause_s = 0.01;
    return rules;
}

BenchRecord record_of(const HostPlan& plan, const std::vector<Timing>& timings) {
    BenchRecord record;
    record.suite = "devices";
    record.type = plan.type;
    record.size = plan.size;
    record.device = plan.devices;
    record.threads = plan.device_count;
    record.plan = to_string(plan);
    record.levels = plan.levels;
    record.workspace_bytes = plan.host_bytes;
    record.predicted_s = plan.predicted_s;
    record.error_bound = plan.error_bound;
    set_times(record, timings.front(), timings.back());
    if (timings.size() > 1) {
        record.libraries_s = {{record.vendor, record.vendor_s}};
    } else {  // too large for one device
        record.vendor = "none";
        record.vendor_s = record.vendor_min_s = record.vendor_max_s = record.ratio = 0;
    }
    return record;
}

void require_right(bool right, const HostPlan& plan) {
    if (!right) {
        fail(ErrorCode::verification, "the product {} is wrong", to_string(plan));
    }
}

Contestant repeated(const std::string& name, const std::function<void()>& product) {
    return {name, [product](std::int64_t calls) {
                for (std::int64_t call = 0; call < calls; ++call) {
                    product();
                }
            }};
}

BenchRecord bench_dense(const BenchDevicesArguments& bench, Type type, const ProblemSize& size,
                        const Progress& progress) {
    const DeviceList list = parse_device_list(bench.device);
    Options options;
    options.device = bench.device;
    options.accuracy = bench.accuracy;
    options.host = bench.host;
    const char* const kind = type == Type::gf2 || type == Type::boolean ? "bits" : "uniform";
    const Matrix a = generate(kind, size.m, size.k, type, 1), b = generate(kind, size.k, size.n, type, 2);
    Matrix c(type, size.m, size.n);
    ProductContext context;
    context.hooks.cancel = &interrupt_token();
    const HostPlan plan = make_plan_over_devices(size, type, type, options, context);
    std::vector<Contestant> contestants;
    const std::int64_t bytes = a.size_bytes() + b.size_bytes() + c.size_bytes();
    Options one = options;
    one.host = {};
    one.device = list.cuda ? fmt::format("cuda:{}", list.indices.front()) : "cpu";
    if (!list.cuda) {
        ProductContext threads = context;
        threads.threads = static_cast<int>(list.indices.size());
        contestants.push_back(repeated(
            "threads", [&, threads] { multiply_in_memory(1, a.view(), b.view(), 0, c.view(), one, threads); }));
    } else if (!goes_beyond_device(bytes, one)) {
        contestants.push_back(
            repeated("transfer", [&] { multiply_on_device(1, a.view(), b.view(), 0, c.view(), one, context); }));
    }
    contestants.push_back(
        repeated("heptad", [&] { multiply_over_devices(1, a.view(), b.view(), 0, c.view(), options, context); }));
    ContestHooks hooks;
    hooks.poison = [&] { std::fill_n(static_cast<std::byte*>(c.data()), c.size_bytes(), std::byte{0x55}); };
    hooks.progress = progress;
    hooks.after_last_sample = [&](std::size_t contestant) {
        if (contestant + 1 == contestants.size()) {
            VerifyOptions check;
            check.error_bound = plan.error_bound;
            require_right(verify(a, b, c, check).passed(), plan);
        }
    };
    return record_of(plan, run_contest(contestants, rules_of(bench), hooks));
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
    const HostPlan plan = make_bit_plan_over_devices(type, size, false, options, context);
    std::vector<Contestant> contestants;
    if (!parse_device_list(bench.device).cuda) {
        contestants.push_back(repeated("threads", [&] {
            bits::multiply_bits(type, a, b, c.view(), false, {}, {plan.device_count, {&interrupt_token()}});
        }));
    }
    contestants.push_back(
        repeated("heptad", [&] { multiply_bits_over_devices(type, a, b, c.view(), false, options, context); }));
    ContestHooks hooks;
    hooks.poison = [&] { poison(c); };
    hooks.progress = progress;
    hooks.after_last_sample = [&](std::size_t contestant) {
        if (contestant + 1 == contestants.size()) {
            require_right(verify_bits(type, a, b, c, {}).passed(), plan);
        }
    };
    return record_of(plan, run_contest(contestants, rules_of(bench), hooks));
}

}  // namespace

void run(const BenchDevicesArguments& bench) {
    if (!bench.json_file.empty()) {
        check_writable(bench.json_file);
    }
    const DeviceList list = parse_device_list(bench.device);
    open_devices(list);
    const std::optional<int> cuda = list.cuda ? std::optional(list.indices.front()) : std::nullopt;
    std::vector<ProblemSize> shapes = bench.shapes;
    if (shapes.empty()) {
        for (const std::int64_t n : kSquares) {
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
        }
    }
    if (!bench.json_file.empty()) {
        write_result_file(bench.json_file, bench.command, records, cuda);
        print(fmt::format("results: {}\n", bench.json_file));
    }
}

}  // namespace heptad::cli
