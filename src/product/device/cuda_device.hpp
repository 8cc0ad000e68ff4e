// An NVIDIA device behind the interface of the pipelines. Every lane has a stream, so that the transfers of one
// pipeline run beside the product of another.
#pragma once

#include "move/compute_device.hpp"

namespace heptad {

/// Scratch memory of the products of a device, which never overlap.
struct SharedWorkspace;

class CudaDevice final : public ComputeDevice {
public:
    /// Throws Error(resource) unless that device can be used.
    explicit CudaDevice(int index);
    std::unique_ptr<Lane> open_lane(const SubProduct& product) override;
    std::unique_ptr<OperandPlace> open_place(const SubProduct& product, Operand operand) override;
    /// Page-locked from 4 MiB on, where the system allows that.
    HostBuffer host_buffer(std::int64_t bytes) override;

private:
    /// One that is large enough, for all lanes.
    std::shared_ptr<SharedWorkspace> workspace_of(std::int64_t bytes);

    int index_;
    std::weak_ptr<SharedWorkspace> workspace_;  // kept by the lanes
};

}  // namespace heptad
