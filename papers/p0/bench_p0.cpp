// heptad bench p0: the implementations of P0 (p0_plan.hpp) on an NVIDIA device, level by level. The time of each,
// interleaved with cuBLAS (i32, which cuBLAS lacks: with the classical product by the same leaf), beside what the paper
// counts for it; and for f32 the error by level on several kinds of matrices.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "bench/suites/bench_device_product.hpp"
#include "bench/suites/bench_machine.hpp"
#include "bench/suites/bench_words.hpp"
#include "bench/suites/device_contest.hpp"
#include "bench/suites/device_error.hpp"
#include "bench/suites/device_operand.hpp"
#include "bench/suites/device_reference.hpp"
#include "bench/suites/result_files.hpp"
#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "io/device_machine.hpp"
#include "io/generate.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "papers/p0/bench_p0_record.hpp"
#include "papers/p0/c1060.hpp"
#include "product/device/device_product.hpp"
#include "product/request/request.hpp"

namespace heptad::cli {
namespace {

struct BenchP0Arguments {
    ResultFiles results;
    std::vector<Type> types;
    std::vector<std::int64_t> sizes;
    std::vector<std::string> algorithms;
    std::vector<int> levels;          // not looked at with thresholds
    std::int64_t tau1 = 0, tau2 = 0;  // 0: by the levels
    std::vector<std::string> data;    // kinds of generated matrices
    std::string device = "cuda";
    std::string leaf = "auto";
    int rounds = 0;       // 0: by the size of the product
    std::string command;  // as typed, for the result file
};

constexpr std::int64_t kLargeSize = 8192;  // fewer rounds from here

/// One way to make the product.
struct Variant {
    std::string algorithm;
    P0Thresholds thresholds;
    P0Counts counts{};
};

/// All products of one type and size.
struct Group {
    Type type = Type::f32;
    std::int64_t n = 0;
    std::vector<Variant> variants;
    P0Counts classical_counts{};
    std::vector<std::string> data;
    ContestRules rules;
    double guessed_s = 0;
    std::string name() const { return fmt::format("{} {}", type_name(type), n); }
};

std::vector<Variant> variants_of(std::int64_t n, const BenchP0Arguments& bench) {
    std::vector<Variant> variants;
    for (const std::string& algorithm : bench.algorithms) {
        std::vector<P0Thresholds> choices;
        if (bench.tau1 > 0) {
            choices.push_back({bench.tau1, bench.tau2});
        } else {
            for (const int levels : bench.levels) {
                choices.push_back(thresholds_for_levels(n, levels));
            }
        }
        for (const P0Thresholds& thresholds : choices) {
            variants.push_back({algorithm, thresholds, p0_counts(n, algorithm, thresholds)});
        }
    }
    return variants;
}

/// Seconds, roughly; only for the progress display.
double guessed_seconds(const Group& group) {
    const double products = static_cast<double>(group.variants.size()) + 1;
    const double entries = static_cast<double>(group.n) * static_cast<double>(group.n);
    const double product_s = operation_count({group.n, group.n, group.n}) / (group.type == Type::i32 ? 1.2e14 : 6e13);
    const double timing_s = products * (group.rules.rounds + 3) * (product_s + group.rules.sample_s);
    const double errors_s = group.type == Type::i32 ? 0 : products * (product_s + 1e-9 * entries);
    return timing_s + static_cast<double>(group.data.size()) * (errors_s + 8e-9 * entries);
}

void require_leaf(const std::string& leaf, Type type) {
    const std::vector<std::string> leaves = cuda::device_leaves(type);
    if (leaf != "auto" && std::find(leaves.begin(), leaves.end(), leaf) == leaves.end()) {
        fail(ErrorCode::usage, "there is no leaf '{}' for {} on cuda; choose one of {}", leaf, type_name(type),
             fmt::join(leaves, ", "));
    }
}

std::vector<Group> groups_of(const BenchP0Arguments& bench) {
    std::vector<Group> groups;
    for (const Type type : bench.types) {
        require_leaf(bench.leaf, type);
        for (const std::int64_t n : bench.sizes) {
            Group group;
            group.type = type;
            group.n = n;
            group.variants = variants_of(n, bench);
            group.classical_counts = p0_counts(n, "strassen", {n, n});
            // An integer product is right or wrong: the values do not matter.
            group.data = type == Type::i32 ? std::vector<std::string>{"uniform"} : bench.data;
            group.rules.rounds = bench.rounds > 0 ? bench.rounds : n >= kLargeSize ? 5 : 7;
            group.rules.sample_s = 0.005;
            group.rules.repeat_below_s = 0.001;
            group.rules.pause_s = 0;  // no threads of a library to wait for
            group.guessed_s = guessed_seconds(group);
            groups.push_back(group);
        }
    }
    return groups;
}

/// A generated matrix in both places.
struct Operand {
    Operand(const std::string& kind, std::int64_t n, Type type, std::uint64_t seed, const cuda::Stream& stream)
        : host(generate(kind, n, n, type, seed, {}, FileHooks{0, {}, interrupt_token()})), device(type, n, n, stream) {
        cuda::copy_rows(host.data(), host.size_bytes(), device.view.data, host.size_bytes(), host.size_bytes(), 1,
                        stream.handle());
        stream.synchronize();
    }
    Matrix host;
    DeviceOperand device;
};

class P0Run {
public:
    P0Run(const BenchP0Arguments& bench, int device)
        : info_(cuda::report().devices.at(static_cast<std::size_t>(device))),
          machine_(load_device_machine(device)),
          scope_(device),
          stream_(device),
          vendor_(device, stream_.handle()),
          timer_(device) {
        options_.device = bench.device;
        options_.leaf = bench.leaf;
        context_.stream = stream_.handle();
        context_.hooks.cancel = &interrupt_token();
    }

