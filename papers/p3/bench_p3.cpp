// heptad bench p3: products of bit matrices that lie on a device, GF(2) and Boolean, beside P3's table 13. Everything
// is inside the time: transposes, changes of basis, sums. Every result is checked on the device.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/size.hpp"
#include "bench/suites/bench_machine.hpp"
#include "bench/suites/bench_product.hpp"
#include "bench/suites/bench_words.hpp"
#include "bench/suites/device_energy.hpp"
#include "bench/suites/host_energy.hpp"
#include "bench/suites/result_files.hpp"
#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "kernels/cuda/device/device.hpp"
#include "papers/p3/bench_p3_from_host.hpp"
#include "papers/p3/bench_p3_machine.hpp"
#include "papers/p3/bit_device_check.hpp"
#include "papers/p3/p3_tables.hpp"
#include "product/device/bit_device_product.hpp"
#include "product/device/device_bits.hpp"
#include "product/request/request.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kLargestSide = (std::int64_t{1} << 31) - 1;

struct BenchP3Arguments {
    ResultFiles results;
    std::vector<Type> types;
    std::vector<std::int64_t> sizes;
    std::string leaf = "auto", algorithm = "auto";
    int levels = -1;         // -1: as many as pay
    int serial_levels = -1;  // of those; -1: as many as the memory asks for
    std::string device = "cuda";
    int rounds = 0;                             // 0: by the time of the product
    double density = 0;                         // share of ones; 0: a half, but Boolean products are checked with fewer
    std::vector<std::int64_t> from_host_sizes;  // also from and to host memory, where they are among the sizes
    bool machine = true;                        // tables 4 to 7 first
    std::string command;                        // as typed, for the result file
};

constexpr std::int64_t kCheckedRows = 4096;
/// Of a Boolean product that is all ones: more rows would say no more.
constexpr std::int64_t kCheckedFullRows = 64;
/// Left to the driver and to the checks.
constexpr std::int64_t kReserveBytes = std::int64_t{1} << 30;
/// A sample shorter than that is repeated, because the host needs some microseconds for each product.
constexpr double kSampleSeconds = 0.02;
/// A product that takes longer is timed once; so is one beside the main one that takes longer than the second.
constexpr double kLongSeconds = 5, kLongBesideSeconds = 0.5;
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

double density_of(const BenchP3Arguments& bench) {
    return bench.density > 0 ? bench.density : 0.5;
}

/// The density at which half of a Boolean product is ones: its check then means something.
double sparse_density(std::int64_t n) {
    return std::min(0.5, std::sqrt(std::log(2.0) / static_cast<double>(n)));
}

/// One product as it is planned: everything computed, or ending early where C is all ones.
struct Plans {
    ProductPlan whole, early;

    bool end_early() const { return early.panels && early.panels->first_k > 0; }
    std::int64_t workspace_bytes() const { return std::max(whole.workspace_bytes, early.workspace_bytes); }
};

class Line {
public:
    Line(const BenchP3Arguments& bench, Type type, std::int64_t n, const Plans& plans, const cuda::Stream& stream)
        : bench_(bench),
          type_(type),
          n_(n),
          plans_(plans),
          stream_(stream),
          operands_(n, stream),
          workspace_(stream.device(), plans.workspace_bytes(), stream.handle()),
          timer_(stream.device()) {}

    /// The product with everything computed; of Booleans then the same one ending early, and one of sparse matrices,
    /// since dense products are all ones, which is no check.
    std::vector<BenchRecord> run(const std::function<void(int, int)>& progress) {
        const double density = density_of(bench_);
        operands_.fill(density, stream_.handle());
        const std::int64_t rows = bench_.density > 0 ? kCheckedRows : kCheckedFullRows;
        std::vector<BenchRecord> records{timed(plans_.whole, kLongSeconds, rows, progress)};
        if (type_ == Type::gf2) {
            return records;
        }
        if (plans_.end_early()) {
            records.push_back(timed(plans_.early, kLongBesideSeconds, rows, progress));
            records.back().variant = fmt::format("density {}, ending where C is all ones", density);
        }
        if (bench_.density <= 0) {
            operands_.fill(sparse_density(n_), stream_.handle());
            records.push_back(timed(plans_.early, kLongBesideSeconds, kCheckedRows, progress));
            records.back().variant = fmt::format("density {:.2g}, half of C is ones", sparse_density(n_));
        }
        return records;
    }

private:
    struct Samples {
        std::vector<double> seconds;                // of one product, in order
        std::optional<double> joules, host_joules;  // of one product
    };

