// heptad mul: C = alpha * op(A) * op(B) + beta * C0, from files to a file, wherever the product is made.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "base/thread_pool.hpp"
#include "check_result.hpp"
#include "command.hpp"
#include "io/machine_file.hpp"
#include "option_words.hpp"
#include "output.hpp"
#include "plan_text.hpp"
#include "progress.hpp"

namespace heptad::cli {
namespace {

/// Below, nobody would notice a better plan.
constexpr double kWorthASentence_s = 0.2;

/// Did the planner choose, for numbers in memory, on the processor? Only then does `heptad tune` change anything.
bool was_chosen_here(const Report& report, const Request& request) {
    const bool left_open = request.options.algorithm == "auto" && request.options.levels < 0 &&
                           request.options.leaf == "auto" && !request.plan && request.plan_file.empty();
    const bool numbers = report.plan.type != Type::gf2 && report.plan.type != Type::boolean;
    return left_open && numbers && !report.files && report.plan.device < 0 && !report.plan.given && !report.plan.over &&
           !report.plan.divided;
}

/// True for the first who asks.
bool is_first_time(const std::filesystem::path& mark) {
    std::error_code failed;
    std::filesystem::create_directories(mark.parent_path(), failed);
    const int file = ::open(mark.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (file < 0) {
        return false;
    }
    ::close(file);
    return true;
}

/// To standard error, where the product was planned here from built-in figures and was long enough for a better plan to
/// show. That it was said is kept beside the file that `heptad tune` would write; where that cannot be, nothing is
/// said.
void suggest_tune_once(const Report& report, const Request& request) try {
    const std::string file = tune_file();
    if (!was_chosen_here(report, request) || report.plan.decided.predicted_s < kWorthASentence_s || file.empty() ||
        load_machine(threads_or_default(request.threads), NamedFile::may_be_missing).measured ||
        !is_first_time(file + ".suggested")) {
        return;
    }
    std::fputs(
        "hint: run 'heptad tune' once (two minutes) to measure this machine and make later plans better (this hint "
        "appears once)\n",
        stderr);
} catch (const std::exception&) {  // the product is done: a hint is no reason to fail
}

void run(const MulArguments& mul) {
    Request request = mul.request;
    request.output = claim_output(request.output);
    request.trace_file = request.trace_file.empty() ? "" : claim_output(request.trace_file);
    ProgressMeter meter;
    Report report;
    try {
        report = multiply_request(request, request_hooks(meter));
    } catch (const NotVerified& failure) {
        meter.clear();
        throw detailed(failure);
    }
    print_report(report, request, mul.json);
    if (!mul.json && mul.request.output != "-") {
        suggest_tune_once(report, request);
    }
}

Command add_mul(CLI::App& root, const std::string& /*typed*/) {
    const MulWords words = add_mul_words(root);
    return {words.app, [words] { return [mul = words.arguments()] { run(mul); }; }};
}

const RegisterCommand registered_mul({.order = 1, .add = add_mul});

}  // namespace
}  // namespace heptad::cli
