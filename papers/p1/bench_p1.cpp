// heptad bench p1: what each of P1's steps brings on this device, what its dead ends cost, and how plans of the same
// algorithm do, all interleaved with cuBLAS in one run. Between runs A and B, which are overwritten, are put back;
// only the product is timed. Afterwards each is run again with every call timed, for its shares.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "bench/suites/bench_machine.hpp"
#include "bench/suites/bench_words.hpp"
#include "bench/suites/device_error.hpp"
#include "bench/suites/device_operand.hpp"
#include "bench/suites/result_files.hpp"
#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "io/device_machine.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "papers/p1/bench_p1_entries.hpp"
#include "papers/p1/bench_p1_table.hpp"
#include "product/request/request.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kLargestSide = std::int64_t{1} << 20;

struct BenchP1Arguments {
    ResultFiles results;
    std::vector<Type> types;
    std::vector<std::int64_t> sizes;
    std::vector<int> levels;
    std::string device = "cuda";
    std::string command;  // as typed, for the result file
};

constexpr int kRounds = 5;
constexpr double kLongSeconds = 0.02;    // a product in which making events does not show
constexpr unsigned char kPoison = 0xff;  // a NaN in every float type

/// Seconds that all entries of a size take, roughly; only for the progress display.
double guessed_seconds(std::int64_t n, std::size_t entries) {
    return static_cast<double>(entries) * (kRounds + 3) * (operation_count({n, n, n}) / 5e13 + 1e-3);
}

class SizeRun {
public:
    SizeRun(Type type, std::int64_t n, const RandomBlock& random, const cuda::Stream& stream,
            cuda::CudaBackend& backend, const std::vector<P1Entry>& entries)
        : type_(type),
          n_(n),
          stream_(stream),
          backend_(backend),
          entries_(entries),
          whole_a_(random.matrix(n, n, 1)),
          whole_b_(random.matrix(n, n, 2)),
          a_(type, n, n, stream),
          b_(type, n, n, stream),
          c_(type, n, n, stream),
          workspace_(stream.device(), most_workspace(entries), stream.handle()),
          timer_(stream.device()) {}

    std::vector<BenchRecord> run(const std::string& device_name, const std::function<void(int, int)>& progress) {
        std::vector<Contestant> contestants;
        const Product product{1, a_.view, b_.view, 0, c_.view};
        contestants.push_back(contestant("cublas", [&, product] { backend_.multiply({&product, 1}, "cublas"); }));
        for (const P1Entry& entry : entries_) {
            contestants.push_back(contestant(entry.variant, [&] { run_entry(entry, nullptr); }));
        }
        const DeviceError error(whole_a_.view, whole_b_.view, backend_, stream_);
        std::vector<double> errors(contestants.size());
        ContestRules rules;
        rules.rounds = kRounds;
        rules.sample_s = 0.002;
        rules.repeat_below_s = 0.001;
        rules.pause_s = 0;
        ContestHooks hooks;
        hooks.poison = [&] { cuda::fill_bytes(c_.view.data, kPoison, c_.size_bytes, stream_.handle()); };
        hooks.progress = [&](int round, int rounds) {
            stop_if_interrupted();
            progress(round, rounds);
        };
        hooks.after_last_sample = [&](std::size_t i) { errors[i] = error.of(c_.view); };
        const std::vector<Timing> timings = run_contest(contestants, rules, hooks);
        std::vector<BenchRecord> records;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const P1Entry& entry = entries_[i];
            BenchRecord record;
            record.suite = "p1";
            record.type = type_;
            record.size = {n_, n_, n_};
            record.device = device_name;
            set_times(record, timings[0], timings[i + 1]);
            record.vendor_error = errors[0];
            record.error = errors[i + 1];
            record.error_bound = entry.error_bound;
            record.workspace_bytes = entry.workspace_bytes;
            record.levels = entry.levels;
            record.accuracy = accuracy_name(Accuracy::fast);
            record.plan = entry.plan;
            record.variant = entry.variant;
            record.libraries_s.emplace_back(record.vendor, record.vendor_s);
            if (!(record.error <= record.error_bound)) {  // so that a NaN fails too
                fail(ErrorCode::verification,
                     "variant {} with {} levels, n = {} {}, has an error of {:.3g}, above its bound of {:.3g}",
                     entry.variant, entry.levels, n_, type_name(type_), record.error, record.error_bound);
            }
            record.shares = shares_of(entry);
            records.push_back(std::move(record));
        }
        return records;
    }

