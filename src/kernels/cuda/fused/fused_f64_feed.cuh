// How a loading thread of the fused f64 kernel takes its share of an operand's slabs from global to shared memory.
// Terms are copied asynchronously. The second one goes to a place of its own, and when both are there the thread adds
// what it has copied itself: so nobody else has to be waited for. One and two terms are known when compiling. Fringes
// and other strides are loaded into registers and stored at once.
#pragma once

#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/fused/fused_f64_tile.cuh"

namespace heptad::cuda::fused_f64 {

__device__ __forceinline__ double2 load_shared_pair(std::uint32_t from) {
    double2 pair;
    asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(pair.x), "=d"(pair.y) : "r"(from) : "memory");
    return pair;
}
__device__ __forceinline__ void store_shared_pair(std::uint32_t to, double2 pair) {
    asm volatile("st.shared.v2.f64 [%0], {%1, %2};" ::"r"(to), "d"(pair.x), "d"(pair.y) : "memory");
}
__device__ __forceinline__ void copy_pair(std::uint32_t to, const double* from) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ __forceinline__ void end_copy_group() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Returns when all groups of copies of this thread but the last `pending` have arrived.
template <int pending>
__device__ __forceinline__ void await_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}
__device__ __forceinline__ void add_pair(double2& sum, double coefficient, double2 pair) {
    sum.x = fma(coefficient, pair.x, sum.x);
    sum.y = fma(coefficient, pair.y, sum.y);
}

/// Where an operand's slab of one stage begins in shared memory, and where its second term does.
struct SlabPair {
    std::uint32_t first, second;
};

/// first += coefficient * second, where this thread has copied both.
template <class Places>
__device__ __forceinline__ void add_slab(const SlabPair& slabs, const Places& places, double coefficient) {
    constexpr int kAtOnce = 8;
#pragma unroll
    for (int place0 = 0; place0 < kPlaces; place0 += kAtOnce) {
        double2 sum[kAtOnce], second[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            sum[i] = load_shared_pair(slabs.first + places.offset(place0 + i));
            second[i] = load_shared_pair(slabs.second + places.offset(place0 + i));
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            add_pair(sum[i], coefficient, second[i]);
            store_shared_pair(slabs.first + places.offset(place0 + i), sum[i]);
        }
    }
}

/// Whole, aligned slabs of an operand of `count` terms (one or two), from depth0 on. The coefficient of the first term
/// is 1.
template <int count, bool along_depth>
class CopiedFeed {
    using Places = SlabPlaces<along_depth>;

public:
    __device__ __forceinline__ CopiedFeed(const FusedTermArgument<double>* terms, const FusedOperandLayout& layout,
                                          int outer0, int depth0, int thread)
        : places_(thread) {
        const std::int64_t offset =
            (outer0 + places_.outer) * layout.outer_stride + (depth0 + places_.depth) * layout.depth_stride;
#pragma unroll
        for (int t = 0; t < count; ++t) {
            at_[t] = terms[t].data + offset;
        }
        coefficient_ = terms[count - 1].coefficient;
        step_ = along_depth ? Places::kOuterStep * layout.outer_stride : Places::kDepthStep * layout.depth_stride;
        to_next_slab_ = along_depth ? kStep - (kPlaces - 1) * step_ : step_;
    }

    /// Copies of the next slab set off.
    __device__ __forceinline__ void start(const SlabPair& slabs, int) {
#pragma unroll
        for (int place = 0; place < kPlaces; ++place) {
            copy_pair(slabs.first + places_.offset(place), at_[0]);
            if constexpr (count == 2) {
                copy_pair(slabs.second + places_.offset(place), at_[1]);
            }
#pragma unroll
            for (int t = 0; t < count; ++t) {
                at_[t] += place == kPlaces - 1 ? to_next_slab_ : step_;
            }
        }
    }
    /// They have arrived.
    __device__ __forceinline__ void finish(const SlabPair& slabs, int) const {
        if constexpr (count == 2) {
            add_slab(slabs, places_, coefficient_);
        }
    }

private:
    const Places places_;
    const double* at_[count];
    double coefficient_;                // of the second term
    std::int64_t step_, to_next_slab_;  // elements
};