    std::vector<P0Record> run(const Group& group, const std::function<void(double part)>& progress) {
        plans_.clear();
        plans_.push_back(p0_plan(group.n, group.type, "strassen", {group.n, group.n}, options_, machine_));
        for (const Variant& variant : group.variants) {
            plans_.push_back(p0_plan(group.n, group.type, variant.algorithm, variant.thresholds, options_, machine_));
        }
        const DeviceOperand c(group.type, group.n, group.n, stream_);
        std::vector<P0Record> records;
        for (std::size_t kind = 0; kind < group.data.size(); ++kind) {
            const Operand a(group.data[kind], group.n, group.type, 1, stream_);
            const Operand b(group.data[kind], group.n, group.type, 2, stream_);
            const std::vector<Contestant> contestants = contestants_for(a.device.view, b.device.view, c.view);
            if (kind == 0) {
                records = time_all(group, contestants, a, b, c, [&](double part) { progress(0.6 * part); });
            }
            if (group.type == Type::f32) {
                add_errors(group.data[kind], contestants, a, b, c, records);
            }
            progress(0.6 + 0.4 * static_cast<double>(kind + 1) / static_cast<double>(group.data.size()));
        }
        for (const P0Record& record : records) {
            require_right(record.product);
        }
        return records;
    }

private:
    /// The vendor first, then the variants in their order.
    std::vector<Contestant> contestants_for(const View& a, const View& b, const View& c) {
        std::vector<Contestant> contestants;
        for (std::size_t i = 0; i < plans_.size(); ++i) {
            const ProductPlan& plan = plans_[i];
            if (i == 0 && plan.type != Type::i32) {
                contestants.push_back(device_contestant("cublas", timer_, stream_.handle(), [this, a, b, c] {
                    const Product product{1, a, b, 0, c};
                    vendor_.multiply({&product, 1}, "cublas");
                }));
                continue;
            }
            contestants.push_back(device_contestant(
                i == 0 ? plan.leaf : "heptad", timer_, stream_.handle(),
                [this, &plan, a, b, c] { multiply_on_device(1, a, b, 0, c, plan, stream_.device(), context_); }));
        }
        return contestants;
    }

