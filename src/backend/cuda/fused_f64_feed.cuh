// The loading half of the fused f64 kernel: slabs of an operand's terms go from global memory to registers, are added
// there, and the sum goes to shared memory. An operand of one term needs no registers: asynchronous copies take it.
#pragma once

#include "backend/cuda/fused_arguments.hpp"
#include "backend/cuda/fused_f64_tile.cuh"

namespace heptad::cuda::fused_f64 {

__device__ __forceinline__ double2 load_pair(const double* from) {
    double2 pair;
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v2.f64 {%0, %1}, [%2];"
                 : "=d"(pair.x), "=d"(pair.y)
                 : "l"(from));
    return pair;
}
__device__ __forceinline__ void store_pair(std::uint32_t to, double2 pair) {
    asm volatile("st.shared.v2.f64 [%0], {%1, %2};" ::"r"(to), "d"(pair.x), "d"(pair.y) : "memory");
}
__device__ __forceinline__ void copy_pair(std::uint32_t to, const double* from) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
/// Zero where there is nothing; `from` is not read then.
__device__ __forceinline__ void copy_one(std::uint32_t to, const double* from, bool there) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(there ? 8 : 0) : "memory");
}
/// The barrier hears of this thread once, when all its copies so far have arrived.
__device__ __forceinline__ void signal_after_copies(std::uint32_t barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

/// One operand as a thread sees it while it loads. Slabs that are there in whole are loaded a batch of places ahead of
/// their use; those at a fringe, or of more than `kept` terms, or with strides of any kind, are filled without such
/// haste.
template <int kept, bool along_depth, int batches>
class SlabFeed {
public:
    using Places = SlabPlaces<along_depth>;
    static constexpr bool kCopied = kept == 1;
    static constexpr int kPerBatch = Places::kCount / batches;
    using Batch = double2[kPerBatch][kept];

    __device__ __forceinline__ SlabFeed(const FusedOperandLayout& layout, int thread)
        : layout_(layout), places_(thread) {}

    /// Begins with the first slab of the tile whose rows (or columns) begin at `outer0`.
    __device__ __forceinline__ void start(const FusedTermArgument<double>* terms, int count, int outer0) {
        terms_ = terms;
        count_ = count;
        outer0_ = outer0;
        depth_ = 0;
        offset_ = (outer0 + places_.outer) * layout_.outer_stride + places_.depth * layout_.depth_stride;
        whole_depth_ = layout_.contiguous != 0 && count <= kept ? 1 << 30 : 0;
        for (int t = 0; t < count; ++t) {
            whole_depth_ = outer0 + kTile <= terms[t].outer ? min(whole_depth_, terms[t].depth) : 0;
        }
    }
    __device__ __forceinline__ void advance() {
        depth_ += kStep;
        offset_ += kStep * layout_.depth_stride;
    }
    __device__ __forceinline__ bool is_whole() const { return depth_ + kStep <= whole_depth_; }

    /// The slab of an operand of one term, whose coefficient is 1. `plain`: whole, 16 bytes at a time.
    template <bool plain>
    __device__ __forceinline__ void copy(std::uint32_t slab) const {
        const double* const first = terms_[0].data + offset_;
        if constexpr (plain) {
#pragma unroll
            for (int p = 0; p < Places::kCount; ++p) {
                copy_pair(slab + places_.offset(p), first + step(p));
            }
        } else {
#pragma unroll
            for (int p = 0; p < Places::kCount; ++p) {
#pragma unroll
                for (int e = 0; e < 2; ++e) {
                    const bool there = is_there(terms_[0], p, e);
                    const double* const from = there ? first + step(p) + e * neighbour() : terms_[0].data;
                    copy_one(slab + places_.offset(p) + 8 * e, from, there);
                }
            }
        }
    }

    /// Only where `loads`, which needs is_whole(). `plain`: 16 bytes at a time.
    template <bool plain>
    __device__ __forceinline__ void load(Batch& values, int batch, bool loads) const {
        if (!loads) {
            load_by(values, batch, [](const double*) { return make_double2(0, 0); });
        } else if (plain || layout_.wide != 0) {
            load_by(values, batch, [](const double* from) { return load_pair(from); });
        } else {
            load_by(values, batch, [](const double* from) { return make_double2(__ldg(from), __ldg(from + 1)); });
        }
    }
    __device__ __forceinline__ void store(const Batch& values, int batch, std::uint32_t slab) const {
#pragma unroll
        for (int i = 0; i < kPerBatch; ++i) {
            double2 sum = values[i][0];  // its coefficient is 1
#pragma unroll
            for (int t = 1; t < kept; ++t) {
                if (t < count_) {
                    add(sum, terms_[t].coefficient, values[i][t]);
                }
            }
            store_pair(slab + places_.offset(batch * kPerBatch + i), sum);
        }
    }
    /// The slab, wherever it lies and whatever is missing of it.
    __device__ __forceinline__ void fill(std::uint32_t slab) const {
        constexpr int kAtOnce = 2;
#pragma unroll 1
        for (int first = 0; first < Places::kCount; first += kAtOnce) {
            double2 sum[kAtOnce] = {};
#pragma unroll 1
            for (int t = 0; t < count_; ++t) {
                const FusedTermArgument<double>& term = terms_[t];
#pragma unroll
                for (int i = 0; i < kAtOnce; ++i) {
                    const int p = first + i;
                    const double* const from = term.data + offset_ + step(p);
                    const double x = is_there(term, p, 0) ? __ldg(from) : 0.0;
                    const double y = is_there(term, p, 1) ? __ldg(from + neighbour()) : 0.0;
                    add(sum[i], term.coefficient, {x, y});
                }
            }
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
                store_pair(slab + places_.offset(first + i), sum[i]);
            }
        }
    }

private:
    template <class Load>
    __device__ __forceinline__ void load_by(Batch& values, int batch, const Load& load) const {
#pragma unroll
        for (int t = 0; t < kept; ++t) {
            if (t == 0 || t < count_) {
                const double* const first = terms_[t].data + offset_;
#pragma unroll
                for (int i = 0; i < kPerBatch; ++i) {
                    values[i][t] = load(first + step(batch * kPerBatch + i));
                }
            } else {  // so that nothing older has to be kept
#pragma unroll
                for (int i = 0; i < kPerBatch; ++i) {
                    values[i][t] = make_double2(0, 0);
                }
            }
        }
    }
    static __device__ __forceinline__ void add(double2& sum, double coefficient, double2 pair) {
        sum.x = fma(coefficient, pair.x, sum.x);
        sum.y = fma(coefficient, pair.y, sum.y);
    }
    /// Elements between place 0 of this thread and place p.
    __device__ __forceinline__ std::int64_t step(int p) const {
        return along_depth ? Places::outer_step(p) * layout_.outer_stride
                           : Places::depth_step(p) * layout_.depth_stride;
    }
    __device__ __forceinline__ std::int64_t neighbour() const {
        return along_depth ? layout_.depth_stride : layout_.outer_stride;
    }
    __device__ __forceinline__ bool is_there(const FusedTermArgument<double>& term, int p, int e) const {
        return outer0_ + places_.outer + Places::outer_step(p) + (along_depth ? 0 : e) < term.outer &&
               depth_ + places_.depth + Places::depth_step(p) + (along_depth ? e : 0) < term.depth;
    }

    const FusedOperandLayout& layout_;
    const Places places_;
    const FusedTermArgument<double>* terms_ = nullptr;
    int count_ = 0, outer0_ = 0, depth_ = 0;
    int whole_depth_ = 0;  // of k, as far as all slabs of all terms are there in whole
    std::int64_t offset_ = 0;
};

}  // namespace heptad::cuda::fused_f64
