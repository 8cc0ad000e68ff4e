// Decides how the host cuts a product for N devices: levels of an algorithm or segments of C, size of the blocks, how
// many pipelines feed a device, and what that takes in memory, transfers and seconds. Pure functions: what a device
// needs for a block comes from the caller.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plan/model/machine.hpp"
#include "plan/search/host_layer.hpp"

namespace heptad {

/// What was asked.
struct HostProblem {
    ProblemSize size;
    Type type = Type::f32;
    Type result_type = Type::f32;
    bool packed = false;  // bits in words
    bool accumulate = false;
    Accuracy accuracy = Accuracy::balanced;
    HostOptions constraints;        // its device_memory_bytes is what a device has, if less than that was not asked for
    bool shifted = false;           // packed: A or B begins inside a word, so that blocks do not lie in place
    std::int64_t copied_bytes = 0;  // on the host beside the buffers, as for a C that begins inside a word
    /// Cuts like these were measured there: what those with the same levels and pipelines took more than predicted, or
    /// where there is none the mean of all, is added to a prediction. What binds is predicted from rates, and grows
    /// with the product; what else a run costs does not.
    std::vector<BitHostSample> measured = {};
};

/// N equal devices and the host between them.
struct DeviceFacts {
    std::string name;  // as typed: "cuda:0,1"
    int devices = 1;
    std::int64_t memory_bytes = 0;  // of each
    double upload_bytes_per_s = 50e9, download_bytes_per_s = 50e9;
    bool in_host_memory = false;      // cores: what they use is missing on the host
    double task_s = 1e-4;             // beyond the product: hand-overs between threads, starts of transfers
    double buffer_bytes_per_s = 4e9;  // taking memory for buffers of the host, which costs time once
    /// In place: what each pipeline takes on the host for its transfers, where a block has at least so many bytes.
    std::int64_t staging_bytes = 0, least_staged_bytes = 0;
};
struct HostFacts {
    std::int64_t memory_bytes = 0;  // for buffers, beside the operands
    double sum_bytes_per_s = 20e9;  // read and written by the sums of all threads
};

/// One product of blocks on one device.
struct SolveForecast {
    double seconds = 0;
    std::int64_t workspace_bytes = 0;
    double error_bound = 0;  // floats, as in ProductPlan
    double growth = 1;       // of the error on random data, over the classical product's
};
/// The forecast for a block, within so many bytes of workspace; `accumulate`: results of several blocks are added
/// there.
using SolveForecaster = std::function<SolveForecast(const ProblemSize& block, bool accumulate, std::int64_t workspace)>;

struct HostPlan {
    ProblemSize size;
    Type type = Type::f32;
    bool packed = false;
    std::string devices;
    int device_count = 1;
    std::string algorithm = "classical";
    int levels = 0;  // d_h of P3; 0: segments of C
    BlockGrid grid;
    ProblemSize block;
    std::int64_t tasks = 0;  // products on devices
    int pipelines = 1;       // per device
    bool in_place = false;   // devices read blocks of A and B, and write those of C, where they lie

    std::int64_t device_bytes = 0;     // on each: blocks of all its pipelines, and workspace
    std::int64_t workspace_bytes = 0;  // of those
    std::int64_t host_bytes = 0;       // buffers of all pipelines, and copies
    std::int64_t upload_bytes = 0, download_bytes = 0;
    double solve_s = 0, upload_s = 0, download_s = 0, host_s = 0;  // of the busiest device, and of the host
    double predicted_s = 0;
    double measured_more_s = 0;  // that is in it
    double error_bound = 0;

    /// The stage that takes longest: "solve", "upload", "download" or "host".
    const char* binds() const;
    /// And its time: with everything else hidden behind it, no run could be faster.
    double bound_s() const;
};
/// One line.
std::string to_string(const HostPlan& plan);
/// The part of that line on which the bits of a result depend: equal for plans that differ in predicted times only.
std::string bits_decided_by(const HostPlan& plan);

/// Throws Error(resource) that says what is needed and what there is, where no cut fits; Error(usage) for constraints
/// that cannot be meant.
HostPlan make_host_plan(const HostProblem& problem, const DeviceFacts& devices, const HostFacts& host,
                        const SolveForecaster& forecast);

/// The sub-instances of a plan.
HostLayer layer_of(const HostPlan& plan);

/// Bytes of a block in a buffer: rows, or columns, begin on 64-byte boundaries.
std::int64_t padded_block_bytes(Type type, bool packed, std::int64_t rows, std::int64_t cols);

}  // namespace heptad
