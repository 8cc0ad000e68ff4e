// heptad bench cpu: f32, f64, c64, c128 and i32 products over squares from 1 up and over thin shapes, against every
// BLAS of this machine (i32: against a triple loop blocked for cache).
#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "base/types.hpp"
#include "bench/suites/bench_machine.hpp"
#include "bench/suites/bench_product.hpp"
#include "bench/suites/bench_words.hpp"
#include "bench/suites/graded_data.hpp"
#include "bench/suites/result_files.hpp"
#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "io/generate.hpp"
#include "product/request/memory_limits.hpp"

namespace heptad::cli {
namespace {

struct BenchCpuArguments {
    ResultFiles results;
    std::vector<Type> types;
    std::vector<ProblemSize> shapes;  // empty: the suite's own
    bool quick = false;
    Accuracy accuracy = Accuracy::balanced;
    int threads = 0;
    std::string algorithm = "auto", leaf = "auto";
    int levels = -1;              // -1: as many as pay
    int rounds = 0;               // 0: by the size of the product
    std::string command;          // as typed, for the result file
    bool against_itself = false;  // every library takes part twice
    BenchData data = BenchData::uniform;
};

// The suite. Squares from a single element to where memory of a small machine ends; odd sizes show the fringes.
constexpr std::int64_t kSquares[] = {1,    2,    3,    4,    6,    8,    12,   16,   24,   32,
                                     48,   64,   96,   128,  192,  256,  384,  512,  768,  1000,
                                     1024, 1536, 2047, 2048, 3072, 4096, 6144, 8192, 12288};
constexpr std::int64_t kQuickSquares[] = {1, 4, 16, 64, 256, 1024, 2048, 4096};
constexpr std::int64_t kThin[] = {256, 1024, 4096};
constexpr std::int64_t kQuickThin[] = {1024};
constexpr std::int64_t kLargestInteger = 1024;  // the baseline takes too long beyond
constexpr std::int64_t kLargestComplex = 4096;  // four times the work
constexpr double kLargeOperations = 2e11;       // a product counts as large from here: fewer rounds with --quick
constexpr double kSmallOperations = 2e7;        // and as small up to here: cheap, noisy, more rounds
constexpr double kShortPause_s = 0.005;         // between those, where nobody's threads are busy

std::vector<ProblemSize> suite_shapes(Type type, bool quick) {
    std::vector<ProblemSize> shapes;
    const auto add_all = [&](const std::int64_t* begin, const std::int64_t* end, auto&& add) {
        for (const std::int64_t* n = begin; n != end; ++n) {
            if (*n <= (type == Type::i32 ? kLargestInteger : is_complex(type) ? kLargestComplex : *n)) {
                add(*n);
            }
        }
    };
    const auto square = [&](std::int64_t n) { shapes.push_back({n, n, n}); };
    const auto thin = [&](std::int64_t n) {
        for (const ProblemSize shape : {ProblemSize{n, 64, n}, ProblemSize{64, n, n}, ProblemSize{n, n, 64},
                                        ProblemSize{n, n, 1}, ProblemSize{1, n, n}, ProblemSize{n, 1, n}}) {
            shapes.push_back(shape);
        }
    };
    if (quick) {
        add_all(std::begin(kQuickSquares), std::end(kQuickSquares), square);
        add_all(std::begin(kQuickThin), std::end(kQuickThin), thin);
    } else {
        add_all(std::begin(kSquares), std::end(kSquares), square);
        add_all(std::begin(kThin), std::end(kThin), thin);
    }
    return shapes;
}

ContestRules rules_for(Type type, const ProblemSize& size, const BenchCpuArguments& bench) {
    ContestRules rules;
    const double operations = operation_count(size, type);
    if (bench.rounds > 0) {
        rules.rounds = bench.rounds;
    } else if (bench.quick) {
        rules.rounds = operations >= kLargeOperations ? 3 : 5;
    } else {
        rules.rounds = operations <= kSmallOperations ? 25 : operations < kLargeOperations ? 7 : 5;
    }
    if (operations <= kSmallOperations) {
        rules.pause_s = kShortPause_s;
    }
    return rules;
}

/// Seconds that a line takes, roughly; only for the progress display.
double guessed_seconds(Type type, const ProblemSize& size, const ContestRules& rules) {
    const double rate = type == Type::i32 ? 1e10 : type == Type::f64 || type == Type::c128 ? 5e10 : 1e11;
    return (rules.rounds + 2) * 3 * (operation_count(size, type) / rate + rules.sample_s + rules.pause_s);
}

struct Line {
    Type type = Type::f32;
    ProblemSize size;
    ContestRules rules;
    double guessed_s = 0;
};

std::vector<Line> lines_of(const BenchCpuArguments& bench) {
    std::vector<Line> lines;
    for (const Type type : bench.types) {
        for (const ProblemSize& size : bench.shapes.empty() ? suite_shapes(type, bench.quick) : bench.shapes) {
            const ContestRules rules = rules_for(type, size, bench);
            lines.push_back({type, size, rules, guessed_seconds(type, size, rules)});
        }
    }
    return lines;
}

std::int64_t needed_bytes(const Line& line) {
    const std::int64_t operands = matrix_bytes(line.type, line.size.m, line.size.k) +
                                  matrix_bytes(line.type, line.size.k, line.size.n) +
                                  matrix_bytes(line.type, line.size.m, line.size.n);
    return operands + operands;  // as much again for the workspace of a fast plan
}

BenchRecord run_line(const Line& line, BenchData data, BenchSettings settings,
                     const std::function<void(int, int)>& progress) {
    const FileHooks hooks{settings.threads, {}, interrupt_token()};
    const auto left = [&] { return generate("uniform", line.size.m, line.size.k, line.type, 1, {}, hooks); };
    const auto right = [&] { return generate("uniform", line.size.k, line.size.n, line.type, 2, {}, hooks); };
    Matrix a = left(), b = right(), uniform_a, uniform_b;
    Matrix c(line.type, line.size.m, line.size.n);
    if (data != BenchData::uniform) {
        uniform_a = left();
        uniform_b = right();
        settings.uniform_a = &uniform_a;
        settings.uniform_b = &uniform_b;
        grade(data, a.view(), b.view());
    }
    BenchRecord record = bench_product(a, b, c, settings, progress);
    record.variant = variant_name(data);
    return record;
}

void run(const BenchCpuArguments& bench) {
    require_writable(bench.results);
    BenchSettings settings;
    settings.suite = "cpu";
    settings.accuracy = bench.accuracy;
    settings.algorithm = bench.algorithm;
    settings.leaf = bench.leaf;
    settings.levels = bench.levels;
    settings.against_itself = bench.against_itself;
    settings.threads = threads_or_default(bench.threads);
    const std::vector<Line> lines = lines_of(bench);
    double total_s = 0, done_s = 0;
    for (const Line& line : lines) {
        total_s += line.guessed_s;
    }
    ProgressMeter meter;
    meter.begin("bench cpu");
    print(machine_line() + table_head());
    std::vector<BenchRecord> records;
    for (const Line& line : lines) {
        const std::string name =
            fmt::format("{} {}x{}x{}", type_name(line.type), line.size.m, line.size.k, line.size.n);
        if (bench.shapes.empty() && needed_bytes(line) > memory_limit_bytes({})) {
            meter.clear();
            print(fmt::format("     -  {} left out: it needs {} of memory\n", name, format_bytes(needed_bytes(line))));
            continue;
        }
        settings.rules = line.rules;
        records.push_back(run_line(line, bench.data, settings, [&](int round, int rounds) {
            const double part = static_cast<double>(round) / rounds;
            meter.update((done_s + part * line.guessed_s) / total_s, name);
        }));
        done_s += line.guessed_s;
        meter.clear();
        print(table_row(records.back()));
        write_results(bench.results, bench.command, records);  // a run that is stopped leaves what it has
    }
    write_results(bench.results, bench.command, records);
    print(results_line(bench.results));
}

Command add_bench_cpu(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand("cpu", "f32, f64, i32 and complex numbers over many shapes");
    auto words = std::make_shared<BenchWords>();
    auto cpu = std::make_shared<BenchCpuArguments>();
    cpu->command = typed;
    add_value(*suite, "--types T,...", words->types, "of f32, f64, c64, c128, i32 (default: f32,f64,i32)");
    add_value(*suite, "--sizes N,...", words->sizes, "n or MxKxN (default: the suite's)");
    add_bench_options(*suite, *words, cpu->quick, cpu->results);
    add_threads_option(*suite, *words);
    add_force_options(*suite, *words);
    add_value(*suite, "--leaf NAME", words->leaf, "auto (default), openblas, openblas-mt, blis, heptad ...");
    add_data_option(*suite, *words);
    suite->add_flag("--against-itself", cpu->against_itself,
                    "every library takes part twice, to show how far noise alone moves a ratio");
    suite->footer("Example: heptad bench cpu --types f32 --sizes 1024,4096,4096x64x4096 --json result.json");
    return {suite, [words, cpu] {
                for (const std::string& name : split(words->types.empty() ? "f32,f64,i32" : words->types, ',')) {
                    cpu->types.push_back(
                        type_from_name(parse_choice("--types", name, {"f32", "f64", "c64", "c128", "i32"})));
                }
                cpu->shapes = bench_sizes(words->sizes);
                cpu->accuracy = bench_accuracy(words->accuracy);
                cpu->threads = thread_count(words->threads);
                set_forced(*words, *cpu);
                cpu->leaf = words->leaf.empty() ? "auto" : words->leaf;
                cpu->data = bench_data(words->data, cpu->types);
                return [cpu] { run(*cpu); };
            }};
}

const RegisterCommand registered_bench_cpu({.parent = "bench", .order = 1, .add = add_bench_cpu});

}  // namespace
}  // namespace heptad::cli
