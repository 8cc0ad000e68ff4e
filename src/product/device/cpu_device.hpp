// A core of this machine as a device: the whole path through several devices without any. Its memory is the host's, and
// uploads are copies.
#pragma once

#include "move/compute_device.hpp"

namespace heptad {

class CpuDevice final : public ComputeDevice {
public:
    explicit CpuDevice(int index) : index_(index) {}
    std::string name() const override;
    std::unique_ptr<Lane> open_lane(const SubProduct& product) override;
    std::unique_ptr<OperandPlace> open_place(const SubProduct& product, Operand operand) override;
    HostBuffer host_buffer(std::int64_t bytes) override;

private:
    int index_;
};

}  // namespace heptad
