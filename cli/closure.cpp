// heptad closure: which vertices of a graph can be reached from which.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/size.hpp"
#include "base/timing.hpp"
#include "command.hpp"
#include "interrupt.hpp"
#include "io/bit_file.hpp"
#include "io/npy.hpp"
#include "option_words.hpp"
#include "output.hpp"
#include "product/device/device_facts.hpp"
#include "product/device/device_product.hpp"
#include "product/request/bit_operands.hpp"
#include "product/request/memory_limits.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

struct ClosureArguments {
    std::string graph, output;
    std::optional<std::int64_t> columns;
    std::string device = "auto";
    int threads = 0;
    bool json = false;
};

void run(const ClosureArguments& asked) {
    ClosureArguments arguments = asked;
    arguments.output = claim_output(arguments.output);
    const bool on_cuda = is_device_product(arguments.device);
    if (on_cuda) {
        require_nvidia_device(arguments.device);
    } else if (arguments.device != "auto" && arguments.device != "cpu") {
        fail(ErrorCode::usage, "a closure runs on cpu, cuda or cuda:N, not on '{}'", arguments.device);
    }
    const BitFileHeader header = read_bit_header(arguments.graph, arguments.columns);
    if (header.rows != header.cols) {
        fail(ErrorCode::input, "{} is {} x {}, but a graph is a square matrix{}", arguments.graph, header.rows,
             header.cols, packed_hint(arguments.graph, arguments.columns));
    }
    require_writable_format(arguments.output);
    check_writable(arguments.output);
    // The graph, its closure, and on the processor about three packed copies in a product.
    workspace_after(checked_mul(on_cuda ? 2 : 5, bit_bytes(header.rows, header.cols)), {});
    ProgressMeter meter;
    const BitMatrix graph = read_bits(arguments.graph, arguments.columns, file_hooks(meter, "read", arguments.threads));
    stop_if_interrupted();
    meter.begin("closure");
    const auto start = Clock::now();
    bits::BitOptions options;
    options.device = arguments.device;
    const BitMatrix closure = bits::transitive_closure(graph, options, product_context(meter, arguments.threads));
    const double closure_s = seconds_since(start);
    stop_if_interrupted();
    write_bits(arguments.output, closure, arguments.columns.has_value(), file_hooks(meter, "write", arguments.threads));
    meter.clear();
    const std::int64_t edges = bits::count_ones(graph), pairs = bits::count_ones(closure);
    if (arguments.json) {
        print(nlohmann::ordered_json{{"output", arguments.output},
                                     {"device", on_cuda ? arguments.device : "cpu"},
                                     {"vertices", header.rows},
                                     {"edges", edges},
                                     {"reachable_pairs", pairs},
                                     {"closure_s", closure_s}});
        return;
    }
    print(fmt::format("{}: {} vertices, {} edges, {} reachable pairs, closed in {}\n", visible(arguments.output),
                      header.rows, edges, pairs, format_seconds(closure_s)));
}

Command add_closure(CLI::App& root, const std::string& /*typed*/) {
    CLI::App* command = root.add_subcommand("closure", "transitive closure of a graph, given as a Boolean matrix");
    auto closure = std::make_shared<ClosureArguments>();
    auto threads = std::make_shared<std::string>();
    auto columns = std::make_shared<std::string>();
    add_value(*command, "G", closure->graph, "square matrix: .pbm, .png, .mtx or .npy").required();
    add_value(*command, "-o,--output R", closure->output, "result: .pbm, .png or .npy").required();
    add_threads_option(*command, *threads);
    add_value(*command, "--device D", closure->device, "cpu (default), cuda or cuda:N");
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

const RegisterCommand registered_closure({.order = 6, .add = add_closure});

}  // namespace
}  // namespace heptad::cli
