#include "mul_over_devices.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/cuda/device/device.hpp"
#include "operands.hpp"
#include "product/device/device_list.hpp"
#include "product/device/device_product.hpp"
#include "product/device/over_devices.hpp"
#include "text.hpp"

namespace heptad::cli {

bool goes_over_devices(const ProductOptions& product, std::int64_t operand_bytes) {
    const Options& options = product.options;
    return is_device_list(options.device) ||
           (is_device_product(options.device) && goes_beyond_device(operand_bytes, options));
}

std::string print_plan(const HostPlan& plan) {
    std::string text = to_string(plan) + "\n";
    text += plan.levels > 0 ? fmt::format("# host            {} level{} of {} (d_h = {})\n", plan.levels,
                                          plan.levels == 1 ? "" : "s", plan.algorithm, plan.levels)
                            : fmt::format("# host            segments of C, {} step{} along k (d_h = 0)\n", plan.grid.k,
                                          plan.grid.k == 1 ? "" : "s");
    text += fmt::format("# products        {} of {} x {} x {}, on {} device{} by {} pipeline{} each\n", plan.tasks,
                        plan.block.m, plan.block.k, plan.block.n, plan.device_count, plan.device_count == 1 ? "" : "s",
                        plan.pipelines, plan.pipelines == 1 ? "" : "s");
    text += fmt::format("# memory          {} on each device ({} of them workspace), {} of buffers on the host{}\n",
                        format_bytes(plan.device_bytes), format_bytes(plan.workspace_bytes),
                        format_bytes(plan.host_bytes), plan.in_place ? " (blocks are read and written in place)" : "");
    text += fmt::format("# transfers       {} there, {} back\n", format_bytes(plan.upload_bytes),
                        format_bytes(plan.download_bytes));
    text += fmt::format("# stages          solve {}, upload {}, download {}, host {}; {} binds\n",
                        format_seconds(plan.solve_s), format_seconds(plan.upload_s), format_seconds(plan.download_s),
                        format_seconds(plan.host_s), plan.binds());
    const double operations = operation_count(plan.size);
    text += fmt::format("# predicted time  {}", format_seconds(plan.predicted_s));
    if (plan.predicted_s > 0 && operations > 0) {
        text += fmt::format(" ({} effective)", format_rate(operations / plan.predicted_s, plan.type));
    }
    text += plan.error_bound > 0 ? fmt::format("\n# error bound     {:.3g} * max|A| * max|B|\n", plan.error_bound)
                                 : std::string("\n# error bound     0 (exact)\n");
    text += "# to carry it out give mul the same options; --plan takes back plans of whole products only\n";
    return text;
}

nlohmann::ordered_json plan_json(const HostPlan& plan, std::int64_t operand_bytes) {
    return {{"m", plan.size.m},
            {"k", plan.size.k},
            {"n", plan.size.n},
            {"type", type_name(plan.type)},
            {"devices", plan.devices},
            {"device_count", plan.device_count},
            {"levels", plan.levels},
            {"host_algorithm", plan.algorithm},
            {"block", {plan.block.m, plan.block.k, plan.block.n}},
            {"tasks", plan.tasks},
            {"pipelines", plan.pipelines},
            {"in_place", plan.in_place},
            {"operand_bytes", operand_bytes},
            {"workspace_bytes", plan.host_bytes},
            {"device_bytes", plan.device_bytes},
            {"upload_bytes", plan.upload_bytes},
            {"download_bytes", plan.download_bytes},
            {"solve_s", plan.solve_s},
            {"upload_s", plan.upload_s},
            {"download_s", plan.download_s},
            {"host_s", plan.host_s},
            {"binds", plan.binds()},
            {"bound_s", plan.bound_s()},
            {"predicted_s", plan.predicted_s},
            {"error_bound", plan.error_bound},
            {"plan", to_string(plan)}};
}

void add_wall_over_bound(nlohmann::ordered_json& object, double multiply_s) {
    const auto bound = object.find("bound_s");
    if (bound != object.end() && bound->get<double>() > 0) {
        object["wall_over_bound"] = multiply_s / bound->get<double>();
    }
}

}  // namespace heptad::cli
