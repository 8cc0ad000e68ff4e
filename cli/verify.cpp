// heptad verify: is C = alpha * op(A) * op(B) + beta * C0? Prints the residual and the chance of a miss.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "check_result.hpp"
#include "command.hpp"
#include "option_words.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

struct VerifyArguments {
    VerifyRequest request;
    bool json = false;
};

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

Command add_verify(CLI::App& root, const std::string& /*typed*/) {
    CLI::App* command = root.add_subcommand("verify", "check C = A*B without computing it");
    auto words = std::make_shared<ProductWords>();
    auto all_rows = std::make_shared<bool>(false);
    auto seed = std::make_shared<std::string>();
    add_operands(*command, words->plain);
    add_value(*command, "C", words->plain.output, "the result to check").required();
    add_value(*command, "--type T", words->type, "element type, where the files allow several");
    add_value(*command, "--accuracy WORD", words->accuracy,
              "the accuracy of C: strict, balanced (default) or fast (by whole matrices)");
    add_threads_option(*command, words->threads);
    add_update_options(*command, *words);
    command->add_flag("--all-rows", *all_rows, "bool: recompute every row, not a sample");
    add_value(*command, "--seed S", *seed, "seed of the random check (default: a new one each time)");
    add_json_flag(*command, words->json);
    command->footer("Exit code 5 if C is wrong or cannot be verified.\nExample: heptad verify A.npy B.npy C.npy");
    return {command, [words, all_rows, seed] {
                require_beta_with_add(*words);
                VerifyArguments arguments{{request_of(*words), *all_rows}, words->json};
                if (!seed->empty()) {
                    arguments.request.seed =
                        static_cast<std::uint64_t>(parse_integer("--seed", *seed, 0, kLargestSize));
                }
                return [arguments] { run(arguments); };
            }};
}

const RegisterCommand registered_verify({.order = 3, .add = add_verify});

}  // namespace
}  // namespace heptad::cli
