// heptad plan M K N: what a product would do, its workspace, predicted time and error bound. Multiplies nothing.
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "output.hpp"
#include "plan_cluster.hpp"
#include "plan_text.hpp"

namespace heptad::cli {

void run(const PlanArguments& arguments) {
    if (arguments.cluster) {
        print_cluster_plan(arguments);
        return;
    }
    const RequestPlan plan =
        plan_request(arguments.request, arguments.size, arguments.files, arguments.disk_bytes_per_s);
    arguments.json ? print(plan_json(plan)) : print(plan_text(plan));
}

}  // namespace heptad::cli
