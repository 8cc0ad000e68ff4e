// The options of mul and verify.
#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product_words.hpp"
#include "text.hpp"

namespace heptad::cli {

Registered add_mul(CLI::App& root) {
    CLI::App* command = root.add_subcommand("mul", "multiply two matrices from files into a file");
    auto words = std::make_shared<ProductWords>();
    auto mul = std::make_shared<MulArguments>();
    command->add_option("A", mul->a, "left matrix: .npy, file.h5:/dataset, .mtx, or .pbm .png of bits")
        ->required()
        ->type_name("");
    command->add_option("B", mul->b, "right matrix")->required()->type_name("");
    command
        ->add_option("-o,--output", mul->output,
                     "result: .npy, file.h5:/dataset, or .pbm .png of bits; may be one of the inputs; - is "
                     "standard output")
        ->required()
        ->type_name("C");
    add_plan_options(*command, *words);
    add_update_options(*command, *words);
    add_run_options(*command, *words);
    command->add_option("--plan", mul->plan_file, "carry out the plan that 'heptad plan' printed")->type_name("FILE");
    add_json_flag(*command, words->json);
    command->footer(
        "The result appears under its name only when it is complete; an input that has the same name is replaced "
        "then.\n"
        "Example: heptad mul A.npy B.npy -o C.npy --verify");
    return {command, [words, mul] {
                require_beta_with_add(*words);
                mul->product = product_options(*words, Accuracy::balanced);
                mul->verify = words->verify;
                mul->resume = words->resume;
                mul->overlap = overlap_of(*words);
                mul->trace_file = words->trace;
                if (!mul->plan_file.empty() &&
                    !(words->algorithm.empty() && words->levels.empty() && words->accuracy.empty() &&
                      words->leaf.empty() && words->mode.empty() && words->threads.empty() &&
                      (words->device.empty() || cuda::is_device_name(words->device)))) {
                    fail(
                        ErrorCode::usage,
                        "--plan already decides the algorithm, levels, accuracy, leaf, mode, threads and device; leave "
                        "those options out (but --device cuda:N says which of several a plan for cuda means)");
                }
                return Invocation(*mul);
            }};
}

Registered add_verify(CLI::App& root) {
    CLI::App* command = root.add_subcommand("verify", "check C = A*B without computing it");
    auto words = std::make_shared<ProductWords>();
    auto verify = std::make_shared<VerifyArguments>();
    auto seed = std::make_shared<std::string>();
    command->add_option("A", verify->a, "left matrix: .npy, file.h5:/dataset, .mtx, or .pbm .png of bits")
        ->required()
        ->type_name("");
    command->add_option("B", verify->b, "right matrix")->required()->type_name("");
    command->add_option("C", verify->c, "claimed result")->required()->type_name("");
    command->add_option("--type", words->type, "element type, where the files allow several")->type_name("T");
    command
        ->add_option("--accuracy", words->accuracy,
                     "what C was allowed: strict, balanced (default), or fast, judged by whole matrices")
        ->type_name("WORD");
    command->add_option("--threads", words->threads, "threads to use (default: all cores)")->type_name("N");
    add_update_options(*command, *words);
    command->add_flag("--all-rows", verify->all_rows, "bool: recompute every row, not a sample");
    command->add_option("--seed", *seed, "seed of the random check (default: a new one each time)")->type_name("S");
    add_json_flag(*command, words->json);
    command->footer("Exit code 5 if C is wrong or cannot be verified.\nExample: heptad verify A.npy B.npy C.npy");
    return {command, [words, verify, seed] {
                require_beta_with_add(*words);
                verify->product = product_options(*words, Accuracy::balanced);
                if (!seed->empty()) {
                    verify->seed = static_cast<std::uint64_t>(parse_integer("--seed", *seed, 0, kLargestSize));
                }
                return Invocation(*verify);
            }};
}

}  // namespace heptad::cli
