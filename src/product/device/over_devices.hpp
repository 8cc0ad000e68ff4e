// Products of matrices in host memory over N devices, however large: the host cuts them up, and pipelines feed the
// devices (docs/devices.md). The names of devices are those of device_list.hpp.
#pragma once

#include <heptad/bits.hpp>

#include "move/compute_device.hpp"
#include "plan/model/plan.hpp"
#include "plan/search/host_plan.hpp"
#include "product/memory/product.hpp"

namespace heptad {

/// What would be done. Needs no device: without one, the figures of an H200 are taken.
HostDecision make_plan_over_devices(const ProblemSize& size, Type type, Type result_type, const Options& options,
                                    const ProductContext& context);
/// Packed bits that begin inside a word: blocks of such operands do not lie in place, and such a C is made in a copy.
struct BitOffsets {
    bool operands = false, result = false;
};
HostDecision make_bit_plan_over_devices(Type algebra, const ProblemSize& size, bool accumulate,
                                        const bits::BitOptions& options, const ProductContext& context,
                                        const BitOffsets& offsets = {});

/// Throws Error(input) where a plan with a host's cut cannot be carried out, and Error(usage) for devices that do not
/// exist. What it comes to otherwise; of numbers without the time on the devices.
HostForecast check_plan_over_devices(const ProductPlan& plan);

/// c = alpha * a * b + beta * c. Validates everything; throws Error, and nothing hangs when a device is lost. C is
/// undefined after an error that came later than the checks.
RunReport multiply_over_devices(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                                const Options& options, const ProductContext& context);
/// As the plan says; segments of C instead of levels at the host where the data does not bear those.
RunReport multiply_over_devices(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                                const ProductPlan& plan, const ProductContext& context);
/// c = a * b of packed bits, or c (+)= a * b.
void multiply_bits_over_devices(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitView& c,
                                bool accumulate, const bits::BitOptions& options, const ProductContext& context);
void multiply_bits_over_devices(const ProductPlan& plan, const ConstBitView& a, const ConstBitView& b, const BitView& c,
                                bool accumulate, const ProductContext& context);

/// The same on devices that the caller has opened, checks made before.
RunReport run_host_plan(const ProductPlan& plan, const DeviceSet& devices, Factor alpha, const ConstView& a,
                        const ConstView& b, Factor beta, const View& c, const ProductContext& context,
                        const ProductExponents& lines = {});
void run_host_plan(const ProductPlan& plan, const DeviceSet& devices, const ConstBitView& a, const ConstBitView& b,
                   const BitView& c, bool accumulate, const ProductContext& context);

/// The plan of a block of packed bits, without its time. Throws Error(input) where that cannot be carried out.
ProductPlan check_bit_block_plan(const ProductPlan& plan);
/// What each device is asked for by a plan for packed bits.
SubProduct bit_sub_product(const ProductPlan& plan, const ProductContext& context);

/// Would a product of matrices in host memory on one NVIDIA device go this way? If that was asked for by limits or
/// levels of the host, or if the matrices (so many bytes in all) do not fit there.
bool goes_beyond_device(std::int64_t operand_bytes, const Options& options);

/// Host memory for the buffers of a product whose caller sets no limit: a share of what is free now.
std::int64_t default_host_bytes();
/// Host memory and the speed of its sums, for plans: sums of cores as devices run on one thread each.
HostFacts host_facts(std::int64_t memory_bytes, int threads);

/// Throws Error(usage) if the caller gave scratch memory or a stream: neither means anything for several devices.
void require_no_workspace_or_stream(const ProductContext& context);

}  // namespace heptad
