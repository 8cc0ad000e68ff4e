// The backend that is obviously right: one thread, plain loops, every type, any strides. Others are tested against it.
#pragma once

#include "kernels/backend.hpp"

namespace heptad {

class ReferenceBackend final : public Backend {
public:
    std::string name() const override { return "reference"; }
    void combine(const CombinePass& pass) override;
    void multiply(std::span<const Product> batch, const std::string& leaf) override;
    bool fuses(Type, int, int, int) const override { return true; }
    /// One after another, whatever the order asked for.
    void multiply_fused(std::span<const FusedProduct> instances, FusedOrder order, FusedTile tile) override;
    ScanResult scan(const ConstView& view) override;
    void copy(const ConstView& from, const View& to) override;
    std::vector<std::string> leaves(Type type) const override;
};

}  // namespace heptad
