// The option names of every command. Values are taken as words and turned into checked values here, so that every wrong
// one is answered by a sentence of ours.
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "backend/cuda/device.hpp"
#include "base/error.hpp"
#include "cluster_words.hpp"
#include "option_words.hpp"
#include "place/devices/device_list.hpp"
#include "place/file/bit_file.hpp"
#include "text.hpp"

namespace heptad::cli {

int thread_count(const std::string& word) {
    return word.empty() ? 0 : static_cast<int>(parse_integer("--threads", word, 1, kMostThreads));
}

namespace {

constexpr std::int64_t kMostLevels = 16;
constexpr std::int64_t kMostNodes = 4096;

/// Options of a product as typed.
struct ProductWords {
    std::string type, device, algorithm, levels, accuracy, leaf, mode, threads, memory, alpha, beta, add, columns;
    std::string raw_a, raw_b, overlap, trace;
    HostWords host;
    bool transpose_a = false, transpose_b = false, count = false, json = false, verify = false, resume = false;

    /// What only a product from file to file has.
    bool by_files() const { return resume || !overlap.empty() || !trace.empty(); }
};

void add_plan_options(CLI::App& command, ProductWords& words) {
    command.add_option("--type", words.type, "element type: f64 f32 tf32 bf16 f16 i32 gf2 bool")->type_name("T");
    command
        .add_option("--device", words.device,
                    "auto, cpu, reference, cuda or cuda:N; several: cuda:0,1 or cpu:N (cores)")
        ->type_name("D");
    command.add_option("--algorithm", words.algorithm, "auto, or a name of 'heptad algorithms'")->type_name("NAME");
    command.add_option("--levels", words.levels, "auto, or how many levels to nest")->type_name("N");
    command.add_option("--accuracy", words.accuracy, "strict, balanced (default) or fast")->type_name("WORD");
    command.add_option("--leaf", words.leaf, "auto, or a library of 'heptad info'")->type_name("NAME");
    command.add_option("--mode", words.mode, "auto, serial (little memory), parallel or fused (no memory, on cuda)")
        ->type_name("MODE");
    command.add_option("--threads", words.threads, "threads to use (default: all cores)")->type_name("N");
    command
        .add_option("--memory", words.memory,
                    "most memory, e.g. 8G; matrices that do not fit are multiplied from file to file")
        ->type_name("SIZE");
    add_host_options(command, words.host);
    command.add_flag("--count", words.count, "bit matrices, on cuda: how many ones a row and a column share, as i32");
}

void add_columns_option(CLI::App& command, std::string& columns) {
    command
        .add_option("--columns", columns,
                    "bit matrices: .npy files hold eight bits per byte (numpy.packbits), and so many columns")
        ->type_name("N");
}

std::optional<std::int64_t> column_count(const std::string& word) {
    return word.empty() ? std::nullopt : std::optional(parse_integer("--columns", word, 0, kLargestSize));
}

void add_update_options(CLI::App& command, ProductWords& words) {
    command.add_option("--alpha", words.alpha, "factor of the product (default 1)")->type_name("X");
    command.add_option("--beta", words.beta, "factor of the matrix given by --add")->type_name("Y");
    command.add_option("--add", words.add, "matrix C0: the result is X*A*B + Y*C0")->type_name("C0");
    command.add_flag("--transpose-a", words.transpose_a, "use the transpose of A");
    command.add_flag("--transpose-b", words.transpose_b, "use the transpose of B");
    add_columns_option(command, words.columns);
}

void add_run_options(CLI::App& command, ProductWords& words) {
    command.add_flag("--verify", words.verify, "check the result before it is written");
    command.add_option("--raw-a", words.raw_a, "A has no header: its type and shape, e.g. f32:4096x1024")
        ->type_name("T:MxN");
    command.add_option("--raw-b", words.raw_b, "B has no header")->type_name("T:MxN");
    command.add_flag("--resume", words.resume, "from file to file: go on where a run before was ended");
    command.add_option("--overlap", words.overlap, "from file to file: on (default), or off: one stage after another")
        ->type_name("on|off");
    command.add_option("--trace", words.trace, "from file to file: write a timeline for chrome://tracing")
        ->type_name("FILE");
}

std::optional<bool> overlap_of(const ProductWords& words) {
    return words.overlap.empty() ? std::nullopt
                                 : std::optional(parse_choice("--overlap", words.overlap, {"on", "off"}) == "on");
}

void add_json_flag(CLI::App& command, bool& json) {
    command.add_flag("--json", json, "print one JSON object");
}

/// "f32:4096x1024"
std::optional<RawShape> raw_shape(const std::string& option, const std::string& word) {
    if (word.empty()) {
        return std::nullopt;
    }
    const auto colon = word.find(':');
    if (colon == std::string::npos) {
        fail(ErrorCode::usage, "{} takes a type and a shape such as f32:4096x1024, not '{}'", option, word);
    }
    const std::vector<std::int64_t> shape = parse_shape(option, word.substr(colon + 1), 2);
    return RawShape{type_from_name(word.substr(0, colon)), shape[0], shape[1]};
}

std::string parse_device(const std::string& word) {
    if (is_device_list(word)) {
        parse_device_list(word);
        return word;
    }
    if (cuda::is_device_name(word)) {
        cuda::device_index(word);
        return word;
    }
    return parse_choice("--device", word, {"auto", "cpu", "reference", "cuda", "cuda:N", "cuda:N,M", "cpu:N"});
}

ProductOptions product_options(const ProductWords& words, Accuracy default_accuracy) {
    ProductOptions product;
    if (!words.type.empty()) {
        product.type = type_from_name(words.type);
    }
    if (!words.device.empty()) {
        product.options.device = parse_device(words.device);
    }
    product.options.host = host_options(words.host, product.options.device);
    if (!words.algorithm.empty()) {
        product.options.algorithm = words.algorithm;
    }
    if (!words.levels.empty() && words.levels != "auto") {
        product.options.levels = static_cast<int>(parse_integer("--levels", words.levels, 0, kMostLevels));
    }
    product.options.accuracy = words.accuracy.empty() ? default_accuracy : parse_accuracy("--accuracy", words.accuracy);
    if (!words.leaf.empty()) {
        product.options.leaf = words.leaf;
    }
    if (!words.mode.empty()) {
        product.options.mode = parse_choice("--mode", words.mode, {"auto", "serial", "parallel", "fused"});
    }
    product.threads = thread_count(words.threads);
    if (!words.memory.empty()) {
        product.memory_bytes = parse_bytes("--memory", words.memory);
    }
    product.raw_a = raw_shape("--raw-a", words.raw_a);
    product.raw_b = raw_shape("--raw-b", words.raw_b);
    if (!words.alpha.empty()) {
        product.alpha = parse_real("--alpha", words.alpha);
    }
    if (!words.beta.empty()) {
        product.beta = parse_real("--beta", words.beta);
    }
    product.add = words.add;
    product.columns = column_count(words.columns);
    product.transpose_a = words.transpose_a;
    product.transpose_b = words.transpose_b;
    product.count = words.count;
    product.json = words.json;
    return product;
}

void require_beta_with_add(const ProductWords& words) {
    if (words.beta.empty() != words.add.empty()) {
        fail(ErrorCode::usage, "--beta and --add belong together; give both or neither");
    }
}

Registered add_mul(CLI::App& root) {
    CLI::App* command = root.add_subcommand("mul", "multiply two matrices from files into a file");
    auto words = std::make_shared<ProductWords>();
    auto mul = std::make_shared<MulArguments>();
    command->add_option("A", mul->a, "left matrix: .npy, file.h5:/dataset, or .pbm .png .mtx of bits")
        ->required()
        ->type_name("");
    command->add_option("B", mul->b, "right matrix")->required()->type_name("");
    command->add_option("-o,--output", mul->output, "result: .npy, or .pbm .png of bits; may be one of the inputs")
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

/// The machine to plan for, as typed.
struct MachineWords {
    std::string machine, tau1, tau2;
};

std::optional<C1060Arguments> c1060_arguments(const ProductWords& words, const MachineWords& machine) {
    const bool thresholds = !machine.tau1.empty() || !machine.tau2.empty();
    if (parse_choice("--machine", machine.machine.empty() ? "auto" : machine.machine, {"auto", "c1060"}) == "auto") {
        if (thresholds) {
            fail(ErrorCode::usage, "--tau1 and --tau2 are thresholds of --machine c1060; give that too");
        }
        return std::nullopt;
    }
    // The counts are those of one implementation in f32; what it has no choice of is refused, not ignored.
    if (!words.device.empty() || !words.accuracy.empty() || !words.mode.empty() || !words.threads.empty() ||
        !words.memory.empty() || !words.alpha.empty() || !words.beta.empty() || !words.columns.empty() ||
        words.transpose_a || words.transpose_b || words.verify || words.by_files() || !words.raw_a.empty() ||
        !words.raw_b.empty() || words.host.given() || !(words.type.empty() || words.type == "f32") ||
        !(words.leaf.empty() || words.leaf == "gpu8")) {
        fail(ErrorCode::usage,
             "--machine c1060 counts C = A*B in f32 with the leaf gpu8; it takes --algorithm, --levels, --tau1, --tau2 "
             "and --json only");
    }
    const bool levels = !words.levels.empty() && words.levels != "auto";
    if (levels == thresholds || machine.tau1.empty() != machine.tau2.empty()) {
        fail(ErrorCode::usage, "--machine c1060 takes --levels N, or both --tau1 N and --tau2 N");
    }
    C1060Arguments arguments;
    if (levels) {
        arguments.levels = static_cast<int>(parse_integer("--levels", words.levels, 0, kMostLevels));
    } else {
        arguments.tau1 = parse_integer("--tau1", machine.tau1, 1, kLargestSize);
        arguments.tau2 = parse_integer("--tau2", machine.tau2, 1, kLargestSize);
    }
    return arguments;
}

/// A cluster to plan for, as typed.
struct NodeWords {
    std::string nodes, disk, compute;
    ClusterWords cluster;
};

void add_node_options(CLI::App& command, NodeWords& words) {
    command.add_option("--nodes", words.nodes, "plan for a cluster of so many nodes (docs/cluster.md)")->type_name("P");
    command
        .add_option(
            "--disk", words.disk,
            "cluster: bytes per second of each node's disk (default 2G); --files: of this one (default: measured)")
        ->type_name("RATE");
    command
        .add_option("--compute", words.compute,
                    "cluster: operations per second of each node (default: what this machine would do)")
        ->type_name("RATE");
    add_cluster_options(command, words.cluster);
}

std::optional<ClusterArguments> cluster_arguments(const ProductWords& product, const MachineWords& machine,
                                                  const NodeWords& words) {
    if (words.nodes.empty()) {
        if (!words.disk.empty() || !words.compute.empty() || any_given(words.cluster) ||
            is_cluster_algorithm(product.algorithm)) {
            fail(
                ErrorCode::usage,
                "--network, --disk, --compute, --grid, --block, --scatter, --broadcast and the algorithms grid, pegmm, "
                "mod-pegmm and caps are for clusters; give --nodes P too (or --files, which takes --disk)");
        }
        return std::nullopt;
    }
    if (!machine.machine.empty()) {
        fail(ErrorCode::usage, "--machine and --nodes exclude each other; leave one out");
    }
    if (!product.raw_a.empty() || !product.raw_b.empty() || !product.columns.empty() || !product.overlap.empty()) {
        fail(ErrorCode::usage, "heptad-mpi has no --raw-a, --raw-b, --columns and --overlap; leave them out");
    }
    ClusterArguments arguments;
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
    ProductOptions& product = plan.product;
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

Registered add_plan(CLI::App& root) {
    CLI::App* command = root.add_subcommand("plan", "print what a product would do, and multiply nothing");
    auto words = std::make_shared<ProductWords>();
    auto machine = std::make_shared<MachineWords>();
    auto sizes = std::make_shared<std::array<std::string, 3>>();
    command->add_option("M", (*sizes)[0], "rows of A and C")->required()->type_name("");
    command->add_option("K", (*sizes)[1], "columns of A, rows of B")->required()->type_name("");
    command->add_option("N", (*sizes)[2], "columns of B and C")->required()->type_name("");
    add_plan_options(*command, *words);
    add_update_options(*command, *words);
    add_run_options(*command, *words);
    command
        ->add_option("--machine", machine->machine,
                     "auto (this one), or c1060: count arithmetics, transactions and volume as in docs/p0.md")
        ->type_name("NAME");
    command->add_option("--tau1", machine->tau1, "c1060: up to this size, the classical product")->type_name("N");
    command->add_option("--tau2", machine->tau2, "c1060: up to this size, one level")->type_name("N");
    auto nodes = std::make_shared<NodeWords>();
    add_node_options(*command, *nodes);
    auto files = std::make_shared<bool>(false);
    command->add_flag("--files", *files, "from file to file in --memory: bytes, memory and seconds of each stage");
    add_json_flag(*command, words->json);
    command->footer(
        "Takes the options of mul. Files are not looked at: C0, if there is one, has the size of the product, and bits "
        "are packed.\n"
        "Beyond --memory, and with --resume, --overlap or --trace, the plan is the one of --files, as in mul.\n"
        "The print can be given back: heptad plan 4096 4096 4096 > p.txt; heptad mul A.npy B.npy -o C.npy --plan "
        "p.txt\n"
        "(not the prints over several devices, from file to file and of clusters: give mul the same options).\n"
        "Example: heptad plan 4096 4096 4096 --type f32 --accuracy fast");
    return {command, [words, sizes, machine, nodes, files] {
                PlanArguments plan;
                plan.files = *files || words->by_files();
                const bool may_be_files = nodes->nodes.empty() && (plan.files || !words->memory.empty());
                if (may_be_files && !nodes->disk.empty()) {
                    plan.disk_bytes_per_s = parse_rate("--disk", nodes->disk, RateUnit::bytes);
                    nodes->disk.clear();
                }
                plan.c1060 = c1060_arguments(*words, *machine);
                plan.cluster = cluster_arguments(*words, *machine, *nodes);
                plan.product = product_options(*words, Accuracy::balanced);
                plan.verify = words->verify;
                plan.overlap = overlap_of(*words).value_or(true);
                if (words->beta.empty() && !words->add.empty()) {
                    fail(ErrorCode::usage, "--add takes --beta too: the factor of what is added");
                }
                if (plan.cluster) {
                    plan.product.options.algorithm = node_algorithm(words->algorithm);
                    plan.cluster->request.memory_bytes =
                        plan.product.memory_bytes.value_or(plan.cluster->request.memory_bytes);
                }
                plan.size.m = parse_integer("M", (*sizes)[0], 0, kLargestSize);
                plan.size.k = parse_integer("K", (*sizes)[1], 0, kLargestSize);
                plan.size.n = parse_integer("N", (*sizes)[2], 0, kLargestSize);
                require_told_shapes(plan);
                return Invocation(plan);
            }};
}

Registered add_verify(CLI::App& root) {
    CLI::App* command = root.add_subcommand("verify", "check C = A*B without computing it");
    auto words = std::make_shared<ProductWords>();
    auto verify = std::make_shared<VerifyArguments>();
    auto seed = std::make_shared<std::string>();
    command->add_option("A", verify->a, "left matrix: .npy, or .pbm .png .mtx of bits")->required()->type_name("");
    command->add_option("B", verify->b, "right matrix")->required()->type_name("");
    command->add_option("C", verify->c, "claimed result")->required()->type_name("");
    command->add_option("--type", words->type, "element type, where the files allow several")->type_name("T");
    command
        ->add_option("--accuracy", words->accuracy,
                     "error bound to hold C to: that of a strict, balanced or fast plan (default)")
        ->type_name("WORD");
    command->add_option("--threads", words->threads, "threads to use (default: all cores)")->type_name("N");
    add_update_options(*command, *words);
    command->add_flag("--all-rows", verify->all_rows, "bool: recompute every row, not a sample");
    command->add_option("--seed", *seed, "seed of the random check (default: a new one each time)")->type_name("S");
    add_json_flag(*command, words->json);
    command->footer("Exit code 5 if C is wrong.\nExample: heptad verify A.npy B.npy C.npy");
    return {command, [words, verify, seed] {
                require_beta_with_add(*words);
                verify->product = product_options(*words, Accuracy::fast);
                if (!seed->empty()) {
                    verify->seed = static_cast<std::uint64_t>(parse_integer("--seed", *seed, 0, kLargestSize));
                }
                return Invocation(*verify);
            }};
}

Registered add_gen(CLI::App& root) {
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
    command->add_option("-o,--output", words->output, "file to write: .npy, or .pbm .png of bits")
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
            return Invocation(gen);
        }};
}

/// Options that the file leaves no room for are refused, not ignored.
void require_info_options(const InfoArguments& info) {
    if (info.file.empty() && (info.type || info.columns)) {
        fail(ErrorCode::usage, "--type and --columns tell of a matrix file; name one, or leave them out");
    }
    const bool tells_columns = !info.file.empty() && is_bit_file_name(info.file);
    if (tells_columns && info.columns) {
        fail(ErrorCode::usage, "{} tells its columns itself; --columns is for .npy files of packed bits", info.file);
    }
    if ((tells_columns || info.columns) && info.type && *info.type != Type::gf2 && *info.type != Type::boolean) {
        fail(ErrorCode::usage, "{} holds bits, not {}; leave --type out", info.file, type_name(*info.type));
    }
}

Registered add_info(CLI::App& root) {
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
                return Invocation(*info);
            }};
}