    /// Checks the first result, which is the only sample where it takes longer than `long_s`.
    BenchRecord timed(const ProductPlan& plan, double long_s, std::int64_t checked_rows,
                      const std::function<void(int, int)>& progress) {
        operands_.poison(stream_.handle());
        const Samples first = samples(plan, 1, 1, progress);
        require_right(plan, checked_rows);
        const double first_s = first.seconds.front();
        if (first_s > long_s && bench_.rounds <= 1) {
            return record_of(plan, first);
        }
        const int rounds = bench_.rounds > 0 ? bench_.rounds : first_s > 0.1 ? 3 : 7;
        const auto calls = static_cast<std::int64_t>(std::ceil(kSampleSeconds / first_s));
        return record_of(plan, samples(plan, rounds, calls, progress));
    }

    Samples samples(const ProductPlan& plan, int rounds, std::int64_t calls,
                    const std::function<void(int, int)>& progress) {
        Samples taken;
        const std::optional<double> before = cuda::energy_joules(stream_.device());
        const HostEnergy host_before = HostEnergy::now();
        for (int round = 0; round < rounds; ++round) {
            stop_if_interrupted();
            progress(round, rounds);
            taken.seconds.push_back(sample(plan, calls));
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

    double sample(const ProductPlan& plan, std::int64_t calls) {
        timer_.start(stream_.handle());
        for (std::int64_t call = 0; call < calls; ++call) {
            multiply_bits_on_device(plan, operands_.a.view, operands_.b.view, operands_.c.view, false, stream_.device(),
                                    stream_.handle(), workspace_.data());
        }
        timer_.stop(stream_.handle());
        return timer_.seconds() / static_cast<double>(calls);
    }

    void require_right(const ProductPlan& plan, std::int64_t checked_rows) {
        workspace_ = {};  // the check needs some of it
        const std::int64_t wrong =
            type_ == Type::gf2 ? differing_rows_over_gf2(operands_.a.view, operands_.b.view, operands_.c.view, 3,
                                                         stream_.device(), stream_.handle())
                               : differing_rows_of_booleans(operands_.a.view, operands_.b.view, operands_.c.view,
                                                            checked_rows, 3, stream_.device(), stream_.handle());
        if (wrong != 0) {
            fail(ErrorCode::verification, "{} rows of the {} product of size {} are wrong; the plan was: {}", wrong,
                 type_name(type_), n_, to_string(plan));
        }
        workspace_ = cuda::DeviceMemory(stream_.device(), plans_.workspace_bytes(), stream_.handle());
    }

    BenchRecord record_of(const ProductPlan& plan, const Samples& taken) const {
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
        record.workspace_bytes = plan.workspace_bytes;
        record.predicted_s = plan.predicted_s;
        record.levels = static_cast<int>(plan.levels.size());
        record.plan = to_string(plan);
        record.joules = taken.joules;
        record.host_joules = taken.host_joules;
        if (const P3Line* const line = p3_line(n_)) {
            record.vendor = "Karppa and Kaski on 8 V100, published";
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
    const Plans& plans_;
    const cuda::Stream& stream_;
    Operands operands_;
    cuda::DeviceMemory workspace_;
    cuda::Timer timer_;
};

std::string head_text() {
    return fmt::format(
        "effective Pbit-op/s = 2 n^3 / time; operands on the device, transposes and changes of basis inside the time\n"
        "Karppa and Kaski: up to eight V100, operands in host memory, transposes and changes of basis outside their "
        "times\n"
        "energy: {}; theirs from the rated power of host and GPUs\n"
        "{:>8} {:>5} {:>11} {:>9} {:>9} {:>10}  {:>10} {:>8} {:>8}  {:>3} {:>3} {:>10}  {}\n",
        HostEnergy::now().known() ? "of the device (NVML) and the processors (RAPL); memory, fans and supplies left out"
                                  : "of the device alone (NVML); this host shows no counters (RAPL), so processors, "
                                    "memory and cooling are left out",
        "n", "type", "time", "Pbit-op/s", "pJ/bit-op", "kWh", "their time", "speed", "their pJ", "d_s", "d_p",
        "workspace", "algorithm");
}

std::string row_text(const BenchRecord& record, const ProductPlan& plan) {
    const double operations = operation_count(record.size);
    const bool metered = record.joules.has_value();
    const double joules = record.joules.value_or(0) + record.host_joules.value_or(0);
    const P3Line* const line = p3_line(record.size.n);
    return fmt::format(
        "{:>8} {:>5} {:>11} {:>9.2f} {:>9} {:>10}  {:>10} {:>8} {:>8}  {:>3} {:>3} {:>10}  {}\n", record.size.n,
        type_name(record.type), format_seconds(record.heptad_s), record.effective_tops / 1e3,
        metered ? fmt::format("{:.4f}", joules / operations * 1e12) : "-",
        metered ? fmt::format("{:.2e}", joules / 3.6e6) : "-",
        record.is_compared() ? format_seconds(record.vendor_s) : "-",
        record.is_compared() ? fmt::format("{:.1f}", record.ratio) : "-",
        line == nullptr ? "-"
                        : fmt::format("{:.2f}", record.type == Type::gf2 ? line->self_inverse_pj : line->boolean_pj),
        levels_in_mode(plan, LevelMode::serial), levels_in_mode(plan, LevelMode::parallel),
        format_bytes(record.workspace_bytes), plan.levels.empty() ? "classical" : plan.levels.front().algorithm);
}

/// A product beside the main one, in the columns of its line.
std::string beside_text(const BenchRecord& record) {
    const std::string joules =
        record.joules ? fmt::format("{:.4f}", *record.joules / operation_count(record.size) * 1e12) : "-";
    return fmt::format("{:>14} {:>11} {:>9.2f} {:>9}   {}\n", "", format_seconds(record.heptad_s),
                       record.effective_tops / 1e3, joules, record.variant);
}

std::string table_13_text() {
    std::string text = fmt::format("Karppa and Kaski, table 13 (seconds)\n{:>8} {:>10} {:>10} {:>10} {:>12} {:>10}\n",
                                   "n", "cubic", "boolean", "winograd", "self-inverse", "chaining");
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

void run(const BenchP3Arguments& bench) {
    require_writable(bench.results);
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
    HostSquares squares;
    for (const std::int64_t n : bench.sizes) {
        for (const Type type : bench.types) {
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
            const BitDeviceProblem problem{bit_operation(type), {n, n, n}, true};
            BitDeviceOptions options = options_of(bench, type, limit_bytes);
            const BitDeviceFacts facts = bit_device_facts(device);
            Plans plans;
            plans.early = plan_bit_device_product(problem, options, facts);
            options.first_panel_k = 0;
            plans.whole = plan_bit_device_product(problem, options, facts);
            const std::vector<BenchRecord> on_device =
                Line(bench, type, n, plans, stream).run([&](int round, int rounds) {
                    meter.update(static_cast<double>(round) / rounds, fmt::format("{} n = {}", type_name(type), n));
                });
            records.insert(records.end(), on_device.begin(), on_device.end());
            meter.clear();
            print(row_text(on_device.front(), plans.whole));
            for (std::size_t i = 1; i < on_device.size(); ++i) {
                print(beside_text(on_device[i]));
            }
            if (std::find(bench.from_host_sizes.begin(), bench.from_host_sizes.end(), n) !=
                bench.from_host_sizes.end()) {
                std::vector<FromHostCase> cases{{plans.whole, on_device.front(), ""}};
                if (plans.end_early()) {
                    cases.push_back({plans.early, on_device[1], ", ending where C is all ones"});
                }
                const std::vector<BenchRecord> from_host =
                    bench_from_host(type, n, density_of(bench), cases, squares, stream);
                records.insert(records.end(), from_host.begin(), from_host.end());
            }
            // After every size: a run that is stopped leaves what it has.
            write_results(bench.results, bench.command, records, device);
        }
    }
    print(results_line(bench.results));
}

struct P3Words : BenchWords {
    std::string serial_levels, from_host;
};

std::vector<std::int64_t> sides_of(const std::string& option, const std::string& words) {
    std::vector<std::int64_t> sides;
    for (const std::string& word : split(words, ',')) {
        sides.push_back(parse_integer(option, word, 1, kLargestSide));
    }
    return sides;
}

Command add_bench_p3(CLI::App& bench, const std::string& typed) {
    CLI::App* suite =
        bench.add_subcommand("p3", "bit matrices on an NVIDIA device, beside table 13 of Karppa and Kaski");
    auto words = std::make_shared<P3Words>();
    auto p3 = std::make_shared<BenchP3Arguments>();
    p3->command = typed;
    add_value(*suite, "--types T,...", words->types, "of gf2, bool (default: both)");
    add_value(*suite, "--sizes N,...", words->sizes, "sides (default: 1024 to 524288, powers of two)");
    add_value(*suite, "--algorithm NAME", words->algorithm,
              "auto (default), winograd, self-inverse, chaining, classical");
    add_value(*suite, "--levels N", words->levels, "of gf2, exactly this many (default: the predicted best)");
    add_value(*suite, "--serial-levels N", words->serial_levels, "this many of them one after another");
    add_value(*suite, "--leaf NAME", words->leaf, "auto (default), wgmma, mma or words");
    add_value(*suite, "--device D", words->device, "cuda (default) or cuda:N");
    add_value(*suite, "--rounds R", words->rounds, "samples of each (default: by the time of the product)");
    add_value(*suite, "--density D", words->density, "share of ones (default: 0.5)");
    CLI::Option* const from_host = &add_value(*suite, "--from-host N,...", words->from_host,
                                              "also from and to host memory; of these sizes, or of all");
    from_host->expected(0, 1);
    suite->add_flag("!--no-tables", p3->machine,
                    "without the tables 4 to 7 of Karppa and Kaski: bandwidths, transposes, sums");
    add_result_options(*suite, p3->results);
    suite->footer("Example: heptad bench p3 --types gf2 --sizes 16384,65536 --json p3.json");
    return {suite, [words, p3, from_host] {
                for (const std::string& name : chosen("--types", words->types, "gf2,bool")) {
                    p3->types.push_back(type_from_name(name));
                }
                const std::string all = "1024,2048,4096,8192,16384,32768,65536,131072,262144,524288";
                p3->sizes = sides_of("--sizes", words->sizes.empty() ? all : words->sizes);
                if (from_host->count() > 0) {
                    p3->from_host_sizes =
                        words->from_host.empty() ? p3->sizes : sides_of("--from-host", words->from_host);
                }
                set_forced(*words, *p3);
                if (!words->serial_levels.empty()) {
                    p3->serial_levels =
                        static_cast<int>(parse_integer("--serial-levels", words->serial_levels, 0, kMostLevels));
                }
                if (!words->density.empty()) {
                    p3->density = bench_density(words->density);
                }
                if (!words->leaf.empty()) {
                    p3->leaf = words->leaf;
                }
                p3->device = bench_device(words->device);
                return [p3] { run(*p3); };
            }};
}

const RegisterCommand registered_bench_p3({.parent = "bench", .order = 7, .add = add_bench_p3});

}  // namespace
}  // namespace heptad::cli
