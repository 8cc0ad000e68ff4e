// The option names of the suites of `heptad bench`.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.hpp"
#include "kernels/cuda/device/device.hpp"
#include "option_words.hpp"
#include "product/device/device_list.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kMostRounds = 1000;
constexpr std::int64_t kLargestPower = std::int64_t{1} << 20;
constexpr int kMostLevels = 20;
constexpr std::int64_t kLargestP1Side = std::int64_t{1} << 20;
constexpr std::int64_t kLargestP3Side = (std::int64_t{1} << 31) - 1;

struct BenchWords {
    std::string types, sizes, shapes, accuracy, threads, device, rounds, power, algorithm, levels, leaf;
    std::string tau1, tau2, data;  // of p0
    std::string serial_levels;     // of p3
    std::string density;           // of bits (several), p3 and devices
    std::string from_host;         // of p3
};

ProblemSize bench_shape(const std::string& option, const std::string& word) {
    const std::vector<std::int64_t> shape = parse_shape(option, word, 3);
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
        fail(ErrorCode::usage, "{} takes sizes of at least 1, not '{}'", option, word);
    }
    return {shape[0], shape[1], shape[2]};
}

std::vector<ProblemSize> bench_sizes(const std::string& sizes) {
    std::vector<ProblemSize> shapes;
    if (sizes.empty()) {
        return shapes;
    }
    for (const std::string& word : split(sizes, ',')) {
        if (word.find('x') == std::string::npos) {
            const std::int64_t n = parse_integer("--sizes", word, 1, kLargestSize);
            shapes.push_back({n, n, n});
        } else {
            shapes.push_back(bench_shape("--sizes", word));
        }
    }
    return shapes;
}

Accuracy bench_accuracy(const std::string& word) {
    return word.empty() ? Accuracy::fast : parse_accuracy("--accuracy", word);
}

std::vector<std::int64_t> bench_sides(const std::string& option, const std::string& words) {
    std::vector<std::int64_t> sides;
    for (const std::string& word : split(words, ',')) {
        sides.push_back(parse_integer(option, word, 1, kLargestP3Side));
    }
    return sides;
}

double bench_density(const std::string& word) {
    const double density = parse_real("--density", word);
    if (!(density > 0 && density < 1)) {
        fail(ErrorCode::usage, "--density takes a number between 0 and 1, not '{}'", word);
    }
    return density;
}

void add_result_options(CLI::App& suite, ResultFiles& results) {
    suite.add_option("--json", results.json, "write the result file")->type_name("F");
    suite.add_option("--html", results.html, "write a page with the results as tables and plots")->type_name("F");
}

void add_bench_options(CLI::App& suite, BenchWords& words, bool& quick, ResultFiles& results) {
    suite.add_flag("--quick", quick, "fewer repetitions and fewer sizes");
    suite.add_option("--accuracy", words.accuracy, "strict, balanced or fast (default)")->type_name("WORD");
    add_result_options(suite, results);
}

void add_threads_option(CLI::App& suite, BenchWords& words) {
    suite.add_option("--threads", words.threads, "threads of Heptad and of the libraries")->type_name("N");
}

/// What the planner and the suite decide unless told.
void add_force_options(CLI::App& suite, BenchWords& words) {
    suite.add_option("--algorithm", words.algorithm, "auto (default) or a name of the catalogue")->type_name("NAME");
    suite.add_option("--levels", words.levels, "exactly so many (default: as many as pay)")->type_name("N");
    suite.add_option("--rounds", words.rounds, "samples of each (default: by the size of the product)")->type_name("R");
}

template <class Arguments>
void set_forced(const BenchWords& words, Arguments& arguments) {
    if (!words.algorithm.empty()) {
        arguments.algorithm = words.algorithm;
    }
    if (!words.levels.empty()) {
        arguments.levels = static_cast<int>(parse_integer("--levels", words.levels, 0, kMostLevels));
    }
    if (!words.rounds.empty()) {
        arguments.rounds = static_cast<int>(parse_integer("--rounds", words.rounds, 1, kMostRounds));
    }
}

