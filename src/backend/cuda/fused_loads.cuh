// The loading half of the fused f32 kernel: a slab (outer x depth) of each term of an operand goes from global memory
// to registers, where it waits until the slab before it has been multiplied; then the terms are added and the sum goes
// to shared memory with the depth outermost, which is how the multiplying half reads it.
#pragma once

#include "backend/cuda/fused_arguments.hpp"
#include "backend/cuda/fused_shape.cuh"

namespace heptad::cuda::fused {

/// Four neighbours (along depth or outer) at a time; vector `p` of a thread.
template <class Shape, int outer, bool along_depth>
struct Places {
    static constexpr int kVectors = outer * Shape::kDepth / 4 / Shape::kThreads;
    static_assert(kVectors >= 1 && outer * Shape::kDepth % (4 * Shape::kThreads) == 0);

    /// Along depth two vectors of 16 bytes fill a sector, so a warp takes 16 lines of 32 bytes.
    static __device__ __forceinline__ int outer_of(int index) {
        return along_depth ? index / 2 % outer : index % (outer / 4) * 4;
    }
    static __device__ __forceinline__ int depth_of(int index) {
        return along_depth ? (index / (2 * outer) * 2 + index % 2) * 4 : index / (outer / 4);
    }
    /// What vector p lies beyond vector 0 of the same thread, known when compiling.
    static __device__ constexpr int outer_step(int p) {
        return along_depth ? Shape::kThreads / 2 * p % outer : Shape::kThreads * p % (outer / 4) * 4;
    }
    static __device__ constexpr int depth_step(int p) {
        return along_depth ? Shape::kThreads * p / (2 * outer) * 8 : Shape::kThreads * p / (outer / 4);
    }
    static_assert(along_depth ? outer % (Shape::kThreads / 2) == 0 || (Shape::kThreads / 2) % outer == 0
                              : Shape::kThreads % (outer / 4) == 0);
};

/// One operand of one tile: where its slabs lie, how they may be read, and the slab that is under way. `wide`: every
/// line of every term begins at a multiple of 16 bytes.
template <class Shape, int outer, bool wide>
class OperandLoader {
    using AlongDepth = Places<Shape, outer, true>;
    using AlongOuter = Places<Shape, outer, false>;
    static constexpr int kVectors = AlongDepth::kVectors, kPitch = outer + kPadding;

public:
    __device__ __forceinline__ OperandLoader(const FusedTermArgument<float>* terms, int count,
                                             const FusedOperandLayout& layout, int outer0)
        : terms_(terms), layout_(layout), count_(count), outer0_(outer0) {
        const int thread = static_cast<int>(threadIdx.x);
        const int own_outer = layout.along_depth != 0 ? AlongDepth::outer_of(thread) : AlongOuter::outer_of(thread);
        const int own_depth = layout.along_depth != 0 ? AlongDepth::depth_of(thread) : AlongOuter::depth_of(thread);
        offset_ = static_cast<std::int64_t>(outer0 + own_outer) * layout.outer_stride + own_depth * layout.depth_stride;
        depth_inside_ = layout.contiguous != 0 ? 1 << 30 : 0;
        for (int t = 0; t < count; ++t) {
            depth_inside_ = outer0 + outer <= terms[t].outer ? min(depth_inside_, terms[t].depth) : 0;
        }
    }

    /// Sends for the first two terms of the next slab.
    __device__ __forceinline__ void fetch() {
        fetch_term(first_, terms_[0]);
        if (count_ > 1) {
            fetch_term(second_, terms_[1]);
        }
    }

