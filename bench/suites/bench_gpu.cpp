// heptad bench gpu: products of matrices that lie on an NVIDIA device, over squares, odd sizes, families and thin
// shapes, against cuBLAS (i32 and i64, which cuBLAS lacks: against kernels of ours on the CUDA cores).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/matrix.hpp"
#include "base/size.hpp"
#include "base/types.hpp"
#include "bench/suites/bench_device_product.hpp"
#include "bench/suites/bench_gpu_suite.hpp"
#include "bench/suites/bench_gpu_table.hpp"
#include "bench/suites/bench_machine.hpp"
#include "bench/suites/bench_words.hpp"
#include "bench/suites/graded_data.hpp"
#include "bench/suites/result_files.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/request/request.hpp"

namespace heptad::cli {
namespace {

struct BenchGpuArguments {
    ResultFiles results;
    std::vector<Type> types;
    std::vector<ProblemSize> shapes;  // empty: the suite's own
    bool quick = false;
    Accuracy accuracy = Accuracy::balanced;
    std::string device = "cuda";
    std::string algorithm = "auto", leaf = "auto";
    int levels = -1;  // -1: as many as pay
    bool with_emulation = false;
    BenchData data = BenchData::uniform;
    int rounds = 0;       // 0: by the size of the product
    std::string command;  // as typed, for the result file
};

constexpr double kLargeGpuOperations = 1e12;                       // fewer rounds from here
constexpr std::int64_t kGpuReservedBytes = std::int64_t{1} << 30;  // for cuBLAS, its kernels and the random block

struct GpuLine {
    Type type = Type::f32;
    ProblemSize size;
    ContestRules rules;
    double guessed_s = 0;
};

ContestRules rules_for(const ProblemSize& size, const BenchGpuArguments& bench) {
    ContestRules rules;
    rules.rounds = bench.rounds > 0                                              ? bench.rounds
                   : bench.quick || operation_count(size) >= kLargeGpuOperations ? 5
                                                                                 : 7;
    rules.sample_s = 0.005;
    rules.repeat_below_s = 0.001;
    rules.pause_s = 0;  // no threads of a library to wait for
    return rules;
}

/// Seconds that a line takes, roughly; only for the progress display.
double guessed_gpu_seconds(Type type, const ProblemSize& size, const ContestRules& rules) {
    const double rate = type == Type::i64                        ? 8e12
                        : type == Type::i32 || is_complex(type)  ? 2e13
                        : type == Type::f32 || type == Type::f64 ? 5e13
                        : type == Type::tf32                     ? 3e14
                                                                 : 7e14;
    return 1 + (rules.rounds + 3) * 2 * (operation_count(size) / rate + rules.sample_s);
}

std::vector<GpuLine> lines_of(const BenchGpuArguments& bench) {
    std::vector<GpuLine> lines;
    for (const Type type : bench.types) {
        for (const ProblemSize& size : bench.shapes.empty() ? gpu_suite(type, bench.quick) : bench.shapes) {
            const ContestRules rules = rules_for(size, bench);
            lines.push_back({type, size, rules, guessed_gpu_seconds(type, size, rules)});
        }
    }
    return lines;
}

std::int64_t operand_bytes(const GpuLine& line) {
    return checked_add(checked_add(matrix_bytes(line.type, line.size.m, line.size.k),
                                   matrix_bytes(line.type, line.size.k, line.size.n)),
                       matrix_bytes(line.type, line.size.m, line.size.n));
}

std::int64_t largest_side(const std::vector<GpuLine>& lines) {
    std::int64_t largest = 1;
    for (const GpuLine& line : lines) {
        largest = std::max({largest, line.size.m, line.size.k, line.size.n});
    }
    return largest;
}

/// By way of the host.
void grade_on_device(BenchData data, const DeviceOperand& a, const DeviceOperand& b, const cuda::Stream& stream) {
    Matrix host_a(a.view.type, a.view.rows, a.view.cols), host_b(b.view.type, b.view.rows, b.view.cols);
    cuda::copy_rows(a.view.data, a.size_bytes, host_a.data(), a.size_bytes, a.size_bytes, 1, stream.handle());
    cuda::copy_rows(b.view.data, b.size_bytes, host_b.data(), b.size_bytes, b.size_bytes, 1, stream.handle());
    stream.synchronize();
    grade(data, host_a.view(), host_b.view());
    cuda::copy_rows(host_a.data(), a.size_bytes, a.view.data, a.size_bytes, a.size_bytes, 1, stream.handle());
    cuda::copy_rows(host_b.data(), b.size_bytes, b.view.data, b.size_bytes, b.size_bytes, 1, stream.handle());
    stream.synchronize();  // before the host's copies go
}

/// What the lines of a run share.
class DeviceRun {
public:
    DeviceRun(const BenchGpuArguments& bench, int device)
        : info_(cuda::report().devices.at(static_cast<std::size_t>(device))),
          scope_(device),
          stream_(device),
          vendor_(device, stream_.handle()) {
        settings_.device = bench.device;
        settings_.device_name = info_.name;
        settings_.accuracy = bench.accuracy;
        settings_.algorithm = bench.algorithm;
        settings_.leaf = bench.leaf;
        settings_.levels = bench.levels;
        settings_.with_emulation = bench.with_emulation;
        data_ = bench.data;
    }

