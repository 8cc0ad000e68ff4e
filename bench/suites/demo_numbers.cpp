#include <fmt/format.h>

#include <algorithm>

#include "base/types.hpp"
#include "bench/suites/bench_product.hpp"
#include "bench/suites/demo_lines.hpp"
#include "bench/suites/measured_error.hpp"
#include "io/generate.hpp"

namespace heptad::cli {
namespace {

std::string square(Type type, std::int64_t n) {
    return fmt::format("{} {} x {}", type_name(type), n, n);
}

/// Floats: over the other way's error, or over one rounding where that has none.
std::string error_text(Type type, double ours, double theirs, const std::string& whose) {
    const double roundoff = unit_roundoff(type);
    return roundoff == 0 ? std::string("none: exact")
                         : fmt::format("{:.2g} x {}", ours / std::max(theirs, roundoff), whose);
}

Context context_of(const DemoSettings& settings) {
    Context context;
    return context.set_threads(settings.threads);
}

/// Against a classical product by Heptad itself, of the same type.
DemoLine against_classical(const std::string& kind, Type type, std::int64_t n, Accuracy accuracy,
                           const DemoSettings& settings) {
    const Matrix a = generate("uniform", n, n, type, 1), b = generate("uniform", n, n, type, 2);
    Matrix c(type, n, n);
    const Context context = context_of(settings);
    const auto way = [&](const std::string& name, const Options& options) {
        return Contestant{name, [&a, &b, &c, &context, options](std::int64_t calls) {
                              for (std::int64_t call = 0; call < calls; ++call) {
                                  multiply(1.0, a.view(), b.view(), 0.0, c.view(), options, context);
                              }
                          }};
    };
    Options classical, asked;
    classical.levels = 0;
    asked.accuracy = accuracy;
    std::vector<double> errors(2);
    ContestHooks hooks;
    hooks.poison = [] {};
    hooks.progress = [&](int, int) { settings.stop_if_interrupted(); };
    hooks.after_last_sample = [&](std::size_t i) { errors[i] = measure_error(a, b, c).normalised; };
    ContestRules rules;
    rules.rounds = settings.rounds;
    const std::vector<Timing> timings = run_contest({way("classical", classical), way("heptad", asked)}, rules, hooks);
    return {kind,
            square(type, n),
            timings[1].median_s,
            timings[0].median_s / timings[1].median_s,
            "classical",
            error_text(type, errors[1], errors[0], "classical's")};
}

DemoLine against_library(Type type, std::int64_t n, const DemoSettings& settings) {
    if (!has_vendor(type)) {
        return against_classical(type_name(type), type, n, Accuracy::balanced, settings);
    }
    const Matrix a = generate("uniform", n, n, type, 1), b = generate("uniform", n, n, type, 2);
    Matrix c(type, n, n);
    BenchSettings bench;
    bench.suite = "demo";
    bench.threads = settings.threads;
    bench.rules.rounds = settings.rounds;
    const BenchRecord record = bench_product(a, b, c, bench, [](int, int) {});
    return {type_name(type), square(type, n),
            record.heptad_s, record.ratio,
            record.vendor,   error_text(type, record.error, record.vendor_error, record.vendor + "'s")};
}

}  // namespace

std::vector<DemoStep> demo_number_steps() {
    return {[](const DemoSettings& settings) { return against_library(Type::f32, settings.size(3072), settings); },
            [](const DemoSettings& settings) { return against_library(Type::f64, settings.size(2048), settings); },
            [](const DemoSettings& settings) { return against_library(Type::i32, settings.size(768), settings); },
            [](const DemoSettings& settings) {
                return against_classical("bf16", Type::bf16, settings.size(2048), Accuracy::balanced, settings);
            },
            [](const DemoSettings& settings) {
                return against_classical("exact", Type::f64, settings.size(512), Accuracy::exact, settings);
            }};
}

}  // namespace heptad::cli
