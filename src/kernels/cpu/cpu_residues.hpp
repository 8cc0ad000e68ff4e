// Products by residues on the cores of this machine.
#pragma once

#include "base/thread_pool.hpp"
#include "kernels/backend.hpp"
#include "kernels/cpu/cpu_features.hpp"

namespace heptad::cpu {

class CpuResidues final : public HostResidues {
public:
    /// The pool must outlive it. `kernels`: for tests; those of usable_byte_kernels().
    explicit CpuResidues(ThreadPool& pool, const ByteKernels* kernels = nullptr) : pool_(pool), forced_(kernels) {}

    void pack(int operand, const ScaledLines& from, int moduli, void* planes) override;
    void multiply(const PlaneProduct& product, const std::function<void(const IntegerTile&)>& take) override;

private:
    const ByteKernels& kernels() const { return forced_ != nullptr ? *forced_ : *usable_byte_kernels().front(); }

    ThreadPool& pool_;
    const ByteKernels* forced_;
};

}  // namespace heptad::cpu
