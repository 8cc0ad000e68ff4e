// Outer levels of a product from file to file, as asked for; and a word where they would pay.
#include <fmt/format.h>

#include "base/fail_if.hpp"
#include "base/quantity_text.hpp"
#include "base/types.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/device_list.hpp"
#include "product/request/file_stage.hpp"

namespace heptad {
namespace {

constexpr const char* kUsualAlgorithm = "strassen";  // its sums have the fewest blocks: each is read from the disk
constexpr double kClearlyFaster = 0.95;
constexpr double kWorthPlanning_s = 300;  // to find that out takes seconds

/// For devices the same options mean levels within a step.
bool is_on_processor(const Request& request) {
    return !is_device_list(request.options.device) && !cuda::is_device_name(request.options.device);
}

/// Their sums round.
bool allows_no_levels(Accuracy accuracy, Type type) {
    return unit_roundoff(type) > 0 && (accuracy == Accuracy::strict || accuracy == Accuracy::exact);
}

}  // namespace

OuterLevels outer_levels(const Request& request, Type type) {
    const HostOptions& host = request.options.host;
    if (!is_on_processor(request) || host.levels <= 0) {
        return {};
    }
    fail_if(is_complex(type), ErrorCode::usage,
            "levels through files are for real numbers, and these are {}; leave --host-levels out", type_name(type));
    fail_if(allows_no_levels(request.options.accuracy, type), ErrorCode::usage,
            "--accuracy {} allows no levels through files, and --host-levels asks for {}; leave one of the two out",
            accuracy_name(request.options.accuracy), host.levels);
    return {host.algorithm == "auto" ? kUsualAlgorithm : host.algorithm, host.levels};
}

void refuse_outer_levels(const Request& request, const std::string& why) {
    if (is_on_processor(request) && request.options.host.levels >= 0) {
        fail(ErrorCode::usage,
             "--host-levels is for products over devices, and on the processor for numbers from file to file, but {}; "
             "leave it out",
             why);
    }
}

std::string outer_level_hint(const Request& request, const FileProblem& problem, const FileLaunch& launch,
                             const StageProducts& stage) {
    const double now_s = launch.plan.predicted_s;
    if (!is_on_processor(request) || request.options.host.levels >= 0 || now_s < kWorthPlanning_s ||
        allows_no_levels(request.options.accuracy, problem.type)) {
        return "";
    }
    try {
        const FileLaunch with = plan_file_product(problem, stage, {kUsualAlgorithm, 1});
        const double with_s = with.plan.predicted_s;
        if (with_s > kClearlyFaster * now_s) {
            return "";
        }
        return fmt::format("with --host-levels 1 predicted {} instead of {}, {} more disk traffic, {} for products",
                           format_seconds(with_s), format_seconds(now_s),
                           format_bytes(with.moved_bytes() - launch.moved_bytes()),
                           format_bytes(with.layers->scratch_bytes()));
    } catch (const Error&) {  // not for this type, or not in this memory
        return "";
    }
}

}  // namespace heptad