Registered add_bench_cpu(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand("cpu", "f32, f64 and i32 over many shapes");
    auto words = std::make_shared<BenchWords>();
    auto cpu = std::make_shared<BenchCpuArguments>();
    cpu->command = typed;
    suite->add_option("--types", words->types, "of f32, f64, i32 (default: all three)")->type_name("T,...");
    suite->add_option("--sizes", words->sizes, "n or MxKxN (default: the suite's)")->type_name("N,...");
    add_bench_options(*suite, *words, cpu->quick, cpu->results);
    add_threads_option(*suite, *words);
    add_force_options(*suite, *words);
    suite->add_option("--leaf", words->leaf, "auto (default), openblas, openblas-mt, blis, heptad ...")
        ->type_name("NAME");
    suite->add_flag("--against-itself", cpu->against_itself,
                    "every library takes part twice, which shows how far noise alone moves a ratio");
    suite->footer("Example: heptad bench cpu --types f32 --sizes 1024,4096,4096x64x4096 --json result.json");
    return {suite, [words, cpu] {
                for (const std::string& name : split(words->types.empty() ? "f32,f64,i32" : words->types, ',')) {
                    cpu->types.push_back(type_from_name(parse_choice("--types", name, {"f32", "f64", "i32"})));
                }
                cpu->shapes = bench_sizes(words->sizes);
                cpu->accuracy = bench_accuracy(words->accuracy);
                cpu->threads = thread_count(words->threads);
                set_forced(*words, *cpu);
                cpu->leaf = words->leaf.empty() ? "auto" : words->leaf;
                return Invocation(*cpu);
            }};
}