    /// Adds the terms of the slab that was sent for, and puts the sum into shared memory.
    __device__ __forceinline__ void put(float* slab) {
        if (count_ > 1) {
            add(terms_[1].coefficient, second_);
#pragma unroll 1
            for (int t = 2; t < count_; ++t) {
                fetch_term(second_, terms_[t]);
                add(terms_[t].coefficient, second_);
            }
        }
        if (layout_.along_depth != 0) {
            float* const to = slab + AlongDepth::depth_of(thread()) * kPitch + AlongDepth::outer_of(thread());
#pragma unroll
            for (int p = 0; p < kVectors; ++p) {
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    to[(AlongDepth::depth_step(p) + e) * kPitch + AlongDepth::outer_step(p)] = first_[p][e];
                }
            }
        } else {
            float* const to = slab + AlongOuter::depth_of(thread()) * kPitch + AlongOuter::outer_of(thread());
#pragma unroll
            for (int p = 0; p < kVectors; ++p) {
                *reinterpret_cast<float4*>(to + AlongOuter::depth_step(p) * kPitch + AlongOuter::outer_step(p)) =
                    make_float4(first_[p][0], first_[p][1], first_[p][2], first_[p][3]);
            }
        }
        depth0_ += Shape::kDepth;
        offset_ += Shape::kDepth * layout_.depth_stride;
    }

private:
    static __device__ __forceinline__ int thread() {
        return static_cast<int>(threadIdx.x);
    }

    __device__ __forceinline__ void add(float coefficient, const float (&term)[kVectors][4]) {
#pragma unroll
        for (int p = 0; p < kVectors; ++p) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                first_[p][e] = fmaf(coefficient, term[p][e], first_[p][e]);
            }
        }
    }

    __device__ __forceinline__ void fetch_term(float (&part)[kVectors][4], const FusedTermArgument<float>& term) const {
        const bool inside = depth0_ + Shape::kDepth <= depth_inside_;
        if (layout_.along_depth != 0) {
            fetch_along<AlongDepth, true>(part, term, inside);
        } else {
            fetch_along<AlongOuter, false>(part, term, inside);
        }
    }

    template <class P, bool along_depth>
    __device__ __forceinline__ void fetch_along(float (&part)[kVectors][4], const FusedTermArgument<float>& term,
                                                bool inside) const {
        const float* const data = term.data + offset_;
        if (!inside) {
            fetch_there<P, along_depth>(part, data, term);
            return;
        }
#pragma unroll
        for (int p = 0; p < kVectors; ++p) {
            const float* const at =
                data + P::outer_step(p) * layout_.outer_stride + P::depth_step(p) * layout_.depth_stride;
            if constexpr (wide) {
                const float4 four = __ldg(reinterpret_cast<const float4*>(at));
                part[p][0] = four.x;
                part[p][1] = four.y;
                part[p][2] = four.z;
                part[p][3] = four.w;
            } else {
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    part[p][e] = __ldg(at + e);
                }
            }
        }
    }

    /// Any strides, and only what there is.
    template <class P, bool along_depth>
    __device__ __forceinline__ void fetch_there(float (&part)[kVectors][4], const float* data,
                                                const FusedTermArgument<float>& term) const {
        const std::int64_t stride = along_depth ? layout_.depth_stride : layout_.outer_stride;
#pragma unroll
        for (int p = 0; p < kVectors; ++p) {
            const float* const at =
                data + P::outer_step(p) * layout_.outer_stride + P::depth_step(p) * layout_.depth_stride;
            const int own_outer = outer0_ + P::outer_of(thread()) + P::outer_step(p);
            const int own_depth = depth0_ + P::depth_of(thread()) + P::depth_step(p);
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const bool there =
                    own_outer + (along_depth ? 0 : e) < term.outer && own_depth + (along_depth ? e : 0) < term.depth;
                part[p][e] = there ? __ldg(at + e * stride) : 0.0F;
            }
        }
    }

    const FusedTermArgument<float>* terms_;
    const FusedOperandLayout& layout_;
    int count_, outer0_;
    int depth0_ = 0;       // of the next slab
    int depth_inside_;     // up to there every term has whole slabs
    std::int64_t offset_;  // of this thread's first element in the next slab
    float first_[kVectors][4], second_[kVectors][4];
};

}  // namespace heptad::cuda::fused
