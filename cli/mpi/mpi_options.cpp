// The command line of heptad-mpi.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "base/fail_if.hpp"
#include "cli/mpi/mpi_mul.hpp"
#include "cli/option_words.hpp"
#include "cli/text.hpp"
#include "io/whole_matrix.hpp"
#include "product/device/device_list.hpp"

namespace heptad::cli {
namespace {

/// What `heptad mul` takes and one file on many ranks does not.
constexpr std::array<const char*, 10> kOfOneMachine{
    "--plan",    "--overlap",       "--raw-a",       "--raw-b",          "--count",
    "--columns", "--device-memory", "--host-levels", "--host-algorithm", "--pipelines"};
void require_supported(const Request& request) {
    require_npy_name(request.output);
    fail_if(!request.plan_file.empty(), ErrorCode::usage,
            "heptad-mpi takes no --plan, which is for one machine; give --algorithm, --grid or --block");
    fail_if(request.overlap.has_value(), ErrorCode::usage,
            "heptad-mpi always overlaps its stages; leave out --overlap");
    fail_if(request.raw_a || request.raw_b || request.count, ErrorCode::usage,
            "heptad-mpi has no --raw-a, --raw-b and --count; leave them out");
    const HostOptions& host = request.options.host;
    const HostOptions usual;
    fail_if(is_device_list(request.options.device) || host.device_memory_bytes != usual.device_memory_bytes ||
                host.levels != usual.levels || host.algorithm != usual.algorithm || host.pipelines != usual.pipelines,
            ErrorCode::usage,
            "heptad-mpi has one device per rank, named by --device cuda; leave out lists of devices, --device-memory, "
            "--host-levels, --host-algorithm and --pipelines");
    fail_if(request.columns.has_value(), ErrorCode::usage,
            "heptad-mpi reads bit matrices of one byte per element only; leave out --columns");
}

ClusterJob cluster_job(const Request& request, const ClusterWords& words) {
    ClusterJob job;
    job.a = request.a;
    job.b = request.b;
    job.output = request.output;
    job.type = request.type;
    job.transpose_a = request.transpose_a;
    job.transpose_b = request.transpose_b;
    job.node.options = request.options;
    job.node.options.algorithm = node_algorithm(request.options.algorithm);
    job.node.threads = request.threads;
    job.node.conjugate_a = request.conjugate_a;
    job.node.conjugate_b = request.conjugate_b;
    job.node.alpha = request.alpha;
    job.node.beta = request.beta;
    job.c0 = request.beta != 0.0 ? request.add : "";
    job.memory_bytes = request.memory_bytes;
    job.request = cluster_request(words, request.options.algorithm);
    job.network_bytes_per_s = network_rate(words);
    job.distribution = forecast_options(words);
    job.verify = request.verify;
    job.resume = request.resume;
    job.version = version();
    return job;
}

/// As App::get_option(), which ends the process where memory runs out: it is noexcept and allocates.
CLI::Option& option_named(CLI::App& command, const std::string& name) {
    for (CLI::Option* const option : command.get_options()) {
        const auto& names = option->get_lnames();
        if (option->get_name(true) == name ||
            std::ranges::any_of(names, [&](const std::string& each) { return "--" + each == name; })) {
            return *option;
        }
    }
    fail(ErrorCode::internal, "mul has no {}", name);
}

}  // namespace

MpiInvocation parse_mpi_command_line(const std::vector<std::string>& words) {
    CLI::App root("Heptad on all ranks of an MPI job.", "heptad-mpi");
    root.set_version_flag("--version", std::string("heptad-mpi ") + version());
    root.require_subcommand(1);
    const MulWords command = add_mul_words(root);
    for (const char* const other : kOfOneMachine) {
        option_named(*command.app, other).group("");  // known, so that it can be answered, but not shown
    }
    const auto describe = [&](const char* option, const char* text) {
        option_named(*command.app, option).description(text);
    };
    describe("A", "left matrix: .npy or .mtx");
    describe("--output", "result: .npy");
    describe("--device", "auto, cpu, reference or cuda: one device for each rank of a node");
    describe("--threads", "threads of each rank (default: its share of the node's cores)");
    describe("--memory", "maximum memory of a rank, such as 8G (default: its share of what is free)");
    describe("--resume", "continue a job that was interrupted");
    describe("--trace", "write when each stage of each rank worked, as trace events");
    ClusterWords cluster;
    MpiMulArguments arguments;
    std::string scratch;
    bool keep_parts = false;
    add_cluster_options(*command.app, cluster);
    add_value(*command.app, "--scratch DIR", scratch, "folder of each node for its parts of A and B; with --scatter");
    command.app->add_flag("--keep-parts", keep_parts, "every rank keeps its part of C in a file of its own");
    command.app->footer(
        "--algorithm also knows grid (default), pegmm, mod-pegmm and caps.\n"
        "Example: mpirun -n 4 heptad-mpi mul A.npy B.npy -o C.npy");
    require_words(words);
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    try {
        root.parse(reversed);
    } catch (const CLI::CallForVersion& call) {
        return HelpText{std::string(call.what()) + "\n"};
    } catch (const CLI::CallForHelp&) {
        return HelpText{root.help()};
    } catch (const CLI::ParseError& error) {
        fail(ErrorCode::usage, "{}", usage_sentence(root, error));
    }
    const MulArguments mul = command.arguments();
    require_supported(mul.request);
    arguments.job = cluster_job(mul.request, cluster);
    arguments.job.scratch = scratch;
    arguments.job.keep_parts = keep_parts;
    arguments.trace_file = mul.request.trace_file;
    arguments.job.keep_intervals = !arguments.trace_file.empty();
    arguments.json = mul.json;
    fail_if(!scratch.empty() && !cluster.scatter, ErrorCode::usage,
            "--scratch is for --scatter, which puts parts of A and B there; give both or neither");
    return arguments;
}

}  // namespace heptad::cli