/// Whole, aligned slabs of an operand of any number of terms, known when running. A slab takes as many rounds as there
/// are additions: the first one brings two terms, each of the others one more.
template <bool along_depth>
class ManyCopiedFeed {
    using Places = SlabPlaces<along_depth>;

public:
    __device__ __forceinline__ ManyCopiedFeed(const FusedTermArgument<double>* terms, int count,
                                              const FusedOperandLayout& layout, int outer0, int depth0, int thread)
        : terms_(terms),
          count_(count),
          places_(thread),
          at_((outer0 + places_.outer) * layout.outer_stride + (depth0 + places_.depth) * layout.depth_stride),
          step_(along_depth ? Places::kOuterStep * layout.outer_stride : Places::kDepthStep * layout.depth_stride),
          to_next_slab_(kStep * layout.depth_stride) {}

    __device__ __forceinline__ void start(const SlabPair& slabs, int round) {
        if (round == 0) {
            at_ += started_ ? to_next_slab_ : 0;
            started_ = true;
            copy(terms_[0].data, slabs.first);
        }
        if (round + 1 < count_) {
            copy(terms_[round + 1].data, slabs.second);
        }
    }
    __device__ __forceinline__ void finish(const SlabPair& slabs, int round) const {
        if (round + 1 < count_) {
            add_slab(slabs, places_, terms_[round + 1].coefficient);
        }
    }

private:
    __device__ __forceinline__ void copy(const double* block, std::uint32_t slab) const {
        const double* from = block + at_;
#pragma unroll
        for (int place = 0; place < kPlaces; ++place) {
            copy_pair(slab + places_.offset(place), from);
            from += step_;
        }
    }

    const FusedTermArgument<double>* const terms_;
    const int count_;
    const Places places_;
    bool started_ = false;
    std::int64_t at_;                         // elements from the corner of a block
    const std::int64_t step_, to_next_slab_;  // likewise
};

/// Any number of terms of any strides, as far as they are there; what is missing is zero.
template <bool along_depth>
class GuardedFeed {
    using Places = SlabPlaces<along_depth>;

public:
    __device__ __forceinline__ GuardedFeed(const FusedTermArgument<double>* terms, int count,
                                           const FusedOperandLayout& layout, int outer0, int depth0, int thread)
        : terms_(terms),
          layout_(layout),
          places_(thread),
          count_(count),
          outer_(outer0 + places_.outer),
          depth_(depth0 + places_.depth) {}

    __device__ __forceinline__ void start(const SlabPair& slabs, int) {
#pragma unroll 1
        for (int place = 0; place < kPlaces; place += 2) {
            double2 sum[2] = {load(terms_[0], place), load(terms_[0], place + 1)};  // its coefficient is 1
#pragma unroll 3
            for (int t = 1; t < count_; ++t) {
                const double2 pairs[2] = {load(terms_[t], place), load(terms_[t], place + 1)};
                add_pair(sum[0], terms_[t].coefficient, pairs[0]);
                add_pair(sum[1], terms_[t].coefficient, pairs[1]);
            }
            store_shared_pair(slabs.first + places_.offset(place), sum[0]);
            store_shared_pair(slabs.first + places_.offset(place + 1), sum[1]);
        }
        depth_ += kStep;
    }
    __device__ __forceinline__ void finish(const SlabPair&, int) const {}

private:
    __device__ __forceinline__ double2 load(const FusedTermArgument<double>& term, int place) const {
        const int outer = outer_ + Places::kOuterStep * place, depth = depth_ + Places::kDepthStep * place;
        const double* const from = term.data + outer * layout_.outer_stride + depth * layout_.depth_stride;
        const int rest_of_outer = term.outer - outer, rest_of_depth = term.depth - depth;
        const int there =
            along_depth ? (rest_of_outer > 0 ? rest_of_depth : 0) : (rest_of_depth > 0 ? rest_of_outer : 0);
        if (layout_.wide != 0 && there > 1) {
            return __ldg(reinterpret_cast<const double2*>(from));
        }
        const std::int64_t neighbour = along_depth ? layout_.depth_stride : layout_.outer_stride;
        return {there > 0 ? __ldg(from) : 0.0, there > 1 ? __ldg(from + neighbour) : 0.0};
    }

    const FusedTermArgument<double>* const terms_;
    const FusedOperandLayout& layout_;
    const Places places_;
    const int count_;
    const int outer_;
    int depth_;
};

/// Slabs of an operand from the front that may be copied: all there of every term, lines aligned.
__device__ __forceinline__ int whole_slabs(const FusedTermArgument<double>* terms, int count,
                                           const FusedOperandLayout& layout, int outer0) {
    int depth = layout.wide != 0 ? 1 << 30 : 0;
    for (int t = 0; t < count; ++t) {
        depth = outer0 + kTile <= terms[t].outer ? min(depth, terms[t].depth) : 0;
    }
    return depth / kStep;
}

}  // namespace heptad::cuda::fused_f64