    std::vector<P0Record> time_all(const Group& group, const std::vector<Contestant>& contestants, const Operand& a,
                                   const Operand& b, const DeviceOperand& c,
                                   const std::function<void(double part)>& progress) {
        warm_up_device({contestants.front()});
        const DeviceError sampled(a.device.view, b.device.view, vendor_, stream_);
        std::vector<double> errors(contestants.size());
        ContestHooks hooks;
        hooks.poison = [&] { cuda::fill_bytes(c.view.data, kDevicePoison, c.size_bytes, stream_.handle()); };
        hooks.progress = [&](int round, int rounds) {
            stop_if_interrupted();
            progress(static_cast<double>(round) / rounds);
        };
        hooks.after_last_sample = [&](std::size_t i) { errors[i] = sampled.of(c.view); };
        const std::vector<Timing> timings = run_contest(contestants, group.rules, hooks);

        std::vector<P0Record> records;
        for (std::size_t i = 0; i < group.variants.size(); ++i) {
            const ProductPlan& plan = plans_[i + 1];
            P0Record record;
            record.algorithm = group.variants[i].algorithm;
            record.thresholds = group.variants[i].thresholds;
            record.counts = group.variants[i].counts;
            record.classical_counts = group.classical_counts;
            BenchRecord& product = record.product;
            product.suite = "p0";
            product.type = group.type;
            product.size = {group.n, group.n, group.n};
            product.device = info_.name;
            set_times(product, timings[0], timings[i + 1]);
            product.vendor_error = errors[0];
            product.error = errors[i + 1];
            product.error_bound = plan.error_bound;
            product.workspace_bytes = plan.workspace_bytes;
            product.predicted_s = plan.predicted_s;
            product.levels = static_cast<int>(plan.levels.size());
            product.accuracy = "fast";
            product.plan = to_string(plan);
            product.libraries_s.emplace_back(product.vendor, product.vendor_s);
            records.push_back(std::move(record));
        }
        return records;
    }

    /// The errors over all entries. On the data that was timed they take the place of the sampled ones.
    void add_errors(const std::string& data, const std::vector<Contestant>& contestants, const Operand& a,
                    const Operand& b, const DeviceOperand& c, std::vector<P0Record>& records) {
        const DeviceReference reference(a.host, b.host, vendor_, stream_);
        const auto error_of = [&](const Contestant& contestant) {
            cuda::fill_bytes(c.view.data, kDevicePoison, c.size_bytes, stream_.handle());
            contestant.run_timed(1);
            return reference.error_of(c.view);
        };
        const Difference vendor = error_of(contestants[0]);
        for (std::size_t i = 0; i < records.size(); ++i) {
            const Difference here = error_of(contestants[i + 1]);
            P0Record& record = records[i];
            if (!(here.max_abs / reference.scale() <= record.product.error_bound)) {  // a NaN fails too
                fail(ErrorCode::verification,
                     "the f32 product of size {} on {} data has an error of {:.3g}, above its bound of {:.3g}; the "
                     "plan was: {}",
                     record.product.size.n, data, here.max_abs / reference.scale(), record.product.error_bound,
                     record.product.plan);
            }
            if (record.errors.empty()) {
                record.product.error = here.max_abs / reference.scale();
                record.product.vendor_error = vendor.max_abs / reference.scale();
            }
            record.errors.push_back({data, here.max_abs, here.mean_abs(), vendor.max_abs, vendor.mean_abs()});
        }
    }

