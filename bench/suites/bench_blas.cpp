// heptad bench blas: the entries of libheptad_blas.so beside those of the OpenBLAS that they pass calls on to, in turns
// and in one process: gemm of all four types over squares from 1 up and over thin shapes, and A A^T (syrk).
#include <CLI/CLI.hpp>
#include <complex>
#include <filesystem>

#include "base/error.hpp"
#include "base/matrix.hpp"
#include "base/quantity_text.hpp"
#include "base/types.hpp"
#include "bench/suites/bench_contest.hpp"
#include "bench/suites/bench_machine.hpp"
#include "bench/suites/bench_product.hpp"
#include "bench/suites/bench_words.hpp"
#include "bench/suites/cblas_entries.hpp"
#include "bench/suites/measured_error.hpp"
#include "bench/suites/poison.hpp"
#include "bench/suites/result_files.hpp"
#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "io/generate.hpp"
#include "kernels/cpu/vendor_blas.hpp"

namespace heptad::cli {
namespace {

struct BenchBlasArguments {
    ResultFiles results;
    std::vector<Type> types;
    std::vector<ProblemSize> shapes;  // empty: the suite's own
    bool quick = false;
    int rounds = 0;
    std::string command;
};

constexpr int kBlasRowMajor = 101, kAsIs = 111, kUpper = 121;

/// The two sides of the contest.
struct Libraries {
    void* drop_in = nullptr;
    void* blas = nullptr;

