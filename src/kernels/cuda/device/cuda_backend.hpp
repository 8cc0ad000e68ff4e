// The verbs on one stream of an NVIDIA device. Everything is enqueued and nothing waits; the views hold device
// pointers.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/device_layout.hpp"
#include "kernels/backend.hpp"
#include "kernels/cuda/combine/pass_shape.hpp"
#include "kernels/cuda/vendor/vendor_kernels.hpp"

namespace heptad::cuda {

/// What guards have said of some products.
struct GuardVerdict {
    bool fell_back = false;  // one was answered by the classical product
    bool uneven = false;     // the operands of one were
    bool scaled = false;     // powers of two were taken out of those of one
};

/// Leaves: "cublas" (one call per product), "cublas-batched" (one call for products at equal distances), "cublaslt" and
/// "cublaslt-batched" (the same with a kernel of our choice), "cublas-int8" (i32 as 8-bit limbs on
/// the tensor cores), "heptad" (our classical kernel on the CUDA cores). Plans by residues name "heptad-int8".
class CudaBackend : public Backend, private DeferredGuard, private ResidueKernels {
public:
    /// `stream` is a cudaStream_t of that device (null: its default stream); it must outlive the backend.
    CudaBackend(int device, void* stream);
    ~CudaBackend() override;

    std::string name() const override { return "cuda"; }
    void combine(const CombinePass& pass) override;
    void multiply(std::span<const Product> batch, const std::string& leaf) override;
    bool fuses(Type type, int left_terms, int right_terms, int targets) const override;
    void multiply_fused(std::span<const FusedProduct> instances, FusedOrder order, FusedTile tile) override;
    std::vector<FusedTileShape> fused_tile_shapes(Type type) const override;
    /// Waits for the answer: only for callers that have nothing in flight. Of f64 the upper half of the bits is kept.
    ScanResult scan(const ConstView& view) override;
    void copy(const ConstView& from, const View& to) override;
    std::vector<std::string> leaves(Type type) const override;
    DeferredGuard* deferred_guard() override { return this; }
    ResidueKernels* residue_kernels() override { return this; }
    void begin_product(void* reserved, std::int64_t bytes) override;

    /// Of the products since the last call, which it waits for.
    GuardVerdict take_verdict();

    /// Scratch memory of cuBLAS from now on; null and 0: none. Without a call it has the backend's own.
    void set_vendor_workspace(void* memory, std::int64_t bytes);

    /// The shapes of passes from now on; the bits of results do not depend on them.
    void set_pass_shapes(const PassShapes& shapes);

    /// Kernels for the leaves "cublaslt" and "cublaslt-batched" from now on; null: none was measured.
    void set_vendor_kernels(std::shared_ptr<const VendorKernels> kernels);
    /// What could be measured for such a batch.
    std::vector<std::string> vendor_kernels_for(std::span<const Product> batch);

    /// Where products from now on leave the residues of their rows of A and columns of B, and find them; nothing is
    /// there yet. They are products of parts of two matrices with all their depth, and C is by rows. Levels make their
    /// own.
    void keep_residues(const KeptResidues& of_a, const KeptResidues& of_b);
    /// The row and the column that the operands of the next product begin with.
    void place_operands(std::int64_t row, std::int64_t col);

    /// One product at a time is enqueued on a stream.
    std::mutex& mutex() { return mutex_; }
    int device() const;
    void* stream() const;

private:
    void start(const GuardLimits& limits, std::int64_t m, std::int64_t k, std::int64_t n) override;
    ProductExponents judge_evenness(const ConstView& a, const ConstView& b) override;
    void watch(int operand, const ConstView& view) override;
    void answer_if_unsafe(const Product& product, std::span<std::byte> free) override;
    void finish() override;
    void measure(const ConstView& a, const ConstView& b, const Choice& choice, void* notes) override;
    std::optional<Norms> measure_exactly(const ConstView& a, const ConstView& b, void* notes) override;
    void take_moduli(int count, const std::optional<Norms>& norms) override;
    void convert(std::span<const Block> blocks) override;
    void add_planes(const PlaneSums& sums, const ResiduePlanes& from, const ResiduePlanes& to) override;
    void multiply_planes(const ResiduePlanes& a, const ResiduePlanes& b, const ResiduePlanes& c) override;
    void rebuild(const ResiduePlanes& from, const Product& factors, const View& c, std::int64_t row,
                 std::int64_t col) override;
    void convert_exactly(std::span<const Block> blocks);
    void rebuild_exactly(const ResiduePlanes& from, double alpha, double beta, const View& c, std::int64_t row,
                         std::int64_t col);

    struct State;
    std::unique_ptr<State> state_;
    std::mutex mutex_;
};

/// The backend of a device and stream, made on first use and kept (a few of them, the least recently used ones go).
std::shared_ptr<CudaBackend> backend_for(int device, void* stream);
/// Null where none is kept.
std::shared_ptr<CudaBackend> kept_backend(int device, void* stream);

}  // namespace heptad::cuda
