// heptad bench model: products with sums inside the kernel on an NVIDIA device, each order of launches and each number
// of levels, and levels in passes beside them, all interleaved with cuBLAS in one run; the time that the model predicts
// and the time measured (P2's figures 8 and 10). A variant gets a workspace of exactly what its plan tells, so the
// memory in use is that and the three matrices.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "bench/suites/bench_device_product.hpp"
#include "bench/suites/bench_machine.hpp"
#include "bench/suites/bench_words.hpp"
#include "bench/suites/device_contest.hpp"
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
#include "papers/p2/bench_model_cases.hpp"
#include "papers/p2/bench_model_summary.hpp"
#include "plan/search/planner.hpp"
#include "product/device/device_product.hpp"
#include "product/request/request.hpp"

namespace heptad::cli {
namespace {

struct BenchModelArguments {
    ResultFiles results;
    std::vector<Type> types;
    std::vector<ProblemSize> shapes;  // none: the suite's
    bool all_tiles = false;
    int rounds = 0;  // 0: five
    std::string device = "cuda";
    std::string command;  // as typed, for the result file
};

/// One type and shape.
class ShapeRun {
public:
    ShapeRun(Type type, const ProblemSize& size, const BenchModelArguments& bench, const Machine& machine,
             const RandomBlock& random, const cuda::Stream& stream, cuda::CudaBackend& vendor)
        : bench_(bench),
          stream_(stream),
          vendor_(vendor),
          variants_(model_variants(size, type, machine, bench.all_tiles)),
          a_(random.matrix(size.m, size.k, 1)),
          b_(random.matrix(size.k, size.n, 2)),
          c_(type, size.m, size.n, stream),
          timer_(stream.device()) {
        Problem problem{size.m, size.k, size.n, type, 1, {}};
        problem.options.device = bench.device;
        problem.options.accuracy = Accuracy::fast;
        std::int64_t most_bytes = 0;
        for (const ModelVariant& variant : variants_) {
            plans_.push_back(plan_with_levels(problem, machine, variant.levels));
            most_bytes = std::max(most_bytes, plans_.back().workspace_bytes);
        }
        workspace_ = cuda::DeviceMemory(stream.device(), most_bytes, stream.handle());
    }

    std::vector<BenchRecord> run(const std::string& device_name, const std::function<void(int, int)>& progress) {
        const std::vector<Contestant> contestants = make_contestants();
        warm_up_device(contestants);
        const DeviceError error(a_.view, b_.view, vendor_, stream_);
        std::vector<double> errors(contestants.size());
        ContestRules rules;
        rules.rounds = bench_.rounds > 0 ? bench_.rounds : 5;
        rules.sample_s = rules.repeat_below_s = 0.005;  // in rows like those by which the model's figures are measured
        rules.pause_s = 0;
        ContestHooks hooks;
        hooks.poison = [&] { cuda::fill_bytes(c_.view.data, kDevicePoison, c_.size_bytes, stream_.handle()); };
        hooks.progress = [&](int round, int rounds) {
            stop_if_interrupted();
            progress(round, rounds);
        };
        hooks.after_last_sample = [&](std::size_t i) { errors[i] = error.of(c_.view); };
        const std::vector<Timing> timings = run_contest(contestants, rules, hooks);
        std::vector<BenchRecord> records;
        for (std::size_t i = 0; i < plans_.size(); ++i) {
            BenchRecord record;
            record.suite = "model";
            record.type = plans_[i].type;
            record.size = {plans_[i].m, plans_[i].k, plans_[i].n};
            record.device = device_name;
            set_times(record, timings[0], timings[i]);
            record.vendor_error = errors[0];
            record.error = errors[i];
            record.error_bound = plans_[i].error_bound;
            record.workspace_bytes = plans_[i].workspace_bytes;
            record.predicted_s = plans_[i].predicted_s;
            record.levels = static_cast<int>(plans_[i].levels.size());
            record.accuracy = accuracy_name(Accuracy::fast);
            record.plan = to_string(plans_[i]);
            record.variant = variants_[i].name;
            record.libraries_s.emplace_back(record.vendor, record.vendor_s);
            require_right(record);
            records.push_back(std::move(record));
        }
        return records;
    }

private:
    /// The first plan is the classical product: cuBLAS as the vendor has it.
    std::vector<Contestant> make_contestants() {
        const Product product{1, a_.view, b_.view, 0, c_.view};
        std::vector<Contestant> contestants;
        contestants.push_back(device_contestant("cublas", timer_, stream_.handle(), [this, product] {
            vendor_.multiply({&product, 1}, "cublas");
        }));
        for (std::size_t i = 1; i < plans_.size(); ++i) {
            ProductContext context;
            context.stream = stream_.handle();
            context.hooks.cancel = &interrupt_token();
            context.workspace = workspace_.data();
            context.workspace_bytes = plans_[i].workspace_bytes;
            contestants.push_back(device_contestant(variants_[i].name, timer_, stream_.handle(), [this, i, context] {
                multiply_on_device(1, a_.view, b_.view, 0, c_.view, plans_[i], stream_.device(), context);
            }));
        }
        return contestants;
    }

