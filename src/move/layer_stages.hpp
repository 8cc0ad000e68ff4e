// The stages of a product over devices: makes T and S of a sub-instance in host memory, has a lane multiply them, and
// adds Q to the blocks of C. Knows nothing of elements; matrices in host memory are behind HostMatrices.
#pragma once

#include "move/block_turns.hpp"
#include "move/compute_device.hpp"
#include "move/device_pipeline.hpp"
#include "plan/search/host_layer.hpp"

namespace heptad {

/// A, B and C in host memory. Every function may be called by several threads at once, update() for different blocks.
class HostMatrices {
public:
    virtual ~HostMatrices() = default;
    virtual void make_left(const BlockProduct& instance, void* to) = 0;
    virtual void make_right(const BlockProduct& instance, void* to) = 0;
    /// A block of C as it is.
    virtual void make_result(const BlockResult& /*term*/, void* /*to*/) {}
    /// `first`: the block of C still holds what the caller gave.
    virtual void update(const BlockResult& term, bool first, const void* from) = 0;

    /// Are T, S and Q blocks as they lie in A, B and C? Then devices read and write them in place by the rows below,
    /// and neither buffers nor the functions above are needed.
    virtual bool in_place() const { return false; }
    virtual HostRows rows_of_left(const BlockProduct& /*instance*/) { return {}; }
    virtual HostRows rows_of_right(const BlockProduct& /*instance*/) { return {}; }
    virtual HostRows rows_of_result(const BlockResult& /*term*/) { return {}; }
};

struct LayerRun {
    const HostLayer* layer = nullptr;
    SubProduct product;
    std::complex<double> alpha = 1;  // of the products on the devices
    /// Other than 0: every block of C goes to the device first, where it is multiplied by this. One step, not in place.
    double beta = 0;
    bool in_order = false;  // updates of a block of C in the order of the sub-instances
    int pipelines = 1;      // per device
};

/// Takes memory for all pipelines on the devices and the host first: where that fails, C is untouched.
void run_layer(const LayerRun& run, const DeviceSet& devices, HostMatrices& matrices, const RunHooks& hooks);

}  // namespace heptad
