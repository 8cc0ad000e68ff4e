// What a cut of a product by the host of N devices comes to: memory, transfers and seconds. Pure functions: what a
// device makes of a block comes from the caller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/model/machine.hpp"
#include "plan/model/plan.hpp"
#include "plan/model/problem.hpp"
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
    HostOptions constraints{};      // its device_memory_bytes is what a device has, if less than that was not asked for
    bool shifted = false;           // packed: A or B begins inside a word, so that blocks do not lie in place
    std::int64_t copied_bytes = 0;  // on the host beside the buffers, as for a C that begins inside a word
    /// Cuts like these were measured there: what those with the same levels and pipelines took more than predicted, or
    /// where there is none the mean of all, is added to a prediction. What binds is predicted from rates, and grows
    /// with the product; what else a run costs does not.
    std::vector<BitHostSample> measured = {};
};
/// Is every entry rounded once, in a segment with all of k?
inline bool takes_whole_k(const HostProblem& problem) {
    return takes_whole_k(problem.accuracy, problem.type);
}
/// Then what C holds is part of that: devices get it first.
inline bool brings_result(const HostProblem& problem) {
    return problem.accumulate && takes_whole_k(problem);
}

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

struct HostForecast {
    int devices = 1;
    BlockGrid grid{};
    int steps = 1;                  // products whose results are added on a device
    std::int64_t tasks = 0;         // products on devices
    std::int64_t device_bytes = 0;  // on each: blocks of all its pipelines, and workspace
    std::int64_t host_bytes = 0;    // buffers of all pipelines, and copies
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

/// How many products a cut makes, and how many blocks its sums read and write.
struct CutShape {
    BlockGrid grid;
    std::int64_t groups = 0;
    int steps = 1;
    std::int64_t left_terms = 0, right_terms = 0, result_terms = 0;
    LayerGrowth growth;
};
/// Of segments by their blocks, else of the levels. Throws as algorithm_layer() does.
CutShape cut_shape(const HostCut& cut, const ProblemSize& size, Type type);

/// Sides of blocks are multiples of this.
std::int64_t block_unit(bool packed);
/// That many of them cover the product.
ProblemSize block_of(const ProblemSize& size, const BlockGrid& grid, bool packed);
/// Bytes of a block in a buffer: rows, or columns, begin on 64-byte boundaries.
std::int64_t padded_block_bytes(Type type, bool packed, std::int64_t rows, std::int64_t cols);
/// T, S and Q of all pipelines of a device.
std::int64_t block_bytes_of_device(const HostProblem& problem, const HostCut& cut);
/// Buffers of all pipelines, and copies.
std::int64_t host_buffer_bytes(const HostProblem& problem, const HostCut& cut, const DeviceFacts& devices);
/// Are its blocks whole words as they lie in the matrices, with nothing to add up or to fill with zeros?
bool lies_in_place(const HostProblem& problem, const HostCut& cut);

/// `block`: the plan of one product on one device.
HostForecast host_forecast(const HostProblem& problem, const HostCut& cut, const CutShape& shape,
                           const DeviceFacts& devices, const HostFacts& host, const ProductPlan& block);

}  // namespace heptad
