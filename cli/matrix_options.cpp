// The options of the commands about one matrix: gen, info and closure.
#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "io/bit_file.hpp"
#include "io/matrix_market.hpp"
#include "option_words.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

/// Options that the file leaves no room for are refused, not ignored.
void require_info_options(const InfoArguments& info) {
    if (info.file.empty() && (info.type || info.columns)) {
        fail(ErrorCode::usage, "--type and --columns tell of a matrix file; name one, or leave them out");
    }
    const bool bits = is_bit_file_name(info.file) || info.columns;
    if (info.columns && (is_bit_file_name(info.file) || is_matrix_market_name(info.file))) {
        fail(ErrorCode::usage, "{} tells its columns itself; --columns is for .npy files of packed bits", info.file);
    }
    if (bits && info.type && *info.type != Type::gf2 && *info.type != Type::boolean) {
        fail(ErrorCode::usage, "{} holds bits, not {}; leave --type out", info.file, type_name(*info.type));
    }
}

Command add_gen(CLI::App& root, const std::string& /*typed*/) {
    CLI::App* command = root.add_subcommand("gen", "write a matrix of random or special entries");
    struct Words {
        std::string kind, shape, type, seed, output, density, low, high;
        bool packed = false, json = false;
    };
    auto words = std::make_shared<Words>();
    command
        ->add_option("KIND", words->kind,
                     "uniform, positive, normal, integer, bits, identity, ones, zeros, graph, hilbert or kaporin")
        ->required()
        ->type_name("");
    command->add_option("--shape", words->shape, "rows and columns")->required()->type_name("MxN");
    command->add_option("--type", words->type, "element type (default f32; gf2 for bits, bool for graph)")
        ->type_name("T");
    command->add_option("--seed", words->seed, "same seed, same matrix (default 1)")->type_name("S");
    command->add_option("--low", words->low, "smallest entry of integer (default -8)")->type_name("L");
    command->add_option("--high", words->high, "largest entry of integer (default 8)")->type_name("H");
    command->add_option("--density", words->density, "share of ones of bits and graph, 0 to 1")->type_name("D");
    command->add_flag("--packed", words->packed,
                      "bit matrices: a .npy of eight bits per byte, as numpy.packbits has it");
    command->add_option("-o,--output", words->output, "file to write: .npy, file.h5:/dataset, or .pbm .png of bits")
        ->required()
        ->type_name("F");
    add_json_flag(*command, words->json);
    command->footer("Example: heptad gen uniform --shape 4096x4096 --type f32 --seed 1 -o A.npy");
    return {
        command, [words] {
            GenArguments gen;
            gen.kind = words->kind;
            gen.output = words->output;
            gen.json = words->json;
            gen.packed = words->packed;
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
                fail(ErrorCode::usage, "--low and --high are for gen integer, not for {}; leave them out", gen.kind);
            }
            if (gen.kind != "bits" && gen.kind != "graph" && !words->density.empty()) {
                fail(ErrorCode::usage, "--density is for gen bits and gen graph, not for {}; leave it out", gen.kind);
            }
            if (!words->density.empty()) {
                gen.density = parse_real("--density", words->density);
                if (*gen.density < 0 || *gen.density > 1) {
                    fail(ErrorCode::usage, "--density takes a number from 0 to 1, not '{}'", words->density);
                }
            }
            return [gen] { run(gen); };
        }};
}

Command add_info(CLI::App& root, const std::string& /*typed*/) {
    CLI::App* command = root.add_subcommand("info", "this machine, or a matrix file");
    auto info = std::make_shared<InfoArguments>();
    command->add_option("FILE", info->file, "a matrix file; without it, the machine")->type_name("");
    auto type = std::make_shared<std::string>();
    command->add_option("--type", *type, "element type, where the file allows several")->type_name("T");
    auto columns = std::make_shared<std::string>();
    add_columns_option(*command, *columns);
    add_json_flag(*command, info->json);
    command->footer("Example: heptad info A.npy");
    return {command, [info, type, columns] {
                info->columns = column_count(*columns);
                if (!type->empty()) {
                    info->type = type_from_name(*type);
                }
                require_info_options(*info);
                return [info] { run(*info); };
            }};
}

Command add_closure(CLI::App& root, const std::string& /*typed*/) {
    CLI::App* command = root.add_subcommand("closure", "transitive closure of a graph, given as a Boolean matrix");
    auto closure = std::make_shared<ClosureArguments>();
    auto threads = std::make_shared<std::string>();
    auto columns = std::make_shared<std::string>();
    command->add_option("G", closure->graph, "square matrix: .pbm, .png, .mtx or .npy")->required()->type_name("");
    command->add_option("-o,--output", closure->output, "result: .pbm, .png or .npy")->required()->type_name("R");
    command->add_option("--threads", *threads, "threads to use (default: all cores)")->type_name("N");
    command->add_option("--device", closure->device, "cpu (default), cuda or cuda:N")->type_name("D");
    add_columns_option(*command, *columns);
    add_json_flag(*command, closure->json);
    command->footer(
        "Entry (i, j) of the result: is there a path of one or more edges from i to j?\n"
        "Example: heptad closure G.pbm -o R.pbm");
    return {command, [closure, threads, columns] {
                closure->threads = thread_count(*threads);
                closure->columns = column_count(*columns);
                return [closure] { run(*closure); };
            }};
}

const RegisterCommand gen({.order = 4, .add = add_gen});
const RegisterCommand info({.order = 5, .add = add_info});
const RegisterCommand closure({.order = 6, .add = add_closure});

}  // namespace
}  // namespace heptad::cli
