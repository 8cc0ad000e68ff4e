// What the files that know option names share.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "product/request/cluster_outlook.hpp"
#include "product/request/report.hpp"

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace heptad::cli {

constexpr std::int64_t kLargestSize = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostThreads = 4096;
constexpr std::int64_t kMostProductLevels = 20;  // as the planner has it

// What was asked of a product, as values that were checked.

struct MulArguments {
    Request request;
    bool json = false;
};

struct PlanArguments {
    ProblemSize size;
    Request request;
    std::optional<ClusterQuestion> cluster;  // empty: one machine
    bool files = false;                      // from file to file
    std::optional<double> disk_bytes_per_s;  // empty: measured
    bool json = false;
};

/// Breaks long lines of its help, and of that of commands that are added to it later.
void narrow_help(CLI::App& root);
/// The parser's complaint as one sentence that says where to look.
std::string usage_sentence(const CLI::App& root, const CLI::ParseError& error);
/// Empty words come from shell variables that are not set: they are told, not passed over. Throws Error(usage).
void require_words(const std::vector<std::string>& words);

/// An option and what its value is called: "--memory SIZE"; or the name of an argument.
CLI::Option& add_value(CLI::App& command, const std::string& name, std::string& word, const std::string& help);

void add_threads_option(CLI::App& command, std::string& threads);
/// 0 where nothing was typed.
int thread_count(const std::string& word);
/// A device or several of them by a name that can be meant, whether this machine has them or not.
std::string parse_device(const std::string& word);
/// Columns of packed bits.
void add_columns_option(CLI::App& command, std::string& columns);
std::optional<std::int64_t> column_count(const std::string& word);
void add_json_flag(CLI::App& command, bool& json);

/// How the host cuts a product up, as typed: for devices, or through files.
struct HostWords {
    std::string device_memory, levels, algorithm, pipelines;
    bool given() const { return !(device_memory.empty() && levels.empty() && algorithm.empty() && pipelines.empty()); }
};
void add_host_options(CLI::App& command, HostWords& words);
/// Throws Error(usage) where options are given and `device` is no device beside the processor; levels are taken then
/// too where the product may go from file to file.
HostOptions host_options(const HostWords& words, const std::string& device, bool may_go_by_files);

/// `mul` in the parser, for programs that do something else with its words.
struct MulWords {
    CLI::App* app = nullptr;
    std::function<MulArguments()> arguments;  // once they are parsed. Throws Error(usage)
};
MulWords add_mul_words(CLI::App& root);

/// The options of products on clusters, which `heptad plan --nodes` and `heptad-mpi mul` share, as typed.
struct ClusterWords {
    std::string network, grid, block, broadcast;
    bool scatter = false;
};

void add_cluster_options(CLI::App& command, ClusterWords& words);
bool any_given(const ClusterWords& words);

/// Values that were checked. `algorithm` is the word after --algorithm: a name of a cluster's algorithm, or one for the
/// products inside each node, which then share out as `auto` says.
ClusterRequest cluster_request(const ClusterWords& words, const std::string& algorithm);
/// The name for the products inside each node.
std::string node_algorithm(const std::string& algorithm);
ForecastOptions forecast_options(const ClusterWords& words);
/// Default: 10 Gbit/s.
double network_rate(const ClusterWords& words);

// The options of a product as typed, and what they mean.

/// What the words promise (docs/accuracy.md).
inline constexpr const char* kAccuracyHelp =
    "what errors are relative to: exact (no errors; the result is rounded once), strict (the terms of each sum, as in "
    "a "
    "classical product), balanced (default; rows of A and columns of B) or fast (the largest entries)";

/// Options of a product as typed.
struct ProductWords {
    std::string type, device, algorithm, levels, accuracy, leaf, mode, threads, memory, alpha, beta, columns, raw_a,
        raw_b, overlap;
    HostWords host;
    bool json = false;
    Request plain;  ///< names and flags, which need no parsing

    /// What only a product from file to file has.
    bool by_files() const { return plain.resume || !overlap.empty() || !plain.trace_file.empty(); }
};

/// The names of A and B.
void add_operands(CLI::App& command, Request& request);
/// How the product is made: type, device, algorithm, levels, accuracy, memory ...
void add_plan_options(CLI::App& command, ProductWords& words);
/// What is multiplied and added: alpha, beta, C0, transposes, columns of packed bits.
void add_update_options(CLI::App& command, ProductWords& words);
/// How the run goes: check, files without headers, resume, overlap, timeline.
void add_run_options(CLI::App& command, ProductWords& words);

/// Values that were checked. Throws Error(usage).
Request request_of(const ProductWords& words);
void require_beta_with_add(const ProductWords& words);

}  // namespace heptad::cli