    const BenchModelArguments& bench_;
    const cuda::Stream& stream_;
    cuda::CudaBackend& vendor_;
    std::vector<ModelVariant> variants_;
    std::vector<ProductPlan> plans_;
    DeviceOperand a_, b_, c_;
    cuda::DeviceMemory workspace_;
    cuda::Timer timer_;
};

std::string head() {
    return fmt::format("{:>6} {:>7}  {:<4} {:>6} {:>6} {:>6} {:<26} {:>10} {:>10} {:>6} {:>11}\n", "ratio", "error x",
                       "type", "m", "k", "n", "variant", "measured", "predicted", "off", "workspace");
}

std::string row(const BenchRecord& record) {
    return fmt::format("{:>6.3f} {:>7}  {:<4} {:>6} {:>6} {:>6} {:<26} {:>10} {:>10} {:>5.0f}% {:>11}\n", record.ratio,
                       error_ratio_text(record), type_name(record.type), record.size.m, record.size.k, record.size.n,
                       record.variant, format_seconds(record.heptad_s), format_seconds(record.predicted_s),
                       100 * (record.predicted_s / record.heptad_s - 1), format_bytes(record.workspace_bytes));
}

double guessed_seconds(const ProblemSize& size) {
    constexpr double kVariants = 14, kRounds = 8;
    return kVariants * kRounds * (operation_count(size) / 5e13 + 5e-3);
}

void run(const BenchModelArguments& bench) {
    require_writable(bench.results);
    const int device = cuda::device_index(bench.device);
    cuda::require_device(device);
    const cuda::DeviceScope scope(device);
    const cuda::Stream stream(device);
    cuda::CudaBackend vendor(device, stream.handle());
    const Machine machine = load_device_machine(device);
    const std::string device_name = cuda::report().devices.at(static_cast<std::size_t>(device)).name;
    const std::vector<ProblemSize> shapes = bench.shapes.empty() ? model_shapes() : bench.shapes;
    double total_s = 0, done_s = 0;
    std::int64_t largest = 1;
    for (const ProblemSize& size : shapes) {
        total_s += static_cast<double>(bench.types.size()) * guessed_seconds(size);
        largest = std::max({largest, size.m, size.k, size.n});
    }
    ProgressMeter meter;
    meter.begin("bench model");
    print(device_line(device) +
          (machine.measured ? ""
                            : "predictions from built-in figures; `heptad tune --device cuda` measures this device\n") +
          head());
    std::vector<BenchRecord> records;
    for (const Type type : bench.types) {
        const RandomBlock random(type, largest, stream);
        for (const ProblemSize& size : shapes) {
            ShapeRun shape_run(type, size, bench, machine, random, stream, vendor);
            for (BenchRecord& record : shape_run.run(device_name, [&](int round, int rounds) {
                     meter.update((done_s + guessed_seconds(size) * round / rounds) / total_s,
                                  fmt::format("{} {}x{}x{}", type_name(type), size.m, size.k, size.n));
                 })) {
                meter.clear();
                print(row(record));
                records.push_back(std::move(record));
            }
            done_s += guessed_seconds(size);
            // After every shape: a run that is stopped leaves what it has.
            write_results(bench.results, bench.command, records, device);
        }
    }
    print(to_string(summarise_model(records)));
    print(results_line(bench.results));
}

Command add_bench_model(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand(
        "model", "sums inside the kernel on an NVIDIA device: predicted and measured, against cuBLAS");
    auto words = std::make_shared<BenchWords>();
    auto model = std::make_shared<BenchModelArguments>();
    model->command = typed;
    add_value(*suite, "--types T,...", words->types, "of f32 (default), f64");
    add_value(*suite, "--sizes N,...", words->sizes, "n or MxKxN (default: the suite's)");
    suite->add_flag("--tiles", model->all_tiles, "one level in blocks of every shape too");
    add_value(*suite, "--rounds R", words->rounds, "samples of each (default: 5)");
    add_value(*suite, "--device D", words->device, "cuda (default) or cuda:N");
    add_result_options(*suite, model->results);
    suite->footer("Example: heptad bench model --types f32,f64 --sizes 2048,8192,16384x2048x16384 --json result.json");
    return {suite, [words, model] {
                for (const std::string& name : split(words->types.empty() ? "f32" : words->types, ',')) {
                    model->types.push_back(type_from_name(parse_choice("--types", name, {"f32", "f64"})));
                }
                model->shapes = bench_sizes(words->sizes);
                model->rounds = bench_rounds(words->rounds);
                model->device = bench_device(words->device);
                return [model] { run(*model); };
            }};
}

const RegisterCommand registered_bench_model({.parent = "bench", .order = 8, .add = add_bench_model});

}  // namespace
}  // namespace heptad::cli
