// The machine's own cores: combines by vector kernels, products by whichever BLAS is there or by our kernel, all dealt
// out in dynamic tasks.
//
// Leaves:
//   "openblas" "blis" "mkl"             single-threaded calls on tiles of C, which the threads take one after another
//   "heptad"                            our kernel on such tiles; the only leaf of the exact and the 16-bit types
//   "openblas-mt" "blis-mt" "mkl-mt"    one call per product, with the library's own threads
// What a BLAS cannot take (neither stride 1, overlapping rows, sizes beyond 32 bits) goes to our kernel tile by tile.
#pragma once

#include <cstdint>

#include "base/thread_pool.hpp"
#include "kernels/backend.hpp"
#include "kernels/cpu/cpu_residues.hpp"

namespace heptad::cpu {

class CpuBackend final : public Backend {
public:
    /// The pool must outlive the backend.
    explicit CpuBackend(ThreadPool& pool);

    std::string name() const override { return "cpu"; }
    void combine(const CombinePass& pass) override;
    void multiply(std::span<const Product> batch, const std::string& leaf) override;
    ScanResult scan(const ConstView& view) override;
    void copy(const ConstView& from, const View& to) override;
    void share(std::int64_t parts, const std::function<void(std::int64_t)>& work) override;
    std::vector<std::string> leaves(Type type) const override;
    HostResidues* host_residues() override { return &residues_; }

    /// A leaf as a small number, so that many products need not compare names. "" is 0, the default of each type.
    /// Throws Error(usage) if there is no such leaf on this machine.
    static int leaf_id(const std::string& leaf);
    void multiply(std::span<const Product> batch, int leaf);
    /// One product of any size; small ones take the short way.
    void multiply_one(const Product& product, int leaf) {
        if (is_small(product.c.rows, product.a.cols, product.c.cols)) {
            multiply_one_small(product, leaf);
        } else {
            multiply({&product, 1}, leaf);
        }
    }

    /// True where multiply_one_small() is the way to go: the product is over before a second thread could help.
    static bool is_small(std::int64_t m, std::int64_t k, std::int64_t n) {
        return m <= small_limit && k <= small_limit && n <= small_limit && m * k * n <= small_volume;
    }
    /// One small product on the calling thread: no allocation, no lock, tens of nanoseconds above the library's call.
    void multiply_one_small(const Product& product, int leaf) const;

    /// Up to 64 x 64 x 64, OpenBLAS stays on one thread by itself.
    static constexpr std::int64_t small_volume = std::int64_t{64} * 64 * 64;
    static constexpr std::int64_t small_limit = small_volume;

    int threads() const { return pool_.threads(); }

private:
    ThreadPool& pool_;
    CpuResidues residues_;
};

}  // namespace heptad::cpu
