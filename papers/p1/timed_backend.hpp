// A backend whose passes and products are timed one by one, by events of its stream.
#pragma once

#include "kernels/cuda/device/cuda_backend.hpp"
#include "papers/p1/bench_p1_device.hpp"

namespace heptad::cli {

class TimedBackend final : public Backend {
public:
    TimedBackend(cuda::CudaBackend& backend, P1Times& times) : backend_(backend), times_(times) {}
    std::string name() const override { return backend_.name(); }
    void combine(const CombinePass& pass) override {
        times_.time(P1Part::addition, backend_.stream(), [&] { backend_.combine(pass); });
    }
    void multiply(std::span<const Product> batch, const std::string& leaf) override {
        times_.time(P1Part::product, backend_.stream(), [&] { backend_.multiply(batch, leaf); });
    }
    bool fuses(Type type, int left_terms, int right_terms, int targets) const override {
        return backend_.fuses(type, left_terms, right_terms, targets);
    }
    void multiply_fused(std::span<const FusedProduct> instances, FusedOrder order, FusedTile tile) override {
        times_.time(P1Part::product, backend_.stream(), [&] { backend_.multiply_fused(instances, order, tile); });
    }
    void copy(const ConstView& from, const View& to) override {
        times_.time(P1Part::copy, backend_.stream(), [&] { backend_.copy(from, to); });
    }
    ScanResult scan(const ConstView& view) override { return backend_.scan(view); }
    std::vector<std::string> leaves(Type type) const override { return backend_.leaves(type); }
    DeferredGuard* deferred_guard() override { return backend_.deferred_guard(); }
    void begin_product(void* reserved, std::int64_t bytes) override { backend_.begin_product(reserved, bytes); }

private:
    cuda::CudaBackend& backend_;
    P1Times& times_;
};

}  // namespace heptad::cli
