// heptad plan M K N: what a product would do, its workspace, predicted time and error bound. Multiplies nothing.
#include <nlohmann/json.hpp>

#include "base/size.hpp"
#include "commands.hpp"
#include "operands.hpp"
#include "output.hpp"
#include "place/memory/matrix.hpp"
#include "plan_text.hpp"

namespace heptad::cli {

void run(const PlanArguments& arguments) {
    const ProblemSize& size = arguments.size;
    const Type type = arguments.product.type.value_or(Type::f32);
    Options options = arguments.product.library;
    options.accumulate = arguments.product.beta != 0;
    const std::int64_t operand_bytes =
        checked_add(checked_add(matrix_bytes(type, size.m, size.k), matrix_bytes(type, size.k, size.n)),
                    matrix_bytes(type, size.m, size.n));
    if (arguments.product.memory_bytes) {
        options.workspace_limit_bytes = workspace_after(operand_bytes, arguments.product);
    }
    Context context;
    context.set_threads(arguments.product.threads);
    const Plan decided = plan(size, type, options, context);
    if (!arguments.product.json) {
        print(print_plan(decided, size, type));
        return;
    }
    print(nlohmann::ordered_json{{"m", size.m},
                                 {"k", size.k},
                                 {"n", size.n},
                                 {"type", type_name(type)},
                                 {"levels", decided.levels()},
                                 {"operand_bytes", operand_bytes},
                                 {"workspace_bytes", decided.workspace_bytes()},
                                 {"predicted_s", decided.predicted_s()},
                                 {"error_bound", decided.error_bound()},
                                 {"plan", decided.to_string()}});
}

}  // namespace heptad::cli
