// The option names of the suites of `heptad bench`.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "backend/cuda/device.hpp"
#include "base/error.hpp"
#include "option_words.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kMostRounds = 1000;
constexpr int kMostLevels = 20;

struct BenchWords {
    std::string types, sizes, shapes, accuracy, threads, device, rounds, algorithm, levels, leaf;
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

void add_bench_options(CLI::App& suite, BenchWords& words, bool& quick, std::string& json_file) {
    suite.add_flag("--quick", quick, "fewer repetitions and fewer sizes");
    suite.add_option("--accuracy", words.accuracy, "strict, balanced or fast (default)")->type_name("WORD");
    suite.add_option("--json", json_file, "write the result file")->type_name("F");
}

void add_threads_option(CLI::App& suite, BenchWords& words) {
    suite.add_option("--threads", words.threads, "threads of Heptad and of the libraries")->type_name("N");
}

Registered add_bench_cpu(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand("cpu", "f32, f64 and i32 over many shapes");
    auto words = std::make_shared<BenchWords>();
    auto cpu = std::make_shared<BenchCpuArguments>();
    cpu->command = typed;
    suite->add_option("--types", words->types, "of f32, f64, i32 (default: all three)")->type_name("T,...");
    suite->add_option("--sizes", words->sizes, "n or MxKxN (default: the suite's)")->type_name("N,...");
    add_bench_options(*suite, *words, cpu->quick, cpu->json_file);
    add_threads_option(*suite, *words);
    suite->footer("Example: heptad bench cpu --types f32 --sizes 1024,4096,4096x64x4096 --json result.json");
    return {suite, [words, cpu] {
                for (const std::string& name : split(words->types.empty() ? "f32,f64,i32" : words->types, ',')) {
                    cpu->types.push_back(type_from_name(parse_choice("--types", name, {"f32", "f64", "i32"})));
                }
                cpu->shapes = bench_sizes(words->sizes);
                cpu->accuracy = bench_accuracy(words->accuracy);
                cpu->threads = thread_count(words->threads);
                return Invocation(*cpu);
            }};
}

Registered add_bench_files(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand("files", "one product from files, by Heptad and by the vendor libraries");
    auto words = std::make_shared<BenchWords>();
    auto files = std::make_shared<BenchFilesArguments>();
    files->command = typed;
    suite->add_option("A", files->a, "left matrix, .npy of f32, f64 or i32")->required()->type_name("");
    suite->add_option("B", files->b, "right matrix, .npy")->required()->type_name("");
    suite->add_option("-o,--output", files->output, "result, .npy")->required()->type_name("C");
    add_bench_options(*suite, *words, files->quick, files->json_file);
    add_threads_option(*suite, *words);
    suite->footer("Example: heptad bench files A.npy B.npy -o C.npy");
    return {suite, [words, files] {
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
    suite->add_flag("--quick", bits->quick, "fewer repetitions and fewer sizes");
    suite->add_option("--json", bits->json_file, "write the result file")->type_name("F");
    add_threads_option(*suite, *words);
    suite->footer("Example: heptad bench bits --types gf2 --sizes 4096,16384 --threads 1 --json result.json");
    return {suite, [words, bits] {
                for (const std::string& name : split(words->types.empty() ? "gf2,bool" : words->types, ',')) {
                    bits->types.push_back(type_from_name(parse_choice("--types", name, {"gf2", "bool"})));
                }
                bits->shapes = bench_sizes(words->sizes);
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
    suite->add_option("--algorithm", words->algorithm, "auto (default) or a name of the catalogue")->type_name("NAME");
    suite->add_option("--levels", words->levels, "exactly so many (default: as many as pay)")->type_name("N");
    suite->add_option("--rounds", words->rounds, "samples of each (default: 7, 5 of large products)")->type_name("R");
    add_bench_options(*suite, *words, gpu->quick, gpu->json_file);
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
                if (!words->algorithm.empty()) {
                    gpu->algorithm = words->algorithm;
                }
                if (!words->levels.empty()) {
                    gpu->levels = static_cast<int>(parse_integer("--levels", words->levels, 0, kMostLevels));
                }
                if (!words->rounds.empty()) {
                    gpu->rounds = static_cast<int>(parse_integer("--rounds", words->rounds, 1, kMostRounds));
                }
                return Invocation(*gpu);
            }};
}

}  // namespace

std::vector<Registered> add_bench_suites(CLI::App& bench, const std::string& typed) {
    return {add_bench_cpu(bench, typed), add_bench_gpu(bench, typed), add_bench_bits(bench, typed),
            add_bench_files(bench, typed)};
}

}  // namespace heptad::cli