    cuda::DeviceInfo info_;
    Machine machine_;
    cuda::DeviceScope scope_;
    cuda::Stream stream_;
    cuda::CudaBackend vendor_;
    cuda::Timer timer_;
    Options options_;
    ProductContext context_;
    std::vector<ProductPlan> plans_;  // the classical one first
};

/// Of the records of one type and size.
std::vector<P0Trend> trends_of(const std::vector<P0Record>& records, const std::vector<std::string>& algorithms) {
    std::vector<P0Trend> trends;
    for (const std::string& algorithm : algorithms) {
        std::vector<P0Record> own;
        std::copy_if(records.begin(), records.end(), std::back_inserter(own),
                     [&](const P0Record& record) { return record.algorithm == algorithm; });
        if (const std::optional<P0Trend> trend = p0_trend(own)) {
            trends.push_back(*trend);
        }
    }
    return trends;
}

void write(const BenchP0Arguments& bench, int device, const nlohmann::ordered_json& results,
           const nlohmann::ordered_json& trends) {
    write_results(bench.results,
                  {{"machine", machine_facts(bench.command, device)}, {"results", results}, {"trends", trends}});
}

void run(const BenchP0Arguments& bench) {
    const std::vector<Group> groups = groups_of(bench);  // refuses what the paper does not count
    require_writable(bench.results);
    const int device = cuda::device_index(bench.device);
    cuda::require_device(device);
    P0Run p0_run(bench, device);
    double total_s = 0, done_s = 0;
    for (const Group& group : groups) {
        total_s += group.guessed_s;
    }
    ProgressMeter meter;
    meter.begin("bench p0");
    print(device_line(device) +
          "time, arithmetics, transactions and volume are relative to the classical product; the last three are "
          "counted for the paper's machine\n" +
          p0_table_head());
    nlohmann::ordered_json results = nlohmann::ordered_json::array(), trends = nlohmann::ordered_json::array();
    for (const Group& group : groups) {
        const std::vector<P0Record> records = p0_run.run(
            group, [&](double part) { meter.update((done_s + part * group.guessed_s) / total_s, group.name()); });
        done_s += group.guessed_s;
        meter.clear();
        for (const P0Record& record : records) {
            print(p0_table_row(record));
            results.push_back(to_json(record));
        }
        for (const P0Trend& trend : trends_of(records, bench.algorithms)) {
            print(p0_trend_line(trend));
            trends.push_back(to_json(trend));
        }
        if (bench.results.any()) {  // after every group: a run that is stopped leaves what it has
            write(bench, device, results, trends);
        }
    }
    print(results_line(bench.results));
}

struct P0Words : BenchWords {
    std::string tau1, tau2, data;
};

BenchP0Arguments p0_arguments(const P0Words& words) {
    BenchP0Arguments p0;
    for (const std::string& name : chosen("--types", words.types, "f32,i32")) {
        p0.types.push_back(type_from_name(name));
    }
    for (const std::string& word : split(words.sizes.empty() ? "2048,4096,8192,16384" : words.sizes, ',')) {
        p0.sizes.push_back(parse_integer("--sizes", word, 1, kLargestSize));
    }
    p0.algorithms = chosen("--algorithms", words.algorithm, "strassen,winograd");
    if (words.tau1.empty() != words.tau2.empty() || !(words.tau1.empty() || words.levels.empty())) {
        fail(ErrorCode::usage, "bench p0 takes --levels N,... or both --tau1 N and --tau2 N");
    }
    if (!words.tau1.empty()) {
        p0.tau1 = parse_integer("--tau1", words.tau1, 1, kLargestSize);
        p0.tau2 = parse_integer("--tau2", words.tau2, 1, kLargestSize);
    }
    for (const std::string& word : split(words.levels.empty() ? "1,2,3,4" : words.levels, ',')) {
        p0.levels.push_back(static_cast<int>(parse_integer("--levels", word, 0, kMostLevels)));
    }
    p0.data = chosen("--data", words.data, "uniform,positive,kaporin");
    p0.device = bench_device(words.device);
    if (!words.leaf.empty()) {
        p0.leaf = words.leaf;
    }
    p0.rounds = bench_rounds(words.rounds);
    return p0;
}

Command add_bench_p0(CLI::App& bench, const std::string& typed) {
    CLI::App* suite =
        bench.add_subcommand("p0", "the implementations of Li, Ranka and Sahni on an NVIDIA device (docs/p0.md)");
    auto words = std::make_shared<P0Words>();
    auto results = std::make_shared<ResultFiles>();
    add_value(*suite, "--types T,...", words->types, "of f32, i32 (default: both)");
    add_value(*suite, "--sizes N,...", words->sizes, "powers of two (default 2048,4096,8192,16384)");
    add_value(*suite, "--algorithms NAME,...", words->algorithm, "of strassen, winograd (default: both)");
    add_value(*suite, "--levels L,...", words->levels, "default 1,2,3,4");
    add_value(*suite, "--tau1 N", words->tau1, "instead of levels: up to this size, the classical product");
    add_value(*suite, "--tau2 N", words->tau2, "and up to this size, one level");
    add_value(*suite, "--data KIND,...", words->data,
              "of uniform, positive, kaporin (default: all); times are of the first");
    add_value(*suite, "--leaf L", words->leaf, "of the products at the bottom (default: the fastest)");
    add_value(*suite, "--device D", words->device, "cuda (default) or cuda:N");
    add_value(*suite, "--rounds R", words->rounds, "samples of each (default: 7, 5 of large products)");
    add_result_options(*suite, *results);
    suite->footer("Example: heptad bench p0 --types f32 --sizes 8192 --levels 1,2,3 --json p0.json");
    return {suite, [words, results, typed] {
                BenchP0Arguments p0 = p0_arguments(*words);
                p0.results = *results;
                p0.command = typed;
                return [p0] { run(p0); };
            }};
}

const RegisterCommand registered_bench_p0({.parent = "bench", .order = 5, .add = add_bench_p0});

}  // namespace
}  // namespace heptad::cli
