#include "tune_hint.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <cstdio>
#include <filesystem>

#include "base/thread_pool.hpp"
#include "io/machine_file.hpp"

namespace heptad::cli {
namespace {

/// Below, nobody would notice a better plan.
constexpr double kWorthASentence_s = 0.2;

/// Did the planner choose, for numbers in memory, on the processor? Only then does `heptad tune` change anything.
bool was_chosen_here(const Report& report, const Request& request) {
    const bool left_open = request.options.algorithm == "auto" && request.options.levels < 0 &&
                           request.options.leaf == "auto" && !request.plan && request.plan_file.empty();
    const bool numbers = report.plan.type != Type::gf2 && report.plan.type != Type::boolean;
    return left_open && numbers && !report.files && report.plan.device < 0 && !report.plan.given &&
           std::holds_alternative<ProductPlan>(report.plan.decided);
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

}  // namespace

void suggest_tune_once(const Report& report, const Request& request) try {
    const std::string file = tune_file();
    if (!was_chosen_here(report, request) || report.plan.facts().predicted_s < kWorthASentence_s || file.empty() ||
        load_machine(threads_or_default(request.threads), NamedFile::may_be_missing).measured ||
        !is_first_time(file + ".suggested")) {
        return;
    }
    std::fputs(
        "hint: run 'heptad tune' once (two minutes) to measure this machine; later plans fit it better (this hint "
        "appears "
        "once)\n",
        stderr);
} catch (const std::exception&) {  // the product is done: a hint is no reason to fail
}

}  // namespace heptad::cli
