#include "api/drop_in/product_log.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include <fmt/format.h>
#include "api/drop_in/knobs.hpp"
#include "base/quantity_text.hpp"
#include "base/shared_state.hpp"

namespace heptad::drop_in {
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
constinit Guarded<std::map<std::string, std::uint32_t>> sentences;  // and in which process they were last said

std::string plan_words(const ProductPlan& plan) {
    std::string levels;
    for (const LevelPlan& level : plan.levels) {
        levels += fmt::format("{}{}", levels.empty() ? "" : ",", level.algorithm);
    }
    const std::string threads = is_on_device(plan) ? "" : fmt::format(" threads={}", plan.threads);
    const std::string residues =
        is_by_residues(plan) ? fmt::format(" arithmetic=residues:{}", plan.arithmetic.moduli) : "";
    return fmt::format("{}{}{} levels={} leaf={}", plan.backend, threads, residues, levels.empty() ? "none" : levels,
                       plan.leaf);
}

void write_records() {
    std::string text;
    {
        const auto said = sentences.lock();
        for (const auto& [sentence, process] : *said) {
            text += process == process_generation() ? fmt::format("heptad: {}\n", sentence) : "";
        }
    }
    const auto all = records.lock();
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
    if (file == nullptr) {
        std::fprintf(stderr, "heptad: HEPTAD_LOG is '%s', which cannot be written; set it to 1 or to another file\n",
                     knobs().log.c_str());
        return;
    }
    std::fputs(text.c_str(), file);
    file == stderr ? std::fflush(file) : std::fclose(file);
}

void write_at_exit() {
    static constinit Once<bool> at_exit;
    at_exit.get([] { return std::atexit(write_records) == 0; });
}

}  // namespace

bool is_logged() {
    return !knobs().log.empty();
}

void log_product(const char* entry, const ProblemSize& size, const ProductPlan& plan, double seconds,
                 double library_seconds) {
    if (!is_logged()) {
        return;
    }
    write_at_exit();
    const auto all = records.lock();
    Record& record = (*all)[{entry, size.m, size.k, size.n}];
    if (record.process != process_generation()) {
        record = {};
        record.process = process_generation();
    }
    ++record.calls;
    record.seconds += seconds;
    record.library_seconds += library_seconds;
    record.plan = plan_words(plan);
}

void log_sentence(const std::string& sentence) {
    if (is_logged()) {
        write_at_exit();
        (*sentences.lock())[sentence] = process_generation();
    }
}

}  // namespace heptad::drop_in
