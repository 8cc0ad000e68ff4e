// heptad verify: is C = alpha * op(A) * op(B) + beta * C0? Prints the residual and the chance of a miss.
#include <nlohmann/json.hpp>

#include "check_result.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "stage_hooks.hpp"

namespace heptad::cli {

void run(const VerifyArguments& arguments) {
    ProgressMeter meter;
    const VerifyResult result = verify_request(arguments.request, request_hooks(meter));
    if (!arguments.json) {
        print(describe(result));
    }
    require_passed_in_detail(result, arguments.request.product.output, "");
    if (arguments.json) {
        print(to_json(result));
    }
}

}  // namespace heptad::cli
