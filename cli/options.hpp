// What the command line asked for, as plain structs. Only parse_command_line() knows the option names; the commands see
// values that were checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <heptad/heptad.hpp>

#include "io/matrix_source.hpp"
#include "plan/model/cluster_request.hpp"
#include "plan/predict/cluster_forecast.hpp"

namespace heptad::cli {

/// The knobs of a product, shared by `mul`, `plan` and `verify`.
struct ProductOptions {
    Options options;
    int threads = 0;                           // 0: all cores this process may use
    std::optional<Type> type;                  // empty: what the files say
    std::optional<std::int64_t> memory_bytes;  // cap on operands plus workspace
    bool transpose_a = false, transpose_b = false;
    double alpha = 1, beta = 0;
    std::string add;                       // file of C0; empty: none
    std::optional<std::int64_t> columns;   // .npy files hold packed bits, and so many columns
    std::optional<RawShape> raw_a, raw_b;  // files without a header
    bool count = false;                    // of bit matrices: common ones of rows and columns, as i32
    bool json = false;
};

struct MulArguments {
    std::string a, b, output;
    ProductOptions product;
    bool verify = false;
    std::string plan_file;        // empty: plan it
    bool resume = false;          // from file to file
    std::optional<bool> overlap;  // likewise
    std::string trace_file;       // likewise; empty: none
};

/// The machine of the paper that GPU plans are compared with, and its thresholds; see plan/c1060.hpp.
struct C1060Arguments {
    std::optional<int> levels;  // empty: by the thresholds
    std::int64_t tau1 = 0, tau2 = 0;
};

/// A cluster that need not exist; see plan/predict/cluster_forecast.hpp.
struct ClusterArguments {
    std::int64_t nodes = 1;
    ClusterRequest request;
    ForecastOptions forecast;
    ClusterRates rates;
    bool rate_given = false;  // rates.operations_per_s; otherwise what this machine would do
};

struct PlanArguments {
    ProblemSize size;
    ProductOptions product;
    std::optional<C1060Arguments> c1060;      // empty: this machine
    std::optional<ClusterArguments> cluster;  // empty: one machine
    bool verify = false;                      // the check takes memory too
    bool files = false;                       // from file to file
    bool overlap = true;                      // likewise
    std::optional<double> disk_bytes_per_s;   // empty: measured
};

struct VerifyArguments {
    std::string a, b, c;
    ProductOptions product;
    bool all_rows = false;
    std::optional<std::uint64_t> seed;  // empty: drawn from the system
};

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

struct InfoArguments {
    std::string file;  // empty: this machine
    std::optional<Type> type;
    std::optional<std::int64_t> columns;  // the .npy holds packed bits
    bool json = false;
};

struct ClosureArguments {
    std::string graph, output;
    std::optional<std::int64_t> columns;
    std::string device = "auto";
    int threads = 0;
    bool json = false;
};

struct AlgorithmsArguments {
    std::string name;  // empty: the catalogue; "search-basis": the search over GF(2)
    bool with_derived = false;
    bool json = false;
};

struct TuneArguments {
    std::string device = "cpu";  // or a CUDA device
    bool quick = false;
    bool show = false;
    int threads = 0;
    bool json = false;
};

/// Where the results of a benchmark go beside its table; empty names: nowhere.
struct ResultFiles {
    std::string json, html;
    bool any() const { return !json.empty() || !html.empty(); }
};

struct BenchCpuArguments {
    ResultFiles results;
    std::vector<Type> types;
    std::vector<ProblemSize> shapes;  // empty: the suite's own
    bool quick = false;
    Accuracy accuracy = Accuracy::fast;
    int threads = 0;
    std::string algorithm = "auto", leaf = "auto";
    int levels = -1;              // -1: as many as pay
    int rounds = 0;               // 0: by the size of the product
    std::string command;          // as typed, for the result file
    bool against_itself = false;  // every library takes part twice
};

struct BenchGpuArguments {
    ResultFiles results;
    std::vector<Type> types;
    std::vector<ProblemSize> shapes;  // empty: the suite's own
    bool quick = false;
    Accuracy accuracy = Accuracy::fast;
    std::string device = "cuda";
    std::string algorithm = "auto";
    int levels = -1;      // -1: as many as pay
    int rounds = 0;       // 0: by the size of the product
    std::string command;  // as typed, for the result file
};

struct BenchP0Arguments {
    ResultFiles results;
    std::vector<Type> types;
    std::vector<std::int64_t> sizes;
    std::vector<std::string> algorithms;
    std::vector<int> levels;          // not looked at with thresholds
    std::int64_t tau1 = 0, tau2 = 0;  // 0: by the levels
    std::vector<std::string> data;    // kinds of generated matrices
    std::string device = "cuda";
    std::string leaf = "auto";
    int rounds = 0;       // 0: by the size of the product
    std::string command;  // as typed, for the result file
};

struct BenchP1Arguments {
    ResultFiles results;
    std::vector<Type> types;
    std::vector<std::int64_t> sizes;
    std::vector<int> levels;
    std::string device = "cuda";
    std::string command;  // as typed, for the result file
};

struct BenchModelArguments {
    ResultFiles results;
    std::vector<Type> types;
    std::vector<ProblemSize> shapes;  // none: the suite's
    bool all_tiles = false;
    int rounds = 0;  // 0: five
    std::string device = "cuda";
    std::string command;  // as typed, for the result file
};

struct BenchP3Arguments {
    ResultFiles results;
    std::vector<Type> types;
    std::vector<std::int64_t> sizes;
    std::string leaf = "auto", algorithm = "auto";
    int levels = -1;         // -1: as many as pay
    int serial_levels = -1;  // of those; -1: as many as the memory asks for
    std::string device = "cuda";
    int rounds = 0;                             // 0: by the time of the product
    double density = 0;                         // share of ones; 0: a half, but Boolean products are checked with fewer
    std::vector<std::int64_t> from_host_sizes;  // also from and to host memory, where they are among the sizes
    bool machine = true;                        // tables 4 to 7 first
    std::string command;                        // as typed, for the result file
};

struct BenchBitsArguments {
    ResultFiles results;
    std::vector<Type> types;
    std::vector<ProblemSize> shapes;  // empty: the suite's own
    std::vector<double> densities;    // of ones; empty: a half, and for booleans also so few that half of C is ones
    std::int64_t power_size = 0;      // of A^8; 0: the suite's own, and none where sizes are named
    bool quick = false;
    int rounds = 0;  // 0: by the size of the product
    std::string leaf = "auto", algorithm = "auto";
    int levels = -1;  // -1: as many as pay
    int threads = 0;
    std::string command;  // as typed, for the result file
};

struct BenchDevicesArguments {
    ResultFiles results;
    std::vector<Type> types;
    std::vector<ProblemSize> shapes;  // empty: the suite's own
    std::string device;               // a list of devices
    HostOptions host;
    Accuracy accuracy = Accuracy::fast;
    double density = 0.5;  // of ones in packed bits
    int rounds = 0;        // 0: 5
    bool locked = false;   // the pages of the matrices, for NVIDIA devices
    std::string command;   // as typed, for the result file
};

struct BenchFilesArguments {
    std::string a, b, output;  // no files: P4's Set 1
    ResultFiles results;
    std::int64_t size = 32768;            // of that set
    std::int64_t memory_bytes = 0;        // likewise
    std::string folder, device = "auto";  // likewise
    HostOptions host;                     // likewise: its levels
    bool quick = false;
    Accuracy accuracy = Accuracy::fast;
    int threads = 0;
    std::string command;
};

struct ReportArguments {
    std::vector<std::string> files;
    std::string output;
    bool json = false;
};

/// --help, --version: text for standard output, then exit code 0.
struct HelpText {
    std::string text;
};

using Invocation =
    std::variant<HelpText, MulArguments, PlanArguments, VerifyArguments, GenArguments, InfoArguments, ClosureArguments,
                 AlgorithmsArguments, TuneArguments, BenchCpuArguments, BenchGpuArguments, BenchBitsArguments,
                 BenchDevicesArguments, BenchP0Arguments, BenchP1Arguments, BenchP3Arguments, BenchModelArguments,
                 BenchFilesArguments, ReportArguments>;

/// Throws Error(usage).
Invocation parse_command_line(const std::vector<std::string>& given);

}  // namespace heptad::cli
