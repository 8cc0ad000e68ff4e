// heptad plan M K N: what a product would do, its workspace, predicted time and error bound. Multiplies nothing.
#include <CLI/CLI.hpp>
#include <array>
#include <nlohmann/json.hpp>

#include "base/fail_if.hpp"
#include "command.hpp"
#include "option_words.hpp"
#include "output.hpp"
#include "plan_machine.hpp"
#include "plan_text.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kMostNodes = 4096;

/// A machine to plan for, as typed.
struct MachineWords {
    struct Known {
        std::string name;
        AskMachine ask;
    };
    std::string machine;
    std::vector<Known> known;
};

void add_machine_options(CLI::App& command, MachineWords& words) {
    std::string text = "auto (this one)";
    for (const auto* each = RegisterMachine::first; each != nullptr; each = each->next) {
        text += fmt::format(", or {}: {}", each->entry.name, each->entry.does);
    }
    add_value(command, "--machine NAME", words.machine, text);
    for (const auto* each = RegisterMachine::first; each != nullptr; each = each->next) {
        words.known.push_back({each->entry.name, each->entry.add(command)});
    }
}

/// How the plan is printed; empty: as for this machine.
PrintPlan print_for_machine(const ProductWords& words, const MachineWords& machine) {
    std::vector<std::string> names{"auto"};
    for (const MachineWords::Known& each : machine.known) {
        names.push_back(each.name);
    }
    const std::string name = parse_choice("--machine", machine.machine.empty() ? "auto" : machine.machine, names);
    PrintPlan print;
    for (const MachineWords::Known& each : machine.known) {
        if (PrintPlan own = each.ask(words, each.name == name)) {
            print = std::move(own);
        }
    }
    return print;
}

/// A cluster to plan for, as typed.
struct NodeWords {
    std::string nodes, disk, compute;
    ClusterWords cluster;
};

void add_node_options(CLI::App& command, NodeWords& words) {
    add_value(command, "--nodes P", words.nodes, "plan for a cluster of this many nodes (docs/cluster.md)");
    add_value(command, "--disk RATE", words.disk,
              "cluster: bytes per second of each node's disk (default 2G); --files: of this one (default: measured)");
    add_value(command, "--compute RATE", words.compute,
              "cluster: operations per second of each node (default: what this machine would do)");
    add_cluster_options(command, words.cluster);
}

std::optional<ClusterQuestion> cluster_arguments(const ProductWords& product, const MachineWords& machine,
                                                 const NodeWords& words) {
    if (words.nodes.empty()) {
        fail_if(!words.disk.empty() || !words.compute.empty() || any_given(words.cluster) ||
                    is_cluster_algorithm(product.algorithm),
                ErrorCode::usage,
                "--network, --disk, --compute, --grid, --block, --scatter, --broadcast and the algorithms grid, pegmm, "
                "mod-pegmm and caps are for clusters; give --nodes P too (or --files, which takes --disk)");
        return std::nullopt;
    }
    fail_if(!machine.machine.empty(), ErrorCode::usage, "--machine and --nodes cannot be combined; leave one out");
    fail_if(!product.raw_a.empty() || !product.raw_b.empty() || !product.columns.empty() || !product.overlap.empty(),
            ErrorCode::usage, "heptad-mpi has no --raw-a, --raw-b, --columns and --overlap; leave them out");
    ClusterQuestion arguments;
    arguments.nodes = parse_integer("--nodes", words.nodes, 1, kMostNodes);
    arguments.request = cluster_request(words.cluster, product.algorithm);
    arguments.forecast = forecast_options(words.cluster);
    arguments.rates.network_bytes_per_s = network_rate(words.cluster);
    if (!words.disk.empty()) {
        arguments.rates.disk_bytes_per_s = parse_rate("--disk", words.disk, RateUnit::bytes);
    }
    if (!words.compute.empty()) {
        arguments.rates.operations_per_s = parse_rate("--compute", words.compute, RateUnit::operations);
        arguments.rate_given = true;
    }
    return arguments;
}

/// What is said of the file of an operand, which is rows x cols as it lies there, must be true of it.
void require_told_shape(const std::string& option, const std::optional<RawShape>& told, std::int64_t rows,
                        std::int64_t cols, std::optional<Type> type) {
    if (!told) {
        return;
    }
    if (told->rows != rows || told->cols != cols) {
        fail(ErrorCode::input, "{} says {} x {}, but this product takes {} x {} there", option, told->rows, told->cols,
             rows, cols);
    }
    if (told->type == Type::gf2 || told->type == Type::boolean) {
        fail(ErrorCode::input, "{} says {}, but bits come in files with a header; leave it out", option,
             type_name(told->type));
    }
    if (type && *type != told->type && !(*type == Type::tf32 && told->type == Type::f32)) {
        fail(ErrorCode::input, "{} says {}, but the product is of {}; name one type", option, type_name(told->type),
             type_name(*type));
    }
}