Registered add_bench_files(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand(
        "files", "one product from files by Heptad and the vendor libraries, or from file to file");
    auto words = std::make_shared<BenchWords>();
    auto files = std::make_shared<BenchFilesArguments>();
    files->command = typed;
    struct SetWords {
        std::string size, memory, folder, device;
        HostWords host;
    };
    auto set = std::make_shared<SetWords>();
    suite->add_option("A", files->a, "left matrix, .npy of f32, f64 or i32; none: P4's Set 1")->type_name("");
    suite->add_option("B", files->b, "right matrix, .npy")->type_name("");
    suite->add_option("-o,--output", files->output, "result, .npy")->type_name("C");
    suite->add_option("--size", set->size, "P4's Set 1: rows and columns (default 32768)")->type_name("N");
    suite->add_option("--memory", set->memory, "P4's Set 1: memory of the product (default 2G)")->type_name("SIZE");
    suite->add_option("--folder", set->folder, "P4's Set 1: where the files go (default: here)")->type_name("DIR");
    suite->add_option("--device", set->device, "P4's Set 1: auto, cpu, cuda or cuda:N")->type_name("D");
    suite->add_option("--host-levels", set->host.levels, "P4's Set 1: outer levels, as in mul")->type_name("N");
    suite->add_option("--host-algorithm", set->host.algorithm, "P4's Set 1: algorithm of those")->type_name("NAME");
    add_bench_options(*suite, *words, files->quick, files->results);
    add_threads_option(*suite, *words);
    suite->footer(
        "Example: heptad bench files A.npy B.npy -o C.npy\n"
        "Example: heptad bench files --size 16384 --memory 1G --folder /scratch --json result.json");
    return {suite, [words, files, set] {
                const bool named = !files->a.empty() || !files->b.empty() || !files->output.empty();
                const bool sized = !set->size.empty() || !set->memory.empty() || !set->folder.empty() ||
                                   !set->device.empty() || set->host.given();
                if (named && (files->a.empty() || files->b.empty() || files->output.empty())) {
                    fail(ErrorCode::usage, "heptad bench files takes A, B and -o C, or none of them");
                }
                if (named && sized) {
                    fail(ErrorCode::usage,
                         "--size, --memory, --folder, --device, --host-levels and --host-algorithm belong to P4's "
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
                return Invocation(*files);
            }};
}

Registered add_bench_bits(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand("bits", "bit matrices: over GF(2) against M4RI, Boolean, powers");
    auto words = std::make_shared<BenchWords>();
    auto bits = std::make_shared<BenchBitsArguments>();
    bits->command = typed;
    suite->add_option("--types", words->types, "of gf2, bool (default: both)")->type_name("T,...");
    suite->add_option("--sizes", words->sizes, "n or MxKxN (default: the suite's)")->type_name("N,...");
    suite->add_option("--leaf", words->leaf, "auto (default), gfni, table-avx512, table-avx2 ...")->type_name("NAME");
    suite->add_option("--algorithm", words->algorithm, "auto (default), winograd, self-inverse, chaining, classical")
        ->type_name("NAME");
    suite->add_option("--levels", words->levels, "exactly so many (default: as many as pay)")->type_name("N");
    suite
        ->add_option("--density", words->density,
                     "shares of ones, a line each (default: 0.5, and for bool also where half of C is ones)")
        ->type_name("D,...");
    suite->add_option("--power", words->power, "A^8 of this size, also beside --sizes")->type_name("N");
    suite->add_option("--rounds", words->rounds, "samples of each (default: by the size of the product)")
        ->type_name("R");
    suite->add_flag("--quick", bits->quick, "fewer repetitions and fewer sizes");
    add_result_options(*suite, bits->results);
    add_threads_option(*suite, *words);
    suite->footer("Example: heptad bench bits --types gf2 --sizes 4096,16384 --threads 1 --json result.json");
    return {suite, [words, bits] {
                for (const std::string& name : split(words->types.empty() ? "gf2,bool" : words->types, ',')) {
                    bits->types.push_back(type_from_name(parse_choice("--types", name, {"gf2", "bool"})));
                }
                bits->shapes = bench_sizes(words->sizes);
                if (!words->density.empty()) {
                    for (const std::string& word : split(words->density, ',')) {
                        bits->densities.push_back(bench_density(word));
                    }
                }
                if (!words->power.empty()) {
                    bits->power_size = parse_integer("--power", words->power, 1, kLargestPower);
                }
                if (!words->rounds.empty()) {
                    bits->rounds = static_cast<int>(parse_integer("--rounds", words->rounds, 1, kMostRounds));
                }
                bits->leaf = words->leaf.empty() ? "auto" : words->leaf;
                bits->algorithm = words->algorithm.empty() ? "auto" : words->algorithm;
                if (!words->levels.empty()) {
                    bits->levels = static_cast<int>(parse_integer("--levels", words->levels, 0, kMostLevels));
                }
                bits->threads = thread_count(words->threads);
                return Invocation(*bits);
            }};
}

/// The sizes, then the shapes; nothing where neither was typed.
std::vector<ProblemSize> gpu_shapes(const BenchWords& words) {
    std::vector<ProblemSize> shapes = bench_sizes(words.sizes);
    if (!words.shapes.empty()) {
        for (const std::string& word : split(words.shapes, ',')) {
            shapes.push_back(bench_shape("--shapes", word));
        }
    }
    return shapes;
}

Registered add_bench_gpu(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand("gpu", "matrices on an NVIDIA device, by Heptad and by cuBLAS");
    auto words = std::make_shared<BenchWords>();
    auto gpu = std::make_shared<BenchGpuArguments>();
    gpu->command = typed;
    suite->add_option("--types", words->types, "of f32, f64, tf32, bf16, f16, i32 (default: all)")->type_name("T,...");
    suite->add_option("--sizes", words->sizes, "n or MxKxN (default: the suite's)")->type_name("N,...");
    suite->add_option("--shapes", words->shapes, "more of them")->type_name("MxKxN,...");
    suite->add_option("--device", words->device, "cuda (default) or cuda:N")->type_name("D");
    add_force_options(*suite, *words);
    add_bench_options(*suite, *words, gpu->quick, gpu->results);
    suite->footer("Example: heptad bench gpu --types f32,bf16 --sizes 4096,8192 --shapes 8192x1024x8192 --json r.json");
    return {suite, [words, gpu] {
                const std::string all = "f32,f64,tf32,bf16,f16,i32";
                for (const std::string& name : split(words->types.empty() ? all : words->types, ',')) {
                    gpu->types.push_back(type_from_name(parse_choice("--types", name, split(all, ','))));
                }
                gpu->shapes = gpu_shapes(*words);
                gpu->accuracy = bench_accuracy(words->accuracy);
                if (!words->device.empty()) {
                    cuda::device_index(words->device);  // or wrong usage
                    gpu->device = words->device;
                }
                set_forced(*words, *gpu);
                return Invocation(*gpu);
            }};
}

Registered add_bench_devices(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand("devices", "matrices in host memory over several devices (docs/devices.md)");
    auto words = std::make_shared<BenchWords>();
    auto host = std::make_shared<HostWords>();
    auto devices = std::make_shared<BenchDevicesArguments>();
    devices->command = typed;
    suite->add_option("--types", words->types, "default f32,gf2,bool")->type_name("T,...");
    suite->add_option("--sizes", words->sizes, "n or MxKxN (default 2048,4096)")->type_name("N,...");
    suite->add_option("--device", words->device, "cpu:N, cuda or cuda:0,1 (default cpu:2)")->type_name("D");
    suite->add_option("--accuracy", words->accuracy, "strict, balanced or fast (default)")->type_name("WORD");
    suite->add_option("--rounds", words->rounds, "samples of each (default 5)")->type_name("R");
    suite->add_flag("--locked", devices->locked,
                    "NVIDIA devices: lock the pages of the matrices first, outside the time");
    suite->add_option("--density", words->density, "share of ones in packed bits (default: 0.5)")->type_name("D");
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
                if (!words->rounds.empty()) {
                    devices->rounds = static_cast<int>(parse_integer("--rounds", words->rounds, 1, kMostRounds));
                }
                return Invocation(*devices);
            }};
}

