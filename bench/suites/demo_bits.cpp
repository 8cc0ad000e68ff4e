#include <fmt/format.h>

#include <heptad/check.hpp>

#include "base/error.hpp"
#include "bench/suites/bench_contest.hpp"
#include "bench/suites/bit_loop.hpp"
#include "bench/suites/demo_lines.hpp"

namespace heptad::cli {
namespace {

constexpr double kHalf = 0.5;
constexpr double kFew = 0.013;  // of the bits of A and B are ones: about half of those of a Boolean product then

DemoLine against_loop(Type algebra, double density, const DemoSettings& settings) {
    const std::int64_t n = settings.size(4096);
    const BitMatrix a = BitMatrix::random(n, n, 1, density), b = BitMatrix::random(n, n, 2, density);
    BitMatrix by_loop(n, n), c(n, n);
    Context context;
    context.set_threads(settings.threads);
    ContestHooks hooks;
    hooks.poison = [] {};
    hooks.progress = [&](int, int) { settings.stop_if_interrupted(); };
    hooks.after_last_sample = [](std::size_t) {};
    ContestRules rules;
    rules.rounds = settings.rounds;
    const auto times = [](std::int64_t calls, auto&& product) {
        for (std::int64_t call = 0; call < calls; ++call) {
            product();
        }
    };
    const std::vector<Timing> timings =
        run_contest({{"loop",
                      [&](std::int64_t calls) {
                          times(calls, [&] { multiply_bits_by_loop(algebra, a, b, by_loop, settings.threads); });
                      }},
                     {"heptad",
                      [&](std::int64_t calls) {
                          times(calls, [&] { bits::multiply(algebra, a, b, c.view(), {.device = "cpu"}, context); });
                      }}},
                    rules, hooks);
    if (!(c == by_loop)) {
        fail(ErrorCode::verification, "the product of {} x {} bits differs from a loop's", n, n);
    }
    return {type_name(algebra),  fmt::format("{} x {} bits", n, n),
            timings[1].median_s, timings[0].median_s / timings[1].median_s,
            "a loop over words", "none: exact"};
}

}  // namespace

std::vector<DemoStep> demo_bit_steps() {
    return {[](const DemoSettings& settings) { return against_loop(Type::gf2, kHalf, settings); },
            [](const DemoSettings& settings) { return against_loop(Type::boolean, kFew, settings); }};
}

}  // namespace heptad::cli