Registered add_closure(CLI::App& root) {
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
                return Invocation(*closure);
            }};
}

Registered add_algorithms(CLI::App& root) {
    CLI::App* command = root.add_subcommand("algorithms", "the catalogue and its facts");
    auto algorithms = std::make_shared<AlgorithmsArguments>();
    command
        ->add_option("NAME", algorithms->name,
                     "one algorithm (a name or an .alg file), or search-basis: find the sparsest bases of "
                     "Strassen's algorithm over GF(2)")
        ->type_name("");
    command->add_flag("--all", algorithms->with_derived, "also list the symmetric variants of rectangular ones");
    add_json_flag(*command, algorithms->json);
    command->footer("Example: heptad algorithms winograd");
    return {command, [algorithms] { return Invocation(*algorithms); }};
}

Registered add_tune(CLI::App& root) {
    CLI::App* command = root.add_subcommand("tune", "measure this machine once; plans use it");
    auto tune = std::make_shared<TuneArguments>();
    command->add_flag("--quick", tune->quick, "fewer and smaller measurements; on a device, of bit products alone");
    auto device = std::make_shared<std::string>();
    command->add_option("--device", *device, "cpu, cuda or cuda:N")->type_name("D");
    command->add_flag("--show", tune->show, "show what was measured before, and measure nothing");
    auto threads = std::make_shared<std::string>();
    command->add_option("--threads", *threads, "measure for so many threads (default: all cores)")->type_name("N");
    add_json_flag(*command, tune->json);
    command->footer("Example: heptad tune --quick");
    return {command, [tune, threads, device] {
                tune->device = device->empty() ? "cpu" : parse_device(*device);
                tune->threads = thread_count(*threads);
                return Invocation(*tune);
            }};
}

