// heptad bench files: a product of files (bench/suites/bench_files.hpp), or without file names P4's Set 1, two matrices
// of 2^15 x 2^15 f32 multiplied from file to file in a memory that holds neither. Once with overlapping stages and,
// unless in a hurry, once without (the paper's baseline); and in memory, or on the device, where there is enough of it.
// The wall time is compared with the stage that binds.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.hpp"
#include "base/free_memory.hpp"
#include "base/timing.hpp"
#include "bench/suites/bench_files.hpp"
#include "bench/suites/bench_machine.hpp"
#include "bench/suites/bench_words.hpp"
#include "bench/suites/in_core_times.hpp"
#include "bench/suites/result_files.hpp"
#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/plan_text.hpp"
#include "cli/progress.hpp"
#include "cli/text.hpp"
#include "io/generate.hpp"
#include "io/npy.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/device_product.hpp"
#include "product/device/over_devices.hpp"
#include "product/request/file_stage.hpp"
#include "product/request/memory_limits.hpp"
#include "product/request/routes.hpp"

namespace heptad::cli {
namespace {

/// Without files; with them it is the suite's own product.
struct P4SetArguments : BenchFilesArguments {
    std::int64_t size = 32768;
    std::int64_t memory_bytes = 0;
    std::string folder, device = "auto";
    HostOptions host;  // its levels
};

/// The matrices of the set, gone when the scope is left.
class SetFiles {
public:
    SetFiles(const std::string& folder, std::int64_t n, ProgressMeter& meter, int threads)
        : a(folder + "/heptad-p4-A.npy"), b(folder + "/heptad-p4-B.npy"), c(folder + "/heptad-p4-C.npy") {
        check_writable(a);
        std::uint64_t seed = 1;
        for (const std::string& path : {a, b}) {  // P4: uniform in [0, 1]
            const Matrix matrix =
                generate("positive", n, n, Type::f32, seed++, {}, file_hooks(meter, "generate", threads));
            write_npy(path, matrix, file_hooks(meter, "write inputs", threads));
        }
    }
    ~SetFiles() {
        for (const std::string& path : {a, b, c}) {
            std::remove(path.c_str());
        }
    }
    SetFiles(const SetFiles&) = delete;
    SetFiles& operator=(const SetFiles&) = delete;

