// What a call would have taken otherwise is not known, since it was not made. The library is timed once per type, on a
// product of kProbeSide; only where there is a log.
#include "api/blas/call_log.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include <fmt/format.h>
#include "api/blas/knobs.hpp"
#include "base/quantity_text.hpp"
#include "base/shared_state.hpp"

namespace heptad::blas {
namespace {

struct Shape {
    std::string entry;
    std::int64_t m = 0, k = 0, n = 0;
    auto operator<=>(const Shape&) const = default;
};

struct Record {
    std::int64_t calls = 0;
    std::uint32_t process = 0;  // the child of a fork does not tell of its parent's calls
    double seconds = 0, library_seconds = 0;
    std::string plan;
};

constinit Guarded<std::map<Shape, Record>> records;

std::string plan_words(const ProductPlan& plan) {
    std::string levels;
    for (const LevelPlan& level : plan.levels) {
        levels += fmt::format("{}{}", levels.empty() ? "" : ",", level.algorithm);
    }
    return fmt::format("{} threads={} levels={} leaf={}", plan.backend, plan.threads, levels.empty() ? "none" : levels,
                       plan.leaf);
}

void write_records() {
    const auto all = records.lock();
    std::string text;
    for (const auto& [shape, record] : *all) {
        if (record.process != process_generation()) {
            continue;
        }
        text += fmt::format("heptad: {} {}x{}x{}: {} call{}, {}, {} instead of about {}, saved {:.3f} s\n", shape.entry,
                            shape.m, shape.k, shape.n, record.calls, record.calls == 1 ? "" : "s", record.plan,
                            format_seconds(record.seconds), format_seconds(record.library_seconds),
                            record.library_seconds - record.seconds);
    }
    std::FILE* const file = knobs().log == "1" ? stderr : std::fopen(knobs().log.c_str(), "a");
    if (file != nullptr) {
        std::fputs(text.c_str(), file);
        file == stderr ? std::fflush(file) : std::fclose(file);
    }
}

}  // namespace

void log_call(const GemmCall& call, RealFunction& real, ProbeSeconds probe, const ProductPlan& plan, double seconds) {
    if (knobs().log.empty()) {
        return;
    }
    static constinit Once<bool> at_exit;
    at_exit.get([] { return std::atexit(write_records) == 0; });
    static constinit std::array<Once<double>, 2> rates;
    const double rate = rates[call.a.type == Type::f64 ? 1 : 0].get(
        [&] { return 2 * std::pow(kProbeSide, 3) / std::max(probe(real), 1e-9); });
    const std::int64_t m = call.a.rows, k = call.a.cols, n = call.b.cols;
    const auto all = records.lock();
    Record& record = (*all)[{real.name(), m, k, n}];
    if (record.process != process_generation()) {
        record = {};
        record.process = process_generation();
    }
    ++record.calls;
    record.seconds += seconds;
    record.library_seconds += 2 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n) / rate;
    record.plan = plan_words(plan);
}

}  // namespace heptad::blas
