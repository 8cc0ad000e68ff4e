// heptad gen: a random or special matrix as a file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/fail_if.hpp"
#include "command.hpp"
#include "io/bit_file.hpp"
#include "io/generate.hpp"
#include "io/npy.hpp"
#include "io/whole_matrix.hpp"
#include "option_words.hpp"
#include "output.hpp"
#include "product/request/memory_limits.hpp"
#include "product/request/operands.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

struct GenArguments {
    std::string kind, output;
    std::int64_t rows = 0, cols = 0;
    Type type = Type::f32;
    std::uint64_t seed = 1;
    std::int64_t low = -8, high = 8;  // integer
    std::optional<double> density;    // bits, graph
    bool packed = false;              // .npy of eight bits per byte
    bool json = false;
};

void run(const GenArguments& arguments) {
    GenArguments gen = arguments;
    gen.output = claim_output(gen.output);
    const bool as_bits = gen.packed || is_bit_file_name(gen.output);
    if (as_bits) {
        require_writable_format(gen.output);
        fail_if(gen.type != Type::gf2 && gen.type != Type::boolean, ErrorCode::usage,
                "{} holds bits, not {}; use --type gf2 or --type bool, or write a .npy without --packed", gen.output,
                type_name(gen.type));
        check_writable(gen.output);
    } else {
        check_matrix_writable(gen.output, gen.type);
    }
    const std::int64_t bytes = as_bits ? bit_bytes(gen.rows, gen.cols) : matrix_bytes(gen.type, gen.rows, gen.cols);
    workspace_after(bytes, {});
    GenerateOptions options{.low = gen.low, .high = gen.high};
    if (gen.density) {
        options.density = *gen.density;
        options.average_degree = *gen.density * static_cast<double>(std::max<std::int64_t>(gen.cols - 1, 0));
    }
    ProgressMeter meter;
    if (as_bits) {
        const BitMatrix matrix =
            generate_bits(gen.kind, gen.rows, gen.cols, gen.seed, options, file_hooks(meter, "generate", 0));
        write_bits(gen.output, matrix, gen.packed, file_hooks(meter, "write", 0));
    } else {
        const Matrix matrix =
            generate(gen.kind, gen.rows, gen.cols, gen.type, gen.seed, options, file_hooks(meter, "generate", 0));
        write_matrix(gen.output, matrix, file_hooks(meter, "write", 0));
    }
    meter.clear();
    if (gen.json) {
        print(nlohmann::ordered_json{{"output", gen.output},
                                     {"kind", gen.kind},
                                     {"type", type_name(gen.type)},
                                     {"rows", gen.rows},
                                     {"cols", gen.cols},
                                     {"seed", gen.seed},
                                     {"data_bytes", bytes}});
        return;
    }
    print(fmt::format("{}: {} x {} {}, {}, seed {}\n", visible(gen.output), gen.rows, gen.cols, type_name(gen.type),
                      gen.kind, gen.seed));
}

Command add_gen(CLI::App& root, const std::string& /*line*/) {
    CLI::App* command = root.add_subcommand("gen", "write a matrix of random or special entries");
    struct Words {
        std::string shape, type, seed, density, low, high;
    };
    auto words = std::make_shared<Words>();
    auto typed = std::make_shared<GenArguments>();
    add_value(*command, "KIND", typed->kind,
              "uniform, positive, normal, integer, bits, identity, ones, zeros, graph, hilbert or kaporin")
        .required();
    add_value(*command, "--shape MxN", words->shape, "rows and columns").required();
    add_value(*command, "--type T", words->type, "element type (default f32; gf2 for bits, bool for graph)");
    add_value(*command, "--seed S", words->seed, "same seed, same matrix (default 1)");
    add_value(*command, "--low L", words->low, "integer: smallest entry (default -8)");
    add_value(*command, "--high H", words->high, "integer: largest entry (default 8)");
    add_value(*command, "--density D", words->density, "bits and graph: share of ones, 0 to 1");
    command->add_flag("--packed", typed->packed,
                      "bit matrices: a .npy with eight bits per byte, as numpy.packbits makes it");
    add_value(*command, "-o,--output F", typed->output, "file to write: .npy, file.h5:/dataset, or .pbm .png of bits")
        .required();
    add_json_flag(*command, typed->json);
    command->footer("Example: heptad gen uniform --shape 4096x4096 --type f32 --seed 1 -o A.npy");
    return {command, [words, typed] {
                GenArguments gen = *typed;
                const std::vector<std::int64_t> shape = parse_shape("--shape", words->shape, 2);
                gen.rows = shape[0];
                gen.cols = shape[1];
                if (!words->type.empty()) {
                    gen.type = type_from_name(words->type);
                } else {
                    gen.type = gen.kind == "bits" ? Type::gf2 : gen.kind == "graph" ? Type::boolean : Type::f32;
                }
                if (!words->seed.empty()) {
                    gen.seed = static_cast<std::uint64_t>(parse_integer("--seed", words->seed, 0, kLargestSize));
                }
                constexpr std::int64_t kLow = std::numeric_limits<std::int32_t>::min();
                constexpr std::int64_t kHigh = std::numeric_limits<std::int32_t>::max();
                if (!words->low.empty()) {
                    gen.low = parse_integer("--low", words->low, kLow, kHigh);
                }
                if (!words->high.empty()) {
                    gen.high = parse_integer("--high", words->high, kLow, kHigh);
                }
                if (gen.kind != "integer" && !(words->low.empty() && words->high.empty())) {
                    fail(ErrorCode::usage, "--low and --high are for gen integer, not for {}; leave them out",
                         gen.kind);
                }
                fail_if(gen.kind != "bits" && gen.kind != "graph" && !words->density.empty(), ErrorCode::usage,
                        "--density is for gen bits and gen graph, not for {}; leave it out", gen.kind);
                if (!words->density.empty()) {
                    gen.density = parse_real("--density", words->density);
                    fail_if(*gen.density < 0 || *gen.density > 1, ErrorCode::usage,
                            "--density takes a number from 0 to 1, not '{}'", words->density);
                }
                return [gen] { run(gen); };
            }};
}

const RegisterCommand registered_gen({.order = 4, .add = add_gen});

}  // namespace
}  // namespace heptad::cli
