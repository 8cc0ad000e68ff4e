// The options of mul.
#include <CLI/CLI.hpp>

#include "base/fail_if.hpp"
#include "product/device/device_facts.hpp"
#include "product_words.hpp"

namespace heptad::cli {

MulWords add_mul_words(CLI::App& root) {
    CLI::App* command = root.add_subcommand("mul", "multiply two matrices from files into a file");
    auto words = std::make_shared<ProductWords>();
    add_operands(*command, words->plain);
    add_value(*command, "-o,--output C", words->plain.output,
              "result: .npy, file.h5:/dataset, or .pbm .png of bits; may be one of the inputs; - is standard output")
        .required();
    add_plan_options(*command, *words);
    add_update_options(*command, *words);
    add_run_options(*command, *words);
    add_value(*command, "--plan FILE", words->plain.plan_file, "carry out the plan that 'heptad plan' printed");
    add_json_flag(*command, words->json);
    command->footer(
        "The result appears under its name only when it is complete; an input that has the same name is replaced "
        "then.\n"
        "Example: heptad mul A.npy B.npy -o C.npy --verify");
    return {command, [words] {
                require_beta_with_add(*words);
                Request request = request_of(*words);
                fail_if(!words->plain.plan_file.empty() &&
                            !(words->algorithm.empty() && words->levels.empty() && words->accuracy.empty() &&
                              words->leaf.empty() && words->mode.empty() && words->threads.empty() &&
                              (words->device.empty() || cuda::is_device_name(words->device))),
                        ErrorCode::usage,
                        "--plan already decides the algorithm, levels, accuracy, leaf, mode, threads and device; leave "
                        "those options out (but --device cuda:N says which of several a plan for cuda means)");
                return MulArguments{request, words->json};
            }};
}

}  // namespace heptad::cli
