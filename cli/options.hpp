// What the command line asked for, as plain structs. Only the files of options know the option names; the commands see
// values that were checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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

}  // namespace heptad::cli