private:
    static std::int64_t most_workspace(const std::vector<P1Entry>& entries) {
        std::int64_t bytes = 0;
        for (const P1Entry& entry : entries) {
            bytes = std::max(bytes, entry.workspace_bytes);
        }
        return bytes;
    }

    void restore() const {
        cuda::copy_rows(whole_a_.view.data, a_.size_bytes, a_.view.data, a_.size_bytes, a_.size_bytes, 1,
                        stream_.handle());
        cuda::copy_rows(whole_b_.view.data, b_.size_bytes, b_.view.data, b_.size_bytes, b_.size_bytes, 1,
                        stream_.handle());
    }

    Contestant contestant(const std::string& name, std::function<void()> call) {
        Contestant result;
        result.name = name;
        result.run_timed = [this, call = std::move(call)](std::int64_t calls) {
            double seconds = 0;
            for (std::int64_t i = 0; i < calls; ++i) {
                restore();
                timer_.start(stream_.handle());
                call();
                timer_.stop(stream_.handle());
                seconds += timer_.seconds();
            }
            return seconds;
        };
        return result;
    }

    void run_entry(const P1Entry& entry, P1Times* times) const {
        entry.run({a_.view, b_.view, c_.view}, workspace_.data(), times);
    }

    /// Parts of the whole, by a run in which every call has events around it; "rest" is what lies between the calls.
    std::vector<std::pair<std::string, double>> shares_of(const P1Entry& entry) {
        P1Times times(stream_.device());
        double total_s = 0;
        for (int i = 0; i < 2 && total_s < kLongSeconds; ++i) {  // the first run makes the events
            times.restart();
            restore();
            timer_.start(stream_.handle());
            run_entry(entry, &times);
            timer_.stop(stream_.handle());
            total_s = timer_.seconds();
        }
        std::map<P1Part, double> seconds = times.seconds();
        double known_s = 0;
        for (const auto& [part, part_s] : seconds) {
            known_s += part_s;
        }
        const double whole_s = std::max(total_s, known_s);  // two streams overlap
        return {{"additions", seconds[P1Part::addition] / whole_s},
                {"products", seconds[P1Part::product] / whole_s},
                {"copies", seconds[P1Part::copy] / whole_s},
                {"basis_changes", seconds[P1Part::basis] / whole_s},
                {"rest", (whole_s - known_s) / whole_s}};
    }

    Type type_;
    std::int64_t n_;
    const cuda::Stream& stream_;
    cuda::CudaBackend& backend_;
    const std::vector<P1Entry>& entries_;
    DeviceOperand whole_a_, whole_b_, a_, b_, c_;
    cuda::DeviceMemory workspace_;
    cuda::Timer timer_;
};

void check_sizes(const BenchP1Arguments& bench) {
    const int most_levels = *std::max_element(bench.levels.begin(), bench.levels.end());
    for (const Type type : bench.types) {
        for (const std::int64_t n : bench.sizes) {
            if (n % p1_unit(type, most_levels) != 0) {
                fail(ErrorCode::usage, "{} levels of {} take sides in multiples of {}, not {}", most_levels,
                     type_name(type), p1_unit(type, most_levels), n);
            }
        }
    }
}

void run(const BenchP1Arguments& bench) {
    check_sizes(bench);
    require_writable(bench.results);
    const int device = cuda::device_index(bench.device);
    cuda::require_device(device);
    const cuda::DeviceScope scope(device);
    const cuda::Stream stream(device);
    cuda::CudaBackend backend(device, stream.handle());
    const Machine machine = load_device_machine(device);
    const std::string device_name = cuda::report().devices.at(static_cast<std::size_t>(device)).name;
    const std::int64_t largest = *std::max_element(bench.sizes.begin(), bench.sizes.end());
    double total_s = 0, done_s = 0;
    for (const std::int64_t n : bench.sizes) {
        total_s += static_cast<double>(bench.types.size()) * guessed_seconds(n, 11 * bench.levels.size() + 2);
    }
    ProgressMeter meter;
    meter.begin("bench p1");
    print(device_line(device) + p1_table_head());
    std::vector<BenchRecord> records;
    for (const Type type : bench.types) {
        const RandomBlock random(type, largest, stream);
        for (const std::int64_t n : bench.sizes) {
            const std::vector<P1Entry> entries = p1_entries(type, n, bench.levels, stream, backend, machine);
            const double guessed_s = guessed_seconds(n, entries.size() + 1);
            SizeRun size_run(type, n, random, stream, backend, entries);
            for (BenchRecord& record : size_run.run(device_name, [&](int round, int rounds) {
                     meter.update((done_s + guessed_s * round / rounds) / total_s,
                                  fmt::format("{} n = {}", type_name(type), n));
                 })) {
                meter.clear();
                print(p1_table_row(record));
                records.push_back(std::move(record));
            }
            done_s += guessed_s;
            // After every size: a run that is stopped leaves what it has.
            write_results(bench.results, bench.command, records, device);
        }
    }
    print(results_line(bench.results));
}

Command add_bench_p1(CLI::App& bench, const std::string& typed) {
    CLI::App* suite =
        bench.add_subcommand("p1", "the steps of Baraw and Bennur on an NVIDIA device, against cuBLAS (docs/p1.md)");
    auto words = std::make_shared<BenchWords>();
    auto p1 = std::make_shared<BenchP1Arguments>();
    p1->command = typed;
    add_value(*suite, "--types T,...", words->types, "of f32 (default), f64");
    add_value(*suite, "--sizes N,...", words->sizes, "sides (default: 4096,8192,16384)");
    add_value(*suite, "--levels L,...", words->levels, "1 to 4 of them (default: 1,2,3)");
    add_value(*suite, "--device D", words->device, "cuda (default) or cuda:N");
    add_result_options(*suite, p1->results);
    suite->footer("Example: heptad bench p1 --sizes 8192 --levels 2,3 --json result.json");
    return {suite, [words, p1] {
                for (const std::string& name : split(words->types.empty() ? "f32" : words->types, ',')) {
                    p1->types.push_back(type_from_name(parse_choice("--types", name, {"f32", "f64"})));
                }
                for (const std::string& word : split(words->sizes.empty() ? "4096,8192,16384" : words->sizes, ',')) {
                    p1->sizes.push_back(parse_integer("--sizes", word, 1, kLargestSide));
                }
                for (const std::string& word : split(words->levels.empty() ? "1,2,3" : words->levels, ',')) {
                    p1->levels.push_back(static_cast<int>(parse_integer("--levels", word, 1, 4)));
                }
                p1->device = bench_device(words->device);
                return [p1] { run(*p1); };
            }};
}

const RegisterCommand registered_bench_p1({.parent = "bench", .order = 6, .add = add_bench_p1});

}  // namespace
}  // namespace heptad::cli