/// The words of a list, each one of the choices; all of them where nothing was typed.
std::vector<std::string> chosen(const std::string& option, const std::string& typed, const std::string& choices) {
    std::vector<std::string> words = split(typed.empty() ? choices : typed, ',');
    for (std::string& word : words) {
        word = parse_choice(option, word, split(choices, ','));
    }
    return words;
}

BenchP0Arguments p0_arguments(const BenchWords& words) {
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
    if (!words.device.empty()) {
        cuda::device_index(words.device);  // or wrong usage
        p0.device = words.device;
    }
    if (!words.leaf.empty()) {
        p0.leaf = words.leaf;
    }
    if (!words.rounds.empty()) {
        p0.rounds = static_cast<int>(parse_integer("--rounds", words.rounds, 1, kMostRounds));
    }
    return p0;
}

Registered add_bench_p0(CLI::App& bench, const std::string& typed) {
    CLI::App* suite =
        bench.add_subcommand("p0", "the multi-level implementations of the paper P0 on an NVIDIA device (docs/p0.md)");
    auto words = std::make_shared<BenchWords>();
    auto results = std::make_shared<ResultFiles>();
    suite->add_option("--types", words->types, "of f32, i32 (default: both)")->type_name("T,...");
    suite->add_option("--sizes", words->sizes, "powers of two (default 2048,4096,8192,16384)")->type_name("N,...");
    suite->add_option("--algorithms", words->algorithm, "of strassen, winograd (default: both)")->type_name("NAME,...");
    suite->add_option("--levels", words->levels, "default 1,2,3,4")->type_name("L,...");
    suite->add_option("--tau1", words->tau1, "instead of levels: up to this size, the classical product")
        ->type_name("N");
    suite->add_option("--tau2", words->tau2, "and up to this size, one level")->type_name("N");
    suite->add_option("--data", words->data, "of uniform, positive, kaporin (default: all); times are of the first")
        ->type_name("KIND,...");
    suite->add_option("--leaf", words->leaf, "of the products at the bottom (default: the fastest)")->type_name("L");
    suite->add_option("--device", words->device, "cuda (default) or cuda:N")->type_name("D");
    suite->add_option("--rounds", words->rounds, "samples of each (default: 7, 5 of large products)")->type_name("R");
    add_result_options(*suite, *results);
    suite->footer("Example: heptad bench p0 --types f32 --sizes 8192 --levels 1,2,3 --json p0.json");
    return {suite, [words, results, typed] {
                BenchP0Arguments p0 = p0_arguments(*words);
                p0.results = *results;
                p0.command = typed;
                return Invocation(p0);
            }};
}

Registered add_bench_p1(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand("p1", "P1's ablation and dead ends on an NVIDIA device, against cuBLAS");
    auto words = std::make_shared<BenchWords>();
    auto p1 = std::make_shared<BenchP1Arguments>();
    p1->command = typed;
    suite->add_option("--types", words->types, "of f32 (default), f64")->type_name("T,...");
    suite->add_option("--sizes", words->sizes, "sides (default: 4096,8192,16384)")->type_name("N,...");
    suite->add_option("--levels", words->levels, "1 to 4 of them (default: 1,2,3)")->type_name("L,...");
    suite->add_option("--device", words->device, "cuda (default) or cuda:N")->type_name("D");
    add_result_options(*suite, p1->results);
    suite->footer("Example: heptad bench p1 --sizes 8192 --levels 2,3 --json result.json");
    return {suite, [words, p1] {
                for (const std::string& name : split(words->types.empty() ? "f32" : words->types, ',')) {
                    p1->types.push_back(type_from_name(parse_choice("--types", name, {"f32", "f64"})));
                }
                for (const std::string& word : split(words->sizes.empty() ? "4096,8192,16384" : words->sizes, ',')) {
                    p1->sizes.push_back(parse_integer("--sizes", word, 1, kLargestP1Side));
                }
                for (const std::string& word : split(words->levels.empty() ? "1,2,3" : words->levels, ',')) {
                    p1->levels.push_back(static_cast<int>(parse_integer("--levels", word, 1, 4)));
                }
                if (!words->device.empty()) {
                    cuda::device_index(words->device);  // or wrong usage
                    p1->device = words->device;
                }
                return Invocation(*p1);
            }};
}

