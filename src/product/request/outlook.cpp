// What to expect of a product: its errors, what binds it, and how much faster it is than the library's.
#include "plan/predict/error_bound.hpp"
#include "plan/search/stage_choice.hpp"
#include "product/device/device_product.hpp"
#include "product/device/over_devices.hpp"
#include "product/request/report.hpp"

namespace heptad {
namespace {

Options classical(const Options& options) {
    Options one;
    one.accuracy = Accuracy::strict;
    one.levels = 0;
    one.device = options.device;
    one.accumulate = options.accumulate;
    one.workspace_limit_bytes = options.workspace_limit_bytes;
    one.host = options.host;
    one.host.levels = 0;
    one.host.algorithm = "auto";
    return one;
}

bool takes_outer_levels_for_even_data(const RequestPlan& plan) {
    return !plan.given && plan.options.accuracy == Accuracy::balanced;
}

}  // namespace

void look_at_library(RequestPlan& plan, const ProductContext& context) {
    const auto& [m, k, n] = plan.size;
    const Options options = classical(plan.options);
    const bool on_device = plan.device >= 0 || is_device_product(options.device);
    if (on_device && plan.type == Type::i64) {  // no library has it there
        return;
    }
    ProductPlan library;
    if (plan.over) {
        try {
            library = make_plan_over_devices(plan.size, plan.type, plan.type, options, context).plan;
        } catch (const Error&) {  // no such cut fits
            return;
        }
    } else if (on_device) {
        library = plan_device_product(m, k, n, plan.type, options, context);
        if (plan.divided) {
            library.predicted_s =
                predicted_from_host_s(plan.size, plan.type, plan.type, options.accumulate, options, context);
        }
    } else {
        library = plan_library_product(m, k, n, plan.type, options, context);
    }
    plan.library = library.leaf;
    plan.library_s = library.predicted_s;
}

bool FileRequestPlan::disk_binds() const {
    return layers ? multiply_s() < read_s + write_s : heptad::disk_binds(problem, traffic);
}

double RequestPlan::growth() const {
    if (decided.disk || decided.host || decided.transfers || is_packed(decided)) {
        return 0;
    }
    return device >= 0 ? expected_growth_on_device(decided, device) : expected_growth_here(decided);
}

Outlook RequestPlan::outlook() const {
    const ProductPlan& plan = decided;
    const double measured = growth();
    Outlook outlook{
        promised_error(plan, measured > 0 ? measured : expected_growth(plan), takes_outer_levels_for_even_data(*this))};
    const bool is_library =
        level_count(plan) == 0 && !plan.padded && plan.leaf == library && plan.complex != ComplexWay::three_products;
    if (!is_library && library_s > 0 && plan.predicted_s > 0) {
        outlook.speedup = library_s / plan.predicted_s;
        outlook.library = library;
    }
    return outlook;
}

Outlook Report::outlook() const {
    if (files) {
        return {promised_error(files->plan, expected_growth(files->plan), takes_outer_levels_for_even_data(plan))};
    }
    const bool whole = !plan.over && !plan.divided;
    return products.fell_back && whole ? Outlook{classical_promise(plan.decided)} : plan.outlook();
}

}  // namespace heptad