    Libraries() {
        const cpu::VendorLibrary* const openblas = cpu::vendor_library(cpu::Vendor::openblas);
        if (openblas == nullptr) {
            fail(ErrorCode::resource, "there is no OpenBLAS to compare with; install libopenblas0-pthread");
        }
        blas = loaded_library(openblas->path);
        // Beside the program in a build folder, in ../lib of an installed one.
        const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
        for (const std::string& place :
             {folder.string() + "/", folder.parent_path().string() + "/lib/", std::string()}) {
            drop_in =
                drop_in != nullptr ? drop_in : dlopen((place + "libheptad_blas.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        }
        if (blas == nullptr || drop_in == nullptr) {
            fail(ErrorCode::resource, "libheptad_blas.so cannot be loaded ({}); build it with `make build`", dlerror());
        }
    }
};

struct BlasLine {
    Type type = Type::f32;
    ProblemSize size;
    bool is_syrk = false;
};

std::vector<BlasLine> blas_lines_of(const BenchBlasArguments& bench) {
    std::vector<BlasLine> lines;
    for (const Type type : bench.types) {
        if (!bench.shapes.empty()) {
            for (const ProblemSize& size : bench.shapes) {
                lines.push_back({type, size});
                if (size.m == size.n) {
                    lines.push_back({type, size, true});
                }
            }
            continue;
        }
        const std::int64_t most = bench.quick || is_complex(type) ? 4096 : 8192;  // four times the work
        for (const std::int64_t n :
             {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1024, 1536, 2048, 3072, 4096, 6144, 8192}) {
            if (n <= most) {
                lines.push_back({type, {n, n, n}});
            }
        }
        for (const std::int64_t n : {512, 4096}) {
            for (const ProblemSize thin : {ProblemSize{n, 64, n}, ProblemSize{64, n, n}, ProblemSize{n, n, 64},
                                           ProblemSize{n, n, 1}, ProblemSize{1, n, n}, ProblemSize{n, 1, n}}) {
                lines.push_back({type, thin});
            }
        }
        for (const std::int64_t n : {1, 8, 64, 512, 1024, 2048, 4096, 8192}) {
            if (n <= most) {
                lines.push_back({type, {n, n, n}, true});
            }
        }
        for (const ProblemSize thin : {ProblemSize{4096, 64, 4096}, ProblemSize{64, 4096, 64}}) {
            lines.push_back({type, thin, true});
        }
    }
    return lines;
}

template <class T>
Contestant contestant(const char* name, void* library, const BlasLine& line, const Matrix& a, const Matrix& b,
                      Matrix& c) {
    const auto gemm = cblas_entry<CblasGemmEntry<T>>(library, line.type, "gemm");
    const auto syrk = cblas_entry<CblasSyrkEntry<T>>(library, line.type, "syrk");
    const auto* const x = static_cast<const T*>(a.view().data);
    const auto* const y = static_cast<const T*>(b.view().data);
    auto* const z = static_cast<T*>(c.view().data);
    const int m = static_cast<int>(line.size.m), k = static_cast<int>(line.size.k), n = static_cast<int>(line.size.n);
    const bool is_syrk = line.is_syrk;
    return {name, [=](std::int64_t calls) {
                const T one = 1, zero = 0;
                for (std::int64_t call = 0; call < calls; ++call) {
                    if (is_syrk) {
                        syrk(kBlasRowMajor, kUpper, kAsIs, n, k, cblas_factor(one), x, k, cblas_factor(zero), z, n);
                    } else {
                        gemm(kBlasRowMajor, kAsIs, kAsIs, m, n, k, cblas_factor(one), x, k, y, n, cblas_factor(zero), z,
                             n);
                    }
                }
            }};
}

/// The triangle that a syrk leaves alone, from the other one.
template <class T>
void mirror(Matrix& c) {
    auto* const data = static_cast<T*>(c.view().data);
    const std::int64_t n = c.rows();
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < i; ++j) {
            data[i * n + j] = data[j * n + i];
        }
    }
}

template <class T>
void call_once(const Libraries& libraries, Type type) {
    for (const bool is_syrk : {false, true}) {
        const BlasLine line{type, {1, 1, 1}, is_syrk};
        const Matrix a(type, 1, 1), b(type, 1, 1);
        Matrix c(type, 1, 1);
        contestant<T>("heptad", libraries.drop_in, line, a, b, c).run(1);
    }
}

template <class T>
BenchRecord run_line(const BlasLine& line, const Libraries& libraries, int rounds) {
    const Matrix a = generate("uniform", line.size.m, line.size.k, line.type, 1, {}, {0, {}, interrupt_token()});
    const Matrix b = generate("uniform", line.size.k, line.size.n, line.type, 2, {}, {0, {}, interrupt_token()});
    Matrix c(line.type, line.size.m, line.size.n);
    std::vector<double> errors(2);
    ContestHooks hooks;
    hooks.poison = [&] { poison_bytes(c.view().data, matrix_bytes(line.type, line.size.m, line.size.n)); };
    hooks.progress = [](int, int) { stop_if_interrupted(); };
    hooks.after_last_sample = [&](std::size_t i) {
        if (line.is_syrk) {
            mirror<T>(c);
        }
        const ConstView right = line.is_syrk ? transposed(ConstView(a.view())) : ConstView(b.view());
        ErrorOptions measure;
        measure.cancel = interrupt_token();
        errors[i] = measure_error(a.view(), right, c.view(), measure).normalised;
    };
    ContestRules rules;
    const double operations = operation_count(line.size, line.type);
    rules.rounds = rounds > 0 ? rounds : operations < 2e7 ? 25 : operations < 2e11 ? 9 : 5;
    rules.pause_s = operations < 2e7 ? 0.005 : rules.pause_s;
    const std::vector<Timing> timings = run_contest({contestant<T>("openblas", libraries.blas, line, a, b, c),
                                                     contestant<T>("heptad", libraries.drop_in, line, a, b, c)},
                                                    rules, hooks);
    BenchRecord record;
    record.suite = "blas";
    record.variant = line.is_syrk ? "syrk" : "gemm";
    record.type = line.type;
    record.size = line.size;
    set_times(record, timings[0], timings[1]);
    record.error = errors[1];
    record.vendor_error = errors[0];
    record.rounds = rules.rounds;
    return record;
}

void run(const BenchBlasArguments& bench) {
    require_writable(bench.results);
    const Libraries libraries;
    print(fmt::format("{:>6} {:>7}  {:<4} {:<5} {:>6} {:>6} {:>6} {:>10} {:>10} {:>10}\n", "ratio", "error x", "type",
                      "entry", "m", "k", "n", "openblas", "drop-in", "extra ns"));
    // The drop-in's entries look for the library that they stand before at their first call: while there is only one.
    call_once<float>(libraries, Type::f32);
    call_once<double>(libraries, Type::f64);
    call_once<std::complex<float>>(libraries, Type::c64);
    call_once<std::complex<double>>(libraries, Type::c128);
    std::vector<BenchRecord> records;
    for (const BlasLine& line : blas_lines_of(bench)) {
        records.push_back(line.type == Type::f32   ? run_line<float>(line, libraries, bench.rounds)
                          : line.type == Type::f64 ? run_line<double>(line, libraries, bench.rounds)
                          : line.type == Type::c64 ? run_line<std::complex<float>>(line, libraries, bench.rounds)
                                                   : run_line<std::complex<double>>(line, libraries, bench.rounds));
        const BenchRecord& done = records.back();
        const double extra_s = done.heptad_min_s - done.vendor_min_s;  // of the shortest: noise only adds
        print(fmt::format("{:>6.3f} {:>7}  {:<4} {:<5} {:>6} {:>6} {:>6} {:>10} {:>10} {:>10.0f}\n", done.ratio,
                          error_ratio_text(done), type_name(done.type), done.variant, done.size.m, done.size.k,
                          done.size.n, format_seconds(done.vendor_s), format_seconds(done.heptad_s), extra_s * 1e9));
        write_results(bench.results, bench.command, records);  // a run that is stopped leaves what it has
    }
    print(results_line(bench.results));
}

Command add_bench_blas(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand("blas", "the BLAS drop-in against the library that it preloads over");
    auto words = std::make_shared<BenchWords>();
    auto blas = std::make_shared<BenchBlasArguments>();
    blas->command = typed;
    add_value(*suite, "--types T,...", words->types, "of f32, f64, c64, c128 (default: all)");
    add_value(*suite, "--sizes N,...", words->sizes, "n or MxKxN (default: the suite's)");
    add_value(*suite, "--rounds N", words->rounds, "of each line (default: by its size)");
    suite->add_flag("--quick", blas->quick, "up to 4096");
    add_result_options(*suite, blas->results);
    suite->footer(
        "The drop-in's own settings are in the environment (docs/drop-in.md). Sizes with M = N are for syrk, too.\n"
        "The result files are written anew after every line, so a run that is stopped leaves what it has.\n"
        "Example: heptad bench blas --types f64 --sizes 1,64,2048,4096 --json result.json");
    return {suite, [words, blas] {
                for (const std::string& name : split(words->types.empty() ? "f32,f64,c64,c128" : words->types, ',')) {
                    blas->types.push_back(type_from_name(parse_choice("--types", name, {"f32", "f64", "c64", "c128"})));
                }
                blas->shapes = bench_sizes(words->sizes);
                blas->rounds = bench_rounds(words->rounds);
                return [blas] { run(*blas); };
            }};
}

const RegisterCommand registered_bench_blas({.parent = "bench", .order = 10, .add = add_bench_blas});

}  // namespace
}  // namespace heptad::cli