Registered add_report(CLI::App& root) {
    CLI::App* command = root.add_subcommand("report", "tables and pictures of result files and timelines, as HTML");
    auto report = std::make_shared<ReportArguments>();
    command->add_option("FILE", report->files, "what --json of a bench or --trace wrote")->required()->type_name("");
    command->add_option("-o,--output", report->output, "the page to write")->required()->type_name("HTML");
    command->footer("Example: heptad report result.json trace.json -o report.html");
    return {command, [report] { return Invocation(*report); }};
}

/// The parser's complaint as one sentence that says where to look.
std::string usage_sentence(const CLI::App& root, const CLI::ParseError& error) {
    std::string path = "heptad";
    const CLI::App* deepest = &root;
    while (!deepest->get_subcommands().empty()) {
        deepest = deepest->get_subcommands().front();
        path += " " + deepest->get_name();
    }
    std::string complaint = error.what();
    // A word that nobody knows explains whatever else is missing.
    const std::vector<std::string> extra = root.remaining(true);
    const bool needs_command = deepest == &root || path == "heptad bench";
    if (!extra.empty()) {
        const char* kind = extra[0].starts_with("-") ? "option" : needs_command ? "command" : "argument";
        complaint = fmt::format("unknown {} '{}'", kind, extra[0]);
    } else if (needs_command) {
        complaint = "a command is missing";
    }
    return fmt::format("{}; see '{} --help'", complaint, path);
}

