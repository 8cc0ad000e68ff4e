// What the command line asked for, as plain structs. Only the files of options know the option names; the commands see
// values that were checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <heptad/heptad.hpp>

#include "product/request/cluster_outlook.hpp"
#include "product/request/report.hpp"

namespace heptad::cli {

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

struct VerifyArguments {
    VerifyRequest request;
    bool json = false;
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
    std::string name;  // of an algorithm or a topic; empty: the catalogue
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
