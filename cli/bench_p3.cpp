// heptad bench p3: products of bit matrices that lie on a device, GF(2) and Boolean, beside P3's table 13. Everything
// is inside the time: transposes, changes of basis, sums. Every result is checked on the device.
#include <algorithm>
#include <cmath>

#include "backend/cuda/device.hpp"
#include "backend/cuda/energy.hpp"
#include "base/error.hpp"
#include "base/size.hpp"
#include "bench_machine.hpp"
#include "bench_p3_from_host.hpp"
#include "bench_p3_machine.hpp"
#include "bench_product.hpp"
#include "commands.hpp"
#include "host_energy.hpp"
#include "interrupt.hpp"
#include "operands.hpp"
#include "output.hpp"
#include "p3_tables.hpp"
#include "place/devices/bit_device_check.hpp"
#include "place/devices/bit_device_product.hpp"
#include "place/devices/device_bits.hpp"
#include "place/file/npy.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kCheckedRows = 4096;
/// Left to the driver and to the checks.
constexpr std::int64_t kReserveBytes = std::int64_t{1} << 30;
/// A sample shorter than that is repeated, because the host needs some microseconds for each product.
constexpr double kSampleSeconds = 0.02;
/// A product that takes longer is timed once.
constexpr double kLongSeconds = 5;
constexpr unsigned char kPoison = 0x5a;

/// Three square matrices on the device.
struct Operands {
    DeviceBits a, b, c;

    Operands(std::int64_t n, const cuda::Stream& stream)
        : a(n, n, stream.device(), stream.handle()),
          b(n, n, stream.device(), stream.handle()),
          c(n, n, stream.device(), stream.handle()) {}

    void fill(double density, void* stream) const {
        cuda::fill_random_bits(a.view.words, a.view.rows * a.view.stride, 1, density, stream);
        cuda::fill_random_bits(b.view.words, b.view.rows * b.view.stride, 2, density, stream);
    }
    void poison(void* stream) const { cuda::fill_bytes(c.view.words, kPoison, bytes(c.view.rows) / 3, stream); }
    static std::int64_t bytes(std::int64_t n) { return checked_mul(3, DeviceBits::bytes(n, n)); }
};

/// The density at which half of a Boolean product is ones: its check then means something.
double sparse_density(std::int64_t n) {
    return std::min(0.5, std::sqrt(std::log(2.0) / static_cast<double>(n)));
}

class Line {
public:
    Line(const BenchP3Arguments& bench, Type type, std::int64_t n, const BitDevicePlan& plan,
         const cuda::Stream& stream)
        : bench_(bench),
          type_(type),
          n_(n),
          plan_(plan),
          stream_(stream),
          operands_(n, stream),
          workspace_(stream.device(), plan.workspace_bytes(), stream.handle()),
          timer_(stream.device()) {}

    BenchRecord run(const std::function<void(int, int)>& progress) {
        if (type_ == Type::boolean && bench_.density <= 0) {  // whose dense products are all ones, which is no check
            operands_.fill(sparse_density(n_), stream_.handle());
            operands_.poison(stream_.handle());
            sample(1);
            require_right();
        }
        operands_.fill(bench_.density <= 0 ? 0.5 : bench_.density, stream_.handle());
        operands_.poison(stream_.handle());
        const Samples first = samples(1, 1, progress);
        if (type_ == Type::gf2 || bench_.density > 0) {
            require_right();
        }
        const double first_s = first.seconds.front();
        if (first_s > kLongSeconds && bench_.rounds == 0) {
            return record_of(first);
        }
        const int rounds = bench_.rounds > 0 ? bench_.rounds : first_s > 0.1 ? 3 : 7;
        return record_of(samples(rounds, static_cast<std::int64_t>(std::ceil(kSampleSeconds / first_s)), progress));
    }

private:
    struct Samples {
        std::vector<double> seconds;                // of one product, in order
        std::optional<double> joules, host_joules;  // of one product
    };

    Samples samples(int rounds, std::int64_t calls, const std::function<void(int, int)>& progress) {
        Samples taken;
        const std::optional<double> before = cuda::energy_joules(stream_.device());
        const HostEnergy host_before = HostEnergy::now();
        for (int round = 0; round < rounds; ++round) {
            stop_if_interrupted();
            progress(round, rounds);
            taken.seconds.push_back(sample(calls));
        }
        const std::optional<double> after = cuda::energy_joules(stream_.device());
        const std::optional<double> host = HostEnergy::now().since(host_before);
        std::sort(taken.seconds.begin(), taken.seconds.end());
        const double products = static_cast<double>(calls) * rounds;
        if (before && after) {
            taken.joules = (*after - *before) / products;
        }
        if (host) {
            taken.host_joules = *host / products;
        }
        return taken;
    }