    /// Memory for operands and workspace. Asked once: what products gave back stays in the pool and looks used.
    std::int64_t memory_bytes() const { return std::max<std::int64_t>(info_.free_bytes - kGpuReservedBytes, 0); }

    BenchRecord run(const GpuLine& line, std::int64_t side, const std::function<void(int, int)>& progress) {
        if (!random_ || random_->type() != line.type) {
            random_ = std::make_unique<RandomBlock>(line.type, side, stream_);
        }
        const auto left = [&] { return random_->matrix(line.size.m, line.size.k, 1); };
        const auto right = [&] { return random_->matrix(line.size.k, line.size.n, 2); };
        const DeviceOperand a = left(), b = right();
        const DeviceOperand c(line.type, line.size.m, line.size.n, stream_);
        std::int64_t bytes = operand_bytes(line);
        std::optional<DeviceOperand> uniform_a, uniform_b;
        if (data_ != BenchData::uniform) {
            uniform_a = left();
            uniform_b = right();
            bytes += a.size_bytes + b.size_bytes;
            grade_on_device(data_, a, b, stream_);
        }
        settings_.uniform_a = uniform_a ? uniform_a->view : ConstView{};
        settings_.uniform_b = uniform_b ? uniform_b->view : ConstView{};
        settings_.rules = line.rules;
        settings_.workspace_limit_bytes = std::max<std::int64_t>(memory_bytes() - bytes, 0);
        BenchRecord record = bench_device_product(a, b, c, vendor_, stream_, settings_, progress);
        record.variant = variant_name(data_);
        return record;
    }

private:
    cuda::DeviceInfo info_;
    cuda::DeviceScope scope_;
    cuda::Stream stream_;
    cuda::CudaBackend vendor_;
    std::unique_ptr<RandomBlock> random_;
    DeviceBenchSettings settings_;
    BenchData data_ = BenchData::uniform;
};

void run(const BenchGpuArguments& bench) {
    require_writable(bench.results);
    const int device = cuda::device_index(bench.device);
    cuda::require_device(device);
    DeviceRun device_run(bench, device);
    const std::vector<GpuLine> lines = lines_of(bench);
    double total_s = 0, done_s = 0;
    for (const GpuLine& line : lines) {
        total_s += line.guessed_s;
    }
    ProgressMeter meter;
    meter.begin("bench gpu");
    const bool integers = std::any_of(bench.types.begin(), bench.types.end(), is_integer);
    print(device_line(device) +
          (integers ? "integers are compared with a kernel of ours on the CUDA cores: cuBLAS has no such products\n"
                    : "") +
          gpu_table_head());
    std::vector<BenchRecord> records;
    for (const GpuLine& line : lines) {
        const std::string name =
            fmt::format("{} {}x{}x{}", type_name(line.type), line.size.m, line.size.k, line.size.n);
        if (bench.shapes.empty() && operand_bytes(line) > device_run.memory_bytes()) {
            meter.clear();
            print(fmt::format("     -  {} left out: it needs {} of device memory, and {} are free\n", name,
                              format_bytes(operand_bytes(line)), format_bytes(device_run.memory_bytes())));
            continue;
        }
        records.push_back(device_run.run(line, largest_side(lines), [&](int round, int rounds) {
            const double part = static_cast<double>(round) / rounds;
            meter.update((done_s + part * line.guessed_s) / total_s, name);
        }));
        done_s += line.guessed_s;
        meter.clear();
        print(gpu_table_row(records.back()));
        // After every line: a run that is stopped leaves what it has.
        write_results(bench.results, bench.command, records, device);
    }
    write_results(bench.results, bench.command, records, device);
    print(results_line(bench.results));
}

struct GpuWords : BenchWords {
    std::string shapes;
};

/// The sizes, then the shapes; nothing where neither was typed.
std::vector<ProblemSize> gpu_shapes(const GpuWords& words) {
    std::vector<ProblemSize> shapes = bench_sizes(words.sizes);
    if (!words.shapes.empty()) {
        for (const std::string& word : split(words.shapes, ',')) {
            shapes.push_back(bench_shape("--shapes", word));
        }
    }
    return shapes;
}

Command add_bench_gpu(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand("gpu", "matrices on an NVIDIA device, by Heptad and by cuBLAS");
    auto words = std::make_shared<GpuWords>();
    auto gpu = std::make_shared<BenchGpuArguments>();
    gpu->command = typed;
    add_value(*suite, "--types T,...", words->types,
              "of f32, f64, tf32, bf16, f16, i32 (default: those), c64, c128, i64");
    add_value(*suite, "--sizes N,...", words->sizes, "n or MxKxN (default: the suite's)");
    add_value(*suite, "--shapes MxKxN,...", words->shapes, "further sizes");
    add_value(*suite, "--device D", words->device, "cuda (default) or cuda:N");
    suite->add_flag("--emulation", gpu->with_emulation,
                    "f64 by cuBLAS's own emulation on the integer tensor cores, too");
    add_value(*suite, "--leaf NAME", words->leaf, "auto (default), cublas, heptad-int8 ...");
    add_data_option(*suite, *words);
    add_force_options(*suite, *words);
    add_bench_options(*suite, *words, gpu->quick, gpu->results);
    suite->footer("Example: heptad bench gpu --types f32,bf16 --sizes 4096,8192 --shapes 8192x1024x8192 --json r.json");
    return {suite, [words, gpu] {
                const std::string usual = "f32,f64,tf32,bf16,f16,i32", all = usual + ",c64,c128,i64";
                for (const std::string& name : split(words->types.empty() ? usual : words->types, ',')) {
                    gpu->types.push_back(type_from_name(parse_choice("--types", name, split(all, ','))));
                }
                gpu->shapes = gpu_shapes(*words);
                gpu->accuracy = bench_accuracy(words->accuracy);
                gpu->device = bench_device(words->device);
                gpu->data = bench_data(words->data, gpu->types);
                set_forced(*words, *gpu);
                gpu->leaf = words->leaf.empty() ? "auto" : words->leaf;
                return [gpu] { run(*gpu); };
            }};
}

const RegisterCommand registered_bench_gpu({.parent = "bench", .order = 2, .add = add_bench_gpu});

}  // namespace
}  // namespace heptad::cli