/// What mul would find in its files holds for the sizes that plan is given.
void require_told_shapes(PlanArguments& plan) {
    Request& product = plan.request;
    const ProblemSize& size = plan.size;
    const std::int64_t a_rows = product.transpose_a ? size.k : size.m;
    const std::int64_t a_cols = product.transpose_a ? size.m : size.k;
    const std::int64_t b_rows = product.transpose_b ? size.n : size.k;
    const std::int64_t b_cols = product.transpose_b ? size.k : size.n;
    require_told_shape("--raw-a", product.raw_a, a_rows, a_cols, product.type);
    if (product.raw_a && !product.type) {
        product.type = product.raw_a->type;
    }
    require_told_shape("--raw-b", product.raw_b, b_rows, b_cols, product.type);
    if (product.raw_b && !product.type) {
        product.type = product.raw_b->type;
    }
    if (product.columns && *product.columns != b_cols) {
        fail(ErrorCode::input, "--columns says {}, but a product of {} x {} x {} takes {} columns in the file of B",
             *product.columns, size.m, size.k, size.n, b_cols);
    }
}

void run(const PlanArguments& arguments) {
    if (arguments.cluster) {
        print_cluster_plan(arguments);
        return;
    }
    const RequestPlan plan =
        plan_request(arguments.request, arguments.size, arguments.files, arguments.disk_bytes_per_s);
    arguments.json ? print(plan_json(plan)) : print(plan_text(plan));
}

Command add_plan(CLI::App& root, const std::string& /*typed*/) {
    CLI::App* command = root.add_subcommand("plan", "show what a product would do, without multiplying");
    auto words = std::make_shared<ProductWords>();
    auto machine = std::make_shared<MachineWords>();
    auto sizes = std::make_shared<std::array<std::string, 3>>();
    add_value(*command, "M", (*sizes)[0], "rows of A and C").required();
    add_value(*command, "K", (*sizes)[1], "columns of A, rows of B").required();
    add_value(*command, "N", (*sizes)[2], "columns of B and C").required();
    add_plan_options(*command, *words);
    add_update_options(*command, *words);
    add_run_options(*command, *words);
    add_machine_options(*command, *machine);
    auto nodes = std::make_shared<NodeWords>();
    add_node_options(*command, *nodes);
    auto files = std::make_shared<bool>(false);
    command->add_flag("--files", *files, "from file to file in --memory: bytes, memory and seconds of each stage");
    add_json_flag(*command, words->json);
    command->footer(
        "Takes the options of mul, but opens no files: C0 is assumed to have the size of the product, and bits to "
        "be packed.\n"
        "If the matrices exceed --memory, or with --resume, --overlap or --trace, the plan is that of --files, as in "
        "mul.\n"
        "mul reads the output: heptad plan 4096 4096 4096 > p.txt; heptad mul A.npy B.npy -o C.npy --plan p.txt\n"
        "(on a cluster, give heptad-mpi the same options instead).\n"
        "Example: heptad plan 4096 4096 4096 --type f32 --accuracy fast");
    return {command, [words, sizes, machine, nodes, files]() -> Action {
                PlanArguments plan;
                plan.files = *files || words->by_files();
                const bool may_be_files = nodes->nodes.empty() && (plan.files || !words->memory.empty());
                if (may_be_files && !nodes->disk.empty()) {
                    plan.disk_bytes_per_s = parse_rate("--disk", nodes->disk, RateUnit::bytes);
                    nodes->disk.clear();
                }
                const PrintPlan print = print_for_machine(*words, *machine);
                plan.cluster = cluster_arguments(*words, *machine, *nodes);
                plan.request = request_of(*words);
                plan.json = words->json;
                fail_if(words->beta.empty() && !words->plain.add.empty(), ErrorCode::usage,
                        "--add needs --beta, the factor of the matrix that is added");
                if (plan.cluster) {
                    plan.request.options.algorithm = node_algorithm(words->algorithm);
                    plan.cluster->request.memory_bytes =
                        plan.request.memory_bytes.value_or(plan.cluster->request.memory_bytes);
                }
                plan.size.m = parse_integer("M", (*sizes)[0], 0, kLargestSize);
                plan.size.k = parse_integer("K", (*sizes)[1], 0, kLargestSize);
                plan.size.n = parse_integer("N", (*sizes)[2], 0, kLargestSize);
                require_told_shapes(plan);
                if (print) {
                    return [print, plan] { print(plan); };
                }
                return [plan] { run(plan); };
            }};
}

const RegisterCommand registered_plan({.order = 2, .add = add_plan});

}  // namespace
}  // namespace heptad::cli
