// heptad bench torch: PyTorch's products with and without Heptad. PyTorch is Python's, so a process of Python measures
// (python/heptad/bench_torch.py) and prints its table; the result files are written here, as by every other suite.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.hpp"
#include "bench/suites/bench_machine.hpp"
#include "bench/suites/bench_words.hpp"
#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"

namespace heptad::cli {
namespace {

constexpr const char* kTypes = "f64,f32,bf16,f16";
constexpr const char* kCases = "mm,addmm,linear,bmm,block,call";

struct TorchWords : BenchWords {
    std::string cases, width;
};

struct TorchArguments {
    std::vector<std::string> words;  // as Python's half takes them
    ResultFiles results;
    std::string command;
};

/// The one that has heptad: the program's caller where that is Python, or the one of the path.
std::string python() {
    const char* const given = std::getenv("HEPTAD_PYTHON");
    return given != nullptr && *given != '\0' ? given : "python3";
}

/// Its exit code; 127: it could not be started, 128 + signal: it was ended.
int run_python(std::vector<std::string> words) {
    words.insert(words.begin(), python());
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    const pid_t child = ::fork();
    if (child < 0) {
        fail(ErrorCode::resource, "no process can be started for {}", words.front());
    }
    if (child == 0) {
        ::execvp(arguments.front(), arguments.data());
        ::_exit(127);
    }
    int status = 0;
    bool ended = false;
    while (::waitpid(child, &status, WNOHANG) == 0) {
        if (interrupt_token().cancelled() && !ended) {
            ended = ::kill(child, SIGINT) == 0;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void require_packages() {
    constexpr int kNoHeptad = 10, kNoTorch = 11;
    const int code = run_python({"-c",
                                 "import importlib.util as u, sys; sys.exit(10 if u.find_spec('heptad') is None else "
                                 "11 if u.find_spec('torch') is None else 0)"});
    if (code == kNoHeptad) {
        fail(ErrorCode::resource,
             "{} has no package heptad; install it (docs/python.md), or name another Python in HEPTAD_PYTHON",
             python());
    }
    if (code == kNoTorch) {
        fail(ErrorCode::resource, "{} has no PyTorch; install it, or name another Python in HEPTAD_PYTHON", python());
    }
    if (code != 0) {
        fail(ErrorCode::resource, "{} does not run; install Python 3, or name one in HEPTAD_PYTHON", python());
    }
}

/// A file without a name, which a child finds under its path.
class HandedFile {
public:
    HandedFile() : descriptor_(::memfd_create("heptad-bench-torch", 0)) {
        if (descriptor_ < 0) {
            fail(ErrorCode::resource, "there is no memory for the results");
        }
    }
    ~HandedFile() { ::close(descriptor_); }
    HandedFile(const HandedFile&) = delete;
    HandedFile& operator=(const HandedFile&) = delete;
    std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

private:
    int descriptor_;
};

void run(const TorchArguments& arguments) {
    require_writable(arguments.results);
    require_packages();
    std::vector<std::string> words{"-m", "heptad.bench_torch"};
    words.insert(words.end(), arguments.words.begin(), arguments.words.end());
    const HandedFile records;
    if (arguments.results.any()) {
        words.insert(words.end(), {"--json", records.path()});
    }
    const int code = run_python(words);
    stop_if_interrupted();
    if (code != 0) {
        const bool told = code == static_cast<int>(ErrorCode::usage) || code == static_cast<int>(ErrorCode::resource);
        fail(told ? static_cast<ErrorCode>(code) : ErrorCode::internal, "Python's half ended with {}: see above", code);
    }
    if (!arguments.results.any()) {
        return;
    }
    std::ifstream file(records.path());
    nlohmann::ordered_json content = nlohmann::ordered_json::parse(file, nullptr, false);
    if (content.is_discarded() || !content.contains("machine") || !content.contains("results")) {
        fail(ErrorCode::internal, "Python's half left no results");
    }
    nlohmann::ordered_json machine = machine_facts(arguments.command, {});
    for (const char* const known_there : {"device", "libraries", "python", "float32_matmul_precision"}) {
        machine[known_there] = content["machine"][known_there];
    }
    content["machine"] = machine;
    write_results(arguments.results, content);
    print(results_line(arguments.results));
}

Command add_bench_torch(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand("torch", "PyTorch's products with and without Heptad (docs/python.md)");
    auto words = std::make_shared<TorchWords>();
    auto quick = std::make_shared<bool>(false);
    auto arguments = std::make_shared<TorchArguments>();
    arguments->command = typed;
    add_value(*suite, "--cases C,...", words->cases, std::string("of ") + kCases + " (default: all)");
    add_value(*suite, "--types T,...", words->types,
              std::string("of ") + kTypes + " (default: f32,f64,bf16; blocks without f64)");
    add_value(*suite, "--sizes N,...", words->sizes,
              "sides of products (default: 4096,8192,16384; on a processor 1024,2048)");
    add_value(*suite, "--width N", words->width, "of the block (default: 4096; on a processor 512)");
    add_value(*suite, "--device D", words->device, "cuda, cuda:N or cpu (default: cuda where PyTorch sees one)");
    add_value(*suite, "--rounds R", words->rounds, "samples of each (default: 7)");
    add_bench_options(*suite, *words, *quick, arguments->results);
    suite->footer(
        "Python is python3, or what HEPTAD_PYTHON names; it needs PyTorch and the package heptad.\n"
        "Example: heptad bench torch --cases mm,block --types f32 --json torch.json");
    return {suite, [words, quick, arguments] {
                std::vector<std::string>& passed = arguments->words;
                const auto pass = [&](const char* option, const std::string& word) {
                    if (!word.empty()) {
                        passed.insert(passed.end(), {option, word});
                    }
                };
                if (!words->cases.empty()) {
                    chosen("--cases", words->cases, kCases);  // or wrong usage
                }
                if (!words->types.empty()) {
                    chosen("--types", words->types, kTypes);
                }
                for (const ProblemSize& size : bench_sizes(words->sizes)) {
                    if (size.m != size.k || size.k != size.n) {
                        fail(ErrorCode::usage, "--sizes takes sides of squares here, not {}x{}x{}", size.m, size.k,
                             size.n);
                    }
                }
                if (!words->width.empty()) {
                    parse_integer("--width", words->width, 128, 65536);
                }
                bench_rounds(words->rounds);
                bench_accuracy(words->accuracy);
                pass("--cases", words->cases);
                pass("--types", words->types);
                pass("--sizes", words->sizes);
                pass("--width", words->width);
                pass("--device", words->device);
                pass("--rounds", words->rounds);
                pass("--accuracy", words->accuracy);
                if (*quick) {
                    passed.emplace_back("--quick");
                }
                return [arguments] { run(*arguments); };
            }};
}

const RegisterCommand registered_bench_torch({.parent = "bench", .order = 12, .add = add_bench_torch});

}  // namespace
}  // namespace heptad::cli