    const std::string a, b, c;
};

FileProductReport timed_run(const P4SetArguments& bench, const SetFiles& files, bool overlap, ProgressMeter& meter,
                            const Request& product) {
    FileProductRequest request;
    request.a = {files.a};
    request.b = {files.b};
    request.output = files.c;
    request.memory_bytes = bench.memory_bytes;
    request.overlap = overlap;
    request.outer = outer_levels(product, Type::f32);
    StageTrace trace(false);
    FileHooks hooks;
    hooks.threads = bench.threads;
    hooks.cancel = interrupt_token();
    meter.begin(overlap ? "overlapped" : "one stage after another");
    hooks.progress = [&](const Progress& progress) { meter.update(progress.fraction, stage_rates(trace, Type::f32)); };
    return multiply_files(request, decide_stage(product, file_problem(request)).stage, hooks, trace);
}

/// Seconds of the same product in memory, or of one as large on the device; 0 where it does not fit.
double in_core_seconds(const P4SetArguments& bench, const SetFiles& files, std::int64_t n, ProgressMeter& meter,
                       const Request& product) {
    const std::int64_t operands = 3 * n * n * 4;
    const std::int64_t free = memory_limit_bytes({});
    if (is_device_product(product.options.device)) {
        if (goes_beyond_device(operands, product.options)) {
            return 0;
        }
        meter.begin("on the device");
        ContestRules once;
        once.rounds = 1;
        return time_in_core(Type::f32, {n, n, n}, product.options, once, [](int, int) { stop_if_interrupted(); })
            .timing.median_s;
    }
    if (operands > free / 10 * 9) {
        return 0;
    }
    const Matrix a = read_npy(files.a, {}, file_hooks(meter, "read A", bench.threads));
    const Matrix b = read_npy(files.b, {}, file_hooks(meter, "read B", bench.threads));
    Matrix c(Type::f32, n, n);
    Options options = product.options;
    options.workspace_limit_bytes = free / 10 * 9 - operands;
    meter.begin("in memory");
    const Context context = product_context(meter, bench.threads);
    const auto start = Clock::now();
    multiply(1, a, b, 0, c.view(), options, context);
    return seconds_since(start);
}

std::optional<int> cuda_device_of(const P4SetArguments& bench) {
    return is_device_product(bench.device) ? std::optional(cuda::device_index(bench.device)) : std::nullopt;
}

void run_p4_set(const P4SetArguments& bench) {
    const std::int64_t n = bench.size;
    ProgressMeter meter;
    Request product;
    product.options.accuracy = bench.accuracy;
    product.options.device = bench.device;
    product.options.host = bench.host;
    product.threads = bench.threads;
    product.memory_bytes = bench.memory_bytes;
    require_writable(bench.results);
    const SetFiles files(bench.folder, n, meter, bench.threads);
    const bool peak_is_of_product = forget_peak_resident();  // whole matrices were in memory to be generated
    const FileProductReport overlapped = timed_run(bench, files, true, meter, product);
    const ProblemSize size{n, n, n};
    nlohmann::ordered_json record = to_json(overlapped, size);
    const double in_turn_s = bench.quick ? 0 : timed_run(bench, files, false, meter, product).wall_s;
    const double in_core_s = in_core_seconds(bench, files, n, meter, product);
    meter.clear();

    const double disk_s = overlapped.read.busy_s + overlapped.write.busy_s;
    const double product_s = in_core_s > 0 ? in_core_s : overlapped.multiply.busy_s;
    const double bound_s = std::max(product_s, disk_s);
    const std::int64_t paper_bytes = 2 * std::max<std::int64_t>(n / 8192, 1) * n * n * 4 + n * n * 4;
    record["suite"] = "files";
    record["variant"] = "p4-set-1";
    record["device"] = bench.device;
    const auto unless = [](bool is_missing, const auto& value) {
        return is_missing ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(value);
    };
    const bool alone = !(in_turn_s > 0);
    record["vendor"] = unless(alone, "one stage after another");
    record["vendor_s"] = unless(alone, in_turn_s);
    record["heptad_s"] = overlapped.wall_s;
    record["ratio"] = unless(alone, in_turn_s / overlapped.wall_s);
    record["in_core_s"] = unless(!(in_core_s > 0), in_core_s);
    record["bound_s"] = bound_s;
    record["wall_over_bound"] = overlapped.wall_s / bound_s;
    record["paper_bytes"] = paper_bytes;
    record["peak_counts_generated_inputs"] = !peak_is_of_product;
    record["host_levels"] = std::max(bench.host.levels, 0);
    record["error"] = nullptr;
    record["vendor_error"] = nullptr;
    record["workspace_bytes"] = overlapped.plan.workspace_bytes;
    if (bench.results.any()) {
        write_results(bench.results,
                      {{"machine", machine_facts(bench.command, cuda_device_of(bench))}, {"results", {record}}});
    }
    std::string text = machine_line();
    text += fmt::format("{} x {} x {} f32 in {}: {}\n", n, n, n, format_bytes(bench.memory_bytes),
                        to_string(overlapped.plan));
    if (overlapped.layers) {
        const OuterLevels& outer = overlapped.layers->outer;
        text += fmt::format("outer levels: {} {} of {}x{}x{}, {} products\n", outer.algorithm, outer.levels, n, n, n,
                            overlapped.layers->products());
    }
    const auto row = [&](const char* what, const std::string& value) {
        text += fmt::format("{:<26} {}\n", what, value);
    };
    row("overlapped", format_seconds(overlapped.wall_s));
    row("one stage after another",
        in_turn_s > 0 ? fmt::format("{} ({:.2f} times)", format_seconds(in_turn_s), in_turn_s / overlapped.wall_s)
                      : "not asked for");
    row(is_device_product(bench.device) ? "on the device" : "in memory",
        in_core_s > 0 ? format_seconds(in_core_s) : "does not fit");
    row("busy: DR, MM, DW",
        fmt::format("{}, {}, {}", format_seconds(overlapped.read.busy_s), format_seconds(overlapped.multiply.busy_s),
                    format_seconds(overlapped.write.busy_s)));
    row("overlapped / bound", fmt::format("{:.3f} (the larger of product {} and disk {})", overlapped.wall_s / bound_s,
                                          format_seconds(product_s), format_seconds(disk_s)));
    row("moved", fmt::format("{}; blocks of 8192 as in the paper move {}", format_bytes(overlapped.moved_bytes()),
                             format_bytes(paper_bytes)));
    row("peak of memory", fmt::format("{}{}", format_bytes(record["peak_resident_bytes"]),
                                      peak_is_of_product ? "" : ", with the generated inputs"));
    print(text);
}

Command add_bench_files(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand(
        "files", "one product of files by Heptad and by the vendor libraries, or from file to file");
    auto words = std::make_shared<BenchWords>();
    auto files = std::make_shared<P4SetArguments>();
    files->command = typed;
    struct SetWords {
        std::string size, memory, folder, device;
        HostWords host;
    };
    auto set = std::make_shared<SetWords>();
    add_value(*suite, "A", files->a, "left matrix, .npy of f32, f64 or i32; none: Set 1 of Ryu and Kim");
    add_value(*suite, "B", files->b, "right matrix, .npy");
    add_value(*suite, "-o,--output C", files->output, "result, .npy");
    add_value(*suite, "--size N", set->size, "Set 1 of Ryu and Kim: rows and columns (default 32768)");
    add_value(*suite, "--memory SIZE", set->memory, "Set 1 of Ryu and Kim: memory of the product (default 2G)");
    add_value(*suite, "--folder DIR", set->folder, "Set 1 of Ryu and Kim: where the files go (default: here)");
    add_value(*suite, "--device D", set->device, "Set 1 of Ryu and Kim: auto, cpu, cuda or cuda:N");
    add_value(*suite, "--host-levels N", set->host.levels, "Set 1 of Ryu and Kim: outer levels, as in mul");
    add_value(*suite, "--host-algorithm NAME", set->host.algorithm, "Set 1 of Ryu and Kim: algorithm of those");
    add_bench_options(*suite, *words, files->quick, files->results);
    add_threads_option(*suite, *words);
    suite->footer(
        "Example: heptad bench files A.npy B.npy -o C.npy\n"
        "Example: heptad bench files --size 16384 --memory 1G --folder /scratch --json result.json");
    return {suite, [words, files, set]() -> Action {
                const bool named = !files->a.empty() || !files->b.empty() || !files->output.empty();
                const bool sized = !set->size.empty() || !set->memory.empty() || !set->folder.empty() ||
                                   !set->device.empty() || set->host.given();
                if (named && (files->a.empty() || files->b.empty() || files->output.empty())) {
                    fail(ErrorCode::usage, "heptad bench files takes A, B and -o C, or none of them");
                }
                if (named && sized) {
                    fail(ErrorCode::usage,
                         "--size, --memory, --folder, --device, --host-levels and --host-algorithm belong to "
                         "Set 1, which takes no files");
                }
                if (!set->size.empty()) {
                    files->size = parse_integer("--size", set->size, 1, 1 << 20);
                }
                files->memory_bytes = parse_bytes("--memory", set->memory.empty() ? "2G" : set->memory);
                files->folder = set->folder.empty() ? "." : set->folder;
                if (!set->device.empty()) {
                    files->device = cuda::is_device_name(set->device)
                                        ? set->device
                                        : parse_choice("--device", set->device, {"auto", "cpu", "cuda", "cuda:N"});
                }
                files->host = host_options(set->host, files->device, true);
                files->accuracy = bench_accuracy(words->accuracy);
                files->threads = thread_count(words->threads);
                if (named) {
                    return [files] { bench_files(*files); };
                }
                return [files] { run_p4_set(*files); };
            }};
}

const RegisterCommand registered_bench_files({.parent = "bench", .order = 9, .add = add_bench_files});

}  // namespace
}  // namespace heptad::cli
