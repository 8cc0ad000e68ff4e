// The least time that a product over devices could take, measured: the products of its blocks by themselves, its
// transfers at the rate of the link, and its copies at the rate of the host's memory, each as if nothing else had to be
// done (P3 states its bound for the first of these alone).
#pragma once

#include <memory>
#include <string>

#include <heptad/bits.hpp>

#include "move/compute_device.hpp"
#include "plan/search/host_plan.hpp"

namespace heptad::cli {

struct HostLayerBound {
    double products_s = 0, link_s = 0, host_memory_s = 0;

    double seconds() const;
    /// "1.08 times the bound of 2.4 s (products 2.4 s, link 650 ms, host memory 810 ms)"
    std::string text(double wall_s) const;
};

/// T, S and Q of packed bits on one device of a plan, with the first blocks of A and B in T and S: how often products
/// end early depends on what is multiplied.
class BlockProducts {
public:
    /// `a` and `b` are only read here.
    BlockProducts(HostForecast forecast, const SubProduct& product, ComputeDevice& device, const ConstBitView& a,
                  const ConstBitView& b);

    /// All products that one of the devices has to make, one after another.
    void run();
    /// The other two parts of the bound, at rates that are measured here.
    HostLayerBound bound(double products_s);

private:
    HostForecast forecast_;
    SubProduct product_;
    ComputeDevice& device_;
    std::unique_ptr<OperandPlace> left_, right_;  // before the lane that uses them
    std::unique_ptr<Lane> lane_;
};

}  // namespace heptad::cli