    double sample(std::int64_t calls) {
        timer_.start(stream_.handle());
        for (std::int64_t call = 0; call < calls; ++call) {
            multiply_bits_on_device(plan_, operands_.a.view, operands_.b.view, operands_.c.view, false,
                                    stream_.device(), stream_.handle(), workspace_.data());
        }
        timer_.stop(stream_.handle());
        return timer_.seconds() / static_cast<double>(calls);
    }

    void require_right() {
        workspace_ = {};  // the check needs some of it
        const std::int64_t wrong =
            type_ == Type::gf2 ? differing_rows_over_gf2(operands_.a.view, operands_.b.view, operands_.c.view, 3,
                                                         stream_.device(), stream_.handle())
                               : differing_rows_of_booleans(operands_.a.view, operands_.b.view, operands_.c.view,
                                                            kCheckedRows, 3, stream_.device(), stream_.handle());
        if (wrong != 0) {
            fail(ErrorCode::verification, "{} rows of the {} product of size {} are wrong; the plan was: {}", wrong,
                 type_name(type_), n_, plan_.to_string());
        }
        workspace_ = cuda::DeviceMemory(stream_.device(), plan_.workspace_bytes(), stream_.handle());
    }

    BenchRecord record_of(const Samples& taken) const {
        const std::vector<double>& seconds = taken.seconds;
        BenchRecord record;
        record.suite = "p3";
        record.type = type_;
        record.size = {n_, n_, n_};
        record.device = cuda::report().devices.at(static_cast<std::size_t>(stream_.device())).name;
        record.heptad_s = seconds[seconds.size() / 2];
        record.heptad_min_s = seconds.front();
        record.heptad_max_s = seconds.back();
        record.rounds = static_cast<int>(seconds.size());
        record.effective_tops = operation_count(record.size) / record.heptad_s / 1e12;
        record.workspace_bytes = plan_.workspace_bytes();
        record.predicted_s = plan_.predicted_s;
        record.levels = plan_.levels();
        record.plan = plan_.to_string();
        record.joules = taken.joules;
        record.host_joules = taken.host_joules;
        record.vendor = "P3 on 8 V100, published";
        if (const P3Line* const line = p3_line(n_)) {
            record.vendor_s = type_ == Type::gf2
                                  ? std::min({line->cubic_s, line->winograd_s, line->self_inverse_s, line->chaining_s})
                                  : line->boolean_s;
            record.vendor_min_s = record.vendor_max_s = record.vendor_s;
            record.ratio = record.vendor_s / record.heptad_s;
            record.libraries_s = {{record.vendor, record.vendor_s}};
        }
        return record;
    }

    const BenchP3Arguments& bench_;
    Type type_;
    std::int64_t n_;
    const BitDevicePlan& plan_;
    const cuda::Stream& stream_;
    Operands operands_;
    cuda::DeviceMemory workspace_;
    cuda::Timer timer_;
};

std::string head_text() {
    return fmt::format(
        "effective Pbit-op/s = 2 n^3 / time; operands on the device, transposes and changes of basis inside the time\n"
        "P3: up to eight V100, operands in host memory, transposes and changes of basis outside its times\n"
        "energy: {}; P3's from the rated power of host and GPUs\n"
        "{:>8} {:>5} {:>11} {:>9} {:>9} {:>10}  {:>10} {:>8} {:>7}  {:>3} {:>3} {:>10}  {}\n",
        HostEnergy::now().known() ? "of the device (NVML) and the processors (RAPL); memory, fans and supplies left out"
                                  : "of the device alone (NVML); this host shows no counters (RAPL), so processors, "
                                    "memory and cooling are left out",
        "n", "type", "time", "Pbit-op/s", "pJ/bit-op", "kWh", "P3's time", "P3/time", "P3's pJ", "d_s", "d_p",
        "workspace", "algorithm");
}