/// `heptad bench` alone, or with options only, means its first suite.
std::vector<std::string> with_default_suite(std::vector<std::string> words) {
    const bool bench = !words.empty() && words[0] == "bench";
    const bool help = words.size() > 1 && (words[1] == "-h" || words[1] == "--help");
    if (bench && !help && (words.size() == 1 || words[1].starts_with("-"))) {
        words.insert(words.begin() + 1, "cpu");
    }
    return words;
}

std::string as_typed(const std::vector<std::string>& words) {
    std::string typed = "heptad";
    for (const std::string& word : words) {
        typed += " " + (word.find(' ') == std::string::npos ? word : "'" + word + "'");
    }
    return typed;
}

}  // namespace

Invocation parse_command_line(const std::vector<std::string>& given) {
    CLI::App root("Heptad multiplies matrices with fewer multiplications.", "heptad");
    root.set_version_flag("--version", std::string("heptad ") + version());
    root.require_subcommand(1);
    root.footer(
        "Exit codes: 0 done, 2 wrong usage, 3 bad input, 4 out of memory or disk, 5 verification failed, "
        "130 interrupted.\nExample: heptad mul A.npy B.npy -o C.npy");
    std::vector<Registered> commands{add_mul(root),        add_plan(root), add_verify(root),
                                     add_gen(root),        add_info(root), add_closure(root),
                                     add_algorithms(root), add_tune(root), add_report(root)};
    CLI::App* bench = root.add_subcommand("bench", "time Heptad against the vendor libraries, in one run");
    bench->require_subcommand(1);
    bench->footer("Without a suite: cpu.\nExample: heptad bench cpu --quick");
    for (Registered& suite : add_bench_suites(*bench, as_typed(given))) {
        commands.push_back(std::move(suite));
    }

    std::vector<std::string> words = with_default_suite(given);
    std::reverse(words.begin(), words.end());  // the order this form of parse() wants
    try {
        root.parse(words);
    } catch (const CLI::CallForVersion& call) {
        return HelpText{std::string(call.what()) + "\n"};
    } catch (const CLI::CallForHelp&) {
        return HelpText{root.help()};
    } catch (const CLI::ParseError& error) {
        fail(ErrorCode::usage, "{}", usage_sentence(root, error));
    }
    for (const Registered& command : commands) {
        if (command.app->parsed()) {
            return command.arguments();
        }
    }
    fail(ErrorCode::internal, "the command line was parsed but names no command");
}

}  // namespace heptad::cli
