// heptad bench bits: products of packed bit matrices. Over GF(2) against M4RI (a process of its own, where it was
// built), for booleans against a loop over the words of rows, and A^8 in the chaining basis against three products.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "bench/suites/bench_machine.hpp"
#include "bench/suites/bench_product.hpp"
#include "bench/suites/bench_words.hpp"
#include "bench/suites/bit_loop.hpp"
#include "bench/suites/m4ri_process.hpp"
#include "bench/suites/result_files.hpp"
#include "check/verify_bits.hpp"
#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "product/request/memory_limits.hpp"
#include "run/bits/bit_chain.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kLargestPower = std::int64_t{1} << 20;

struct BenchBitsArguments {
    ResultFiles results;
    std::vector<Type> types;
    std::vector<ProblemSize> shapes;  // empty: the suite's own
    std::vector<double> densities;    // of ones; empty: a half, and for booleans also so few that half of C is ones
    std::int64_t power_size = 0;      // of A^8; 0: the suite's own, and none where sizes are named
    bool quick = false;
    int rounds = 0;  // 0: by the size of the product
    std::string leaf = "auto", algorithm = "auto";
    int levels = -1;  // -1: as many as pay
    int threads = 0;
    std::string command;  // as typed, for the result file
};

constexpr std::int64_t kBitSquares[] = {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
constexpr std::int64_t kQuickBitSquares[] = {512, 2048, 4096, 8192};
constexpr std::int64_t kPowerSize = 8192;
constexpr std::int64_t kPowerExponent = 8;
constexpr double kBitHalf = 0.5;  // of the bits are ones

ContestRules rules_for(const ProblemSize& size, const BenchBitsArguments& bench) {
    ContestRules rules;
    rules.rounds = bench.rounds > 0 ? bench.rounds : bench.quick || operation_count(size) > 1e14 ? 3 : 5;
    rules.pause_s = 0.03;  // the threads of M4RI, in a process of its own, look for work so long before they sleep
    rules.sample_s = 0.1;  // many calls of a small product, of which the first finds its matrices out of the caches
    return rules;
}

bits::BitOptions options_of(const BenchBitsArguments& bench) {
    return {bench.algorithm, bench.levels, bench.leaf};
}

/// Fields that all lines have.
BenchRecord record_of(const BenchBitsArguments& bench, Type type, const ProblemSize& size, const std::string& plan) {
    BenchRecord record;
    record.suite = "bits";
    record.type = type;
    record.size = size;
    record.threads = bench.threads;
    record.plan = plan;
    return record;
}

void poison(BitMatrix& c) {
    std::fill_n(c.view().words, c.rows() * c.stride(), 0x5555555555555555U);
}

BenchRecord bench_line(const BenchBitsArguments& bench, Type type, const ProblemSize& size, double density,
                       M4riProcess& m4ri, const std::function<void(int, int)>& progress) {
    const ProductPlan plan = bits::make_bit_plan(type, size, options_of(bench), bench.threads);
    const BitMatrix a = BitMatrix::random(size.m, size.k, 1, density),
                    b = BitMatrix::random(size.k, size.n, 2, density);
    BitMatrix c(size.m, size.n);
    std::vector<Contestant> contestants;
    if (type == Type::boolean) {
        contestants.push_back({"loop", [&](std::int64_t calls) {
                                   for (std::int64_t call = 0; call < calls; ++call) {
                                       multiply_bits_by_loop(type, a, b, c, bench.threads);
                                   }
                               }});
    } else if (m4ri.started()) {
        m4ri.prepare(size, bench.threads);
        contestants.push_back({"m4ri", {}, false, [&](std::int64_t calls) { return m4ri.run(calls); }});
    }
    contestants.push_back({"heptad", [&](std::int64_t calls) {
                               for (std::int64_t call = 0; call < calls; ++call) {
                                   bits::multiply_bits(plan, a, b, c.view(), false, {});
                               }
                           }});
    ContestHooks hooks;
    hooks.poison = [&] { poison(c); };
    hooks.progress = progress;
    hooks.after_last_sample = [&](std::size_t contestant) {
        if (contestant + 1 == contestants.size() && !verify_bits(type, a, b, c, {}).passed()) {
            fail(ErrorCode::verification, "the product of {} x {} x {} in {} is wrong", size.m, size.k, size.n,
                 type_name(type));
        }
    };
    const std::vector<Timing> timings = run_contest(contestants, rules_for(size, bench), hooks);
    BenchRecord record = record_of(bench, type, size, to_string(plan));
    record.levels = static_cast<int>(plan.levels.size());
    record.workspace_bytes = plan.workspace_bytes;
    record.predicted_s = plan.predicted_s;
    if (density != kBitHalf) {
        record.plan += fmt::format(" density {:.4g}", density);
    }
    if (timings.size() > 1) {
        set_times(record, timings.front(), timings.back());
        record.libraries_s = {{record.vendor, record.vendor_s}};
    } else {  // nothing to compare with
        set_times_alone(record, timings.back());
    }
    return record;
}

/// A^8 against three products, each of which leaves the packed layout and the basis.
BenchRecord bench_power(const BenchBitsArguments& bench, std::int64_t n,
                        const std::function<void(int, int)>& progress) {
    const BitMatrix a = BitMatrix::random(n, n, 1);
    const bits::BitContext context{bench.threads};
    const bits::BitOptions separate{"auto", -1, bench.leaf};
    BitMatrix power, squares[3] = {BitMatrix(n, n), BitMatrix(n, n), BitMatrix(n, n)};
    const std::vector<Contestant> contestants{
        {"3 products",
         [&](std::int64_t calls) {
             for (std::int64_t call = 0; call < calls; ++call) {
                 const BitMatrix* factor = &a;
                 for (BitMatrix& square : squares) {
                     bits::multiply_bits(Type::gf2, *factor, *factor, square.view(), false, separate, context);
                     factor = &square;
                 }
             }
         }},
        {"heptad", [&](std::int64_t calls) {
             for (std::int64_t call = 0; call < calls; ++call) {
                 power = bits::raise(Type::gf2, a, kPowerExponent, separate, context);
             }
         }}};
    ContestHooks hooks;
    hooks.poison = [] {};
    hooks.progress = progress;
    hooks.after_last_sample = [&](std::size_t contestant) {
        if (contestant == 1 && !(power == squares[2])) {
            fail(ErrorCode::verification, "A^{} of size {} differs from three products", kPowerExponent, n);
        }
    };
    const ProblemSize size{n, n, n};
    const std::vector<Timing> timings = run_contest(contestants, rules_for(size, bench), hooks);
    const bits::ChainPlan chain = bits::make_chain_plan(Type::gf2, {n, n, n, n, n}, separate, bench.threads);
    const ProductPlan& plan = chain.plans.front();
    BenchRecord record =
        record_of(bench, Type::gf2, size,
                  fmt::format("power {}, {}, {}", kPowerExponent,
                              chain.packed ? "packed throughout" : "separate products", to_string(plan)));
    record.levels = static_cast<int>(plan.levels.size());
    record.predicted_s = chain.predicted_s;
    record.workspace_bytes = plan.workspace_bytes;
    set_times(record, timings[0], timings[1]);
    record.libraries_s = {{record.vendor, record.vendor_s}};
    record.effective_tops *= 3;
    return record;
}

/// Half of the bits: rows of a Boolean product fill up early. Few of them: they do not, and half of C is one.
std::vector<double> densities_of(const BenchBitsArguments& bench, Type type, const ProblemSize& size) {
    if (!bench.densities.empty()) {
        return bench.densities;
    }
    const double few = std::sqrt(0.7 / static_cast<double>(std::max<std::int64_t>(size.k, 1)));
    return type == Type::boolean ? std::vector{kBitHalf, std::min(kBitHalf, few)} : std::vector{kBitHalf};
}

std::int64_t needed_bytes(const ProblemSize& size) {
    return size.m / 8 * size.k * 12;  // three matrices, packed copies, the same again for M4RI
}

void run(const BenchBitsArguments& bench) {
    BenchBitsArguments settings = bench;
    settings.threads = threads_or_default(bench.threads);
    require_writable(bench.results);
    std::vector<ProblemSize> shapes = bench.shapes;
    if (shapes.empty()) {
        for (const std::int64_t n : bench.quick ? std::vector(std::begin(kQuickBitSquares), std::end(kQuickBitSquares))
                                                : std::vector(std::begin(kBitSquares), std::end(kBitSquares))) {
            shapes.push_back({n, n, n});
        }
    }
    M4riProcess m4ri;
    ProgressMeter meter;
    meter.begin("bench bits");
    print(machine_line());
    if (!m4ri.started()) {
        print("M4RI: not built (install libm4ri-dev and build again); only Heptad's times are given over GF(2)\n");
    }
    print(table_head());
    std::vector<BenchRecord> records;
    const auto add = [&](const std::string& name, auto&& line) {
        stop_if_interrupted();
        records.push_back(line([&](int round, int rounds) {
            stop_if_interrupted();
            meter.update(static_cast<double>(round) / rounds, name);
        }));
        meter.clear();
        print(table_row(records.back()));
    };
    for (const Type type : bench.types) {
        for (const ProblemSize& size : shapes) {
            const std::string name = fmt::format("{} {}x{}x{}", type_name(type), size.m, size.k, size.n);
            if (bench.shapes.empty() && needed_bytes(size) > memory_limit_bytes({})) {
                meter.clear();
                print(fmt::format("     -  {} left out: it needs {} of memory\n", name,
                                  format_bytes(needed_bytes(size))));
                continue;
            }
            for (const double density : densities_of(bench, type, size)) {
                if (density != kBitHalf) {
                    meter.clear();
                    print(fmt::format("     -  density {:.4g}:\n", density));
                }
                add(name,
                    [&](const auto& progress) { return bench_line(settings, type, size, density, m4ri, progress); });
            }
        }
        if (type == Type::gf2 && (bench.shapes.empty() || bench.power_size > 0)) {
            const std::int64_t n = bench.power_size > 0 ? bench.power_size : bench.quick ? kPowerSize / 4 : kPowerSize;
            add(fmt::format("power 8, {}", n),
                [&](const auto& progress) { return bench_power(settings, n, progress); });
            print(fmt::format("     -  A^{} of size {} saves {:.1f} % of the time of three separate products\n",
                              kPowerExponent, n, 100 * (1 - 1 / records.back().ratio)));
        }
    }
    write_results(bench.results, bench.command, records);
    print(results_line(bench.results));
}

struct BitWords : BenchWords {
    std::string power;
};

Command add_bench_bits(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand("bits", "bit matrices: over GF(2) against M4RI, Boolean, powers");
    auto words = std::make_shared<BitWords>();
    auto bits = std::make_shared<BenchBitsArguments>();
    bits->command = typed;
    add_value(*suite, "--types T,...", words->types, "of gf2, bool (default: both)");
    add_value(*suite, "--sizes N,...", words->sizes, "n or MxKxN (default: the suite's)");
    add_value(*suite, "--leaf NAME", words->leaf, "auto (default), gfni, table-avx512, table-avx2 ...");
    add_value(*suite, "--algorithm NAME", words->algorithm,
              "auto (default), winograd, self-inverse, chaining, classical");
    add_value(*suite, "--levels N", words->levels, "exactly this many (default: the predicted best)");
    add_value(*suite, "--density D,...", words->density,
              "shares of ones, a line each (default: 0.5, and for bool also where half of C is ones)");
    add_value(*suite, "--power N", words->power, "also A^8 of this size");
    add_value(*suite, "--rounds R", words->rounds, "samples of each (default: by the size of the product)");
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
                bits->rounds = bench_rounds(words->rounds);
                bits->leaf = words->leaf.empty() ? "auto" : words->leaf;
                bits->algorithm = words->algorithm.empty() ? "auto" : words->algorithm;
                if (!words->levels.empty()) {
                    bits->levels = static_cast<int>(parse_integer("--levels", words->levels, 0, kMostLevels));
                }
                bits->threads = thread_count(words->threads);
                return [bits] { run(*bits); };
            }};
}

const RegisterCommand registered_bench_bits({.parent = "bench", .order = 3, .add = add_bench_bits});

}  // namespace
}  // namespace heptad::cli