std::string row_text(const BenchRecord& record, const BitDevicePlan& plan) {
    const double operations = operation_count(record.size);
    const std::optional<double> joules =
        record.joules ? std::optional(*record.joules + record.host_joules.value_or(0)) : std::nullopt;
    const P3Line* const line = p3_line(record.size.n);
    return fmt::format("{:>8} {:>5} {:>11} {:>9.2f} {:>9} {:>10}  {:>10} {:>8} {:>7}  {:>3} {:>3} {:>10}  {}\n",
                       record.size.n, type_name(record.type), format_seconds(record.heptad_s),
                       record.effective_tops / 1e3, joules ? fmt::format("{:.4f}", *joules / operations * 1e12) : "-",
                       joules ? fmt::format("{:.2e}", *joules / 3.6e6) : "-",
                       record.vendor_s > 0 ? format_seconds(record.vendor_s) : "-",
                       record.vendor_s > 0 ? fmt::format("{:.1f}", record.ratio) : "-",
                       line == nullptr
                           ? "-"
                           : fmt::format("{:.2f}", record.type == Type::gf2 ? line->self_inverse_pj : line->boolean_pj),
                       plan.serial_levels, plan.parallel_levels, format_bytes(record.workspace_bytes),
                       plan.program == nullptr ? "classical" : plan.program->name);
}

std::string table_13_text() {
    std::string text = fmt::format("P3, table 13 (seconds)\n{:>8} {:>10} {:>10} {:>10} {:>12} {:>10}\n", "n", "cubic",
                                   "boolean", "winograd", "self-inverse", "chaining");
    for (const P3Line& line : p3_table_13()) {
        text += fmt::format("{:>8} {:>10.3g} {:>10.3g} {:>10.3g} {:>12.3g} {:>10.3g}\n", line.n, line.cubic_s,
                            line.boolean_s, line.winograd_s, line.self_inverse_s, line.chaining_s);
    }
    return text;
}

BitDeviceOptions options_of(const BenchP3Arguments& bench, Type type, std::int64_t limit_bytes) {
    BitDeviceOptions options;
    options.leaf = bench.leaf;
    if (type == Type::gf2) {
        options.algorithm = bench.algorithm;
        options.levels = bench.levels;
        options.serial_levels = bench.serial_levels;
    }
    options.workspace_limit_bytes = limit_bytes;
    return options;
}

}  // namespace

void run(const BenchP3Arguments& bench) {
    if (!bench.json_file.empty()) {
        check_writable(bench.json_file);
    }
    const int device = cuda::device_index(bench.device);
    cuda::require_device(device);
    const cuda::DeviceScope scope(device);
    const cuda::Stream stream(device);
    ProgressMeter meter;
    meter.begin("bench p3");
    print(device_line(device));
    if (bench.machine) {
        const P3Machine machine = measure_p3_machine(bench.sizes, stream);
        meter.clear();
        print(text_of(machine));
    }
    print(table_13_text() + head_text());
    std::vector<BenchRecord> records;
    for (const Type type : bench.types) {
        for (const std::int64_t n : bench.sizes) {
            stop_if_interrupted();
            stream.synchronize();  // so that what the last size had is free again
            const std::int64_t free_bytes = cuda::report().devices.at(static_cast<std::size_t>(device)).free_bytes;
            const std::int64_t limit_bytes = free_bytes - kReserveBytes - Operands::bytes(n);
            if (limit_bytes <= 0) {
                meter.clear();
                print(fmt::format("{:>8} {:>5} left out: its operands take {}, and {} are free\n", n, type_name(type),
                                  format_bytes(Operands::bytes(n)), format_bytes(free_bytes)));
                continue;
            }
            const cuda::BitOperation operation =
                type == Type::gf2 ? cuda::BitOperation::parity : cuda::BitOperation::any;
            const BitDevicePlan plan = plan_bit_device_product(
                {operation, {n, n, n}, true}, options_of(bench, type, limit_bytes), bit_device_facts(device));
            records.push_back(Line(bench, type, n, plan, stream).run([&](int round, int rounds) {
                meter.update(static_cast<double>(round) / rounds, fmt::format("{} n = {}", type_name(type), n));
            }));
            meter.clear();
            print(row_text(records.back(), plan));
            if (bench.from_host) {
                const std::vector<BenchRecord> from_host = bench_from_host(type, n, plan, records.back(), stream);
                records.insert(records.end(), from_host.begin(), from_host.end());
            }
            if (!bench.json_file.empty()) {  // after every size: a run that is stopped leaves what it has
                write_result_file(bench.json_file, bench.command, records, device);
            }
        }
    }
    if (!bench.json_file.empty()) {
        print(fmt::format("results: {}\n", bench.json_file));
    }
}

}  // namespace heptad::cli