Registered add_bench_p3(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand("p3", "bit matrices on an NVIDIA device, beside P3's table 13");
    auto words = std::make_shared<BenchWords>();
    auto p3 = std::make_shared<BenchP3Arguments>();
    p3->command = typed;
    suite->add_option("--types", words->types, "of gf2, bool (default: both)")->type_name("T,...");
    suite->add_option("--sizes", words->sizes, "sides (default: 1024 to 524288, powers of two)")->type_name("N,...");
    suite->add_option("--algorithm", words->algorithm, "auto (default), winograd, self-inverse, chaining, classical")
        ->type_name("NAME");
    suite->add_option("--levels", words->levels, "of gf2, exactly so many (default: as many as pay)")->type_name("N");
    suite->add_option("--serial-levels", words->serial_levels, "so many of them one after another")->type_name("N");
    suite->add_option("--leaf", words->leaf, "auto (default), wgmma, mma or words")->type_name("NAME");
    suite->add_option("--device", words->device, "cuda (default) or cuda:N")->type_name("D");
    suite->add_option("--rounds", words->rounds, "samples of each (default: by the time of the product)")
        ->type_name("R");
    suite->add_option("--density", words->density, "share of ones (default: 0.5)")->type_name("D");
    CLI::Option* const from_host =
        suite->add_option("--from-host", words->from_host, "also from and to host memory; of these sizes, or of all")
            ->type_name("N,...")
            ->expected(0, 1);
    suite->add_flag("!--no-tables", p3->machine, "without P3's tables 4 to 7: bandwidths, transposes, sums");
    add_result_options(*suite, p3->results);
    suite->footer("Example: heptad bench p3 --types gf2 --sizes 16384,65536 --json p3.json");
    return {suite, [words, p3, from_host] {
                for (const std::string& name : chosen("--types", words->types, "gf2,bool")) {
                    p3->types.push_back(type_from_name(name));
                }
                const std::string all = "1024,2048,4096,8192,16384,32768,65536,131072,262144,524288";
                p3->sizes = bench_sides("--sizes", words->sizes.empty() ? all : words->sizes);
                if (from_host->count() > 0) {
                    p3->from_host_sizes =
                        words->from_host.empty() ? p3->sizes : bench_sides("--from-host", words->from_host);
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
                if (!words->device.empty()) {
                    cuda::device_index(words->device);  // or wrong usage
                    p3->device = words->device;
                }
                return Invocation(*p3);
            }};
}

Registered add_bench_model(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand(
        "model", "sums inside the kernel on an NVIDIA device: predicted and measured, against cuBLAS");
    auto words = std::make_shared<BenchWords>();
    auto model = std::make_shared<BenchModelArguments>();
    model->command = typed;
    suite->add_option("--types", words->types, "of f32 (default), f64")->type_name("T,...");
    suite->add_option("--sizes", words->sizes, "n or MxKxN (default: the suite's)")->type_name("N,...");
    suite->add_flag("--tiles", model->all_tiles, "one level in blocks of every shape too");
    suite->add_option("--rounds", words->rounds, "samples of each (default: 5)")->type_name("R");
    suite->add_option("--device", words->device, "cuda (default) or cuda:N")->type_name("D");
    add_result_options(*suite, model->results);
    suite->footer("Example: heptad bench model --types f32,f64 --sizes 2048,8192,16384x2048x16384 --json result.json");
    return {suite, [words, model] {
                for (const std::string& name : split(words->types.empty() ? "f32" : words->types, ',')) {
                    model->types.push_back(type_from_name(parse_choice("--types", name, {"f32", "f64"})));
                }
                model->shapes = bench_sizes(words->sizes);
                if (!words->rounds.empty()) {
                    model->rounds = static_cast<int>(parse_integer("--rounds", words->rounds, 1, kMostRounds));
                }
                if (!words->device.empty()) {
                    cuda::device_index(words->device);  // or wrong usage
                    model->device = words->device;
                }
                return Invocation(*model);
            }};
}

}  // namespace

std::vector<Registered> add_bench_suites(CLI::App& bench, const std::string& typed) {
    return {add_bench_cpu(bench, typed),     add_bench_gpu(bench, typed),   add_bench_bits(bench, typed),
            add_bench_devices(bench, typed), add_bench_p0(bench, typed),    add_bench_p1(bench, typed),
            add_bench_p3(bench, typed),      add_bench_model(bench, typed), add_bench_files(bench, typed)};
}

}  // namespace heptad::cli
