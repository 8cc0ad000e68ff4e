// What `heptad bench p1` compares with cuBLAS: the steps of P1's ablation, its dead ends, and plans.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "papers/p1/bench_p1_device.hpp"
#include "plan/model/machine.hpp"

namespace heptad::cli {

/// Square operands on the device; A and B are the entry's to destroy.
struct P1Operands {
    View a, b, c;
};

struct P1Entry {
    std::string variant;
    int levels = 0;
    std::string plan;  // in words
    std::int64_t workspace_bytes = 0;
    double error_bound = 0;
    /// C = A * B, enqueued; `times` may be null. `workspace` is device memory of workspace_bytes.
    std::function<void(const P1Operands& operands, void* workspace, P1Times* times)> run;
};

/// `backend` works on `stream`; both outlive the entries. n is a multiple of p1_unit(type, levels).
std::vector<P1Entry> p1_entries(Type type, std::int64_t n, const std::vector<int>& levels, const cuda::Stream& stream,
                                cuda::CudaBackend& backend, const Machine& machine);

/// Blocks of the last level begin on 16-byte boundaries.
std::int64_t p1_unit(Type type, int levels);

}  // namespace heptad::cli
