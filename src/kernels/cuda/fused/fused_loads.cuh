// The loading half of the fused f32 kernel: a slab (outer x depth) of every term of an operand goes from global memory
// to registers, the terms are added there, and the sum goes to shared memory with the depth outermost, which is how the
// multiplying half reads it.
#pragma once

#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/fused/fused_shape.cuh"

namespace heptad::cuda::fused {

enum class LoadMode : std::uint8_t {
    wide,     // 16 bytes at a time
    single,   // contiguous, but lines begin anywhere
    guarded,  // any strides, and only what there is
};

/// Four neighbours (along depth or outer) at a time; vector `p` of a thread.
template <class Shape, int outer, bool along_depth>
struct Places {
    static constexpr int kVectors = outer * Shape::kDepth / 4 / Shape::kProducers;
    static_assert(kVectors >= 1 && outer * Shape::kDepth % (4 * Shape::kProducers) == 0);

    /// Along depth two vectors of 16 bytes fill a sector, so a warp takes 16 lines of 32 bytes.
    static __device__ __forceinline__ int outer_of(int index) {
        return along_depth ? index / 2 % outer : index % (outer / 4) * 4;
    }
    static __device__ __forceinline__ int depth_of(int index) {
        return along_depth ? (index / (2 * outer) * 2 + index % 2) * 4 : index / (outer / 4);
    }
    /// What vector p lies beyond vector 0 of the same thread, known when compiling.
    static __device__ constexpr int outer_step(int p) {
        return along_depth ? Shape::kProducers / 2 * p % outer : Shape::kProducers * p % (outer / 4) * 4;
    }
    static __device__ constexpr int depth_step(int p) {
        return along_depth ? Shape::kProducers * p / (2 * outer) * 8 : Shape::kProducers * p / (outer / 4);
    }
    static_assert(along_depth ? outer % (Shape::kProducers / 2) == 0 || (Shape::kProducers / 2) % outer == 0
                              : Shape::kProducers % (outer / 4) == 0);
};

template <class Shape, int outer, bool along_depth, LoadMode mode>
__device__ __forceinline__ void load_term(float (&part)[Places<Shape, outer, along_depth>::kVectors][4],
                                          const FusedTermArgument<float>& term, const FusedOperandLayout& layout,
                                          std::int64_t offset, int outer0, int depth0, int thread) {
    using P = Places<Shape, outer, along_depth>;
#pragma unroll
    for (int p = 0; p < P::kVectors; ++p) {
        const float* at =
            term.data + offset + P::outer_step(p) * layout.outer_stride + P::depth_step(p) * layout.depth_stride;
        if constexpr (mode == LoadMode::wide) {
            const float4 four = __ldg(reinterpret_cast<const float4*>(at));
            part[p][0] = four.x;
            part[p][1] = four.y;
            part[p][2] = four.z;
            part[p][3] = four.w;
        } else if constexpr (mode == LoadMode::single) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                part[p][e] = __ldg(at + e);
            }
        } else {
            const int first_outer = outer0 + P::outer_of(thread) + P::outer_step(p);
            const int first_depth = depth0 + P::depth_of(thread) + P::depth_step(p);
            const std::int64_t stride = along_depth ? layout.depth_stride : layout.outer_stride;
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const bool there = first_outer + (along_depth ? 0 : e) < term.outer &&
                                   first_depth + (along_depth ? e : 0) < term.depth;
                part[p][e] = there ? __ldg(at + e * stride) : 0.0F;
            }
        }
    }
}

template <class Shape, int outer, bool along_depth, LoadMode mode>
__device__ __forceinline__ void fill(const FusedTermArgument<float>* terms, int count, const FusedOperandLayout& layout,
                                     std::int64_t offset, int outer0, int depth0, int thread, float* shared) {
    using P = Places<Shape, outer, along_depth>;
    constexpr int kPitch = outer + kPadding;
    float sum[P::kVectors][4], next[P::kVectors][4];
    // Two terms are under way at once: the first addition is what waits for both. The first coefficient is 1 from
    // build_fused(); without the question ptxas takes another schedule, whose registers do not suffice.
    int t = 0;
    if (terms[0].coefficient == 1.0F) {
        load_term<Shape, outer, along_depth, mode>(sum, terms[t++], layout, offset, outer0, depth0, thread);
    } else {
#pragma unroll
        for (int p = 0; p < P::kVectors; ++p) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                sum[p][e] = 0;
            }
        }
    }
#pragma unroll 1
    for (; t < count; ++t) {
        load_term<Shape, outer, along_depth, mode>(next, terms[t], layout, offset, outer0, depth0, thread);
        const float coefficient = terms[t].coefficient;
#pragma unroll
        for (int p = 0; p < P::kVectors; ++p) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                sum[p][e] = fmaf(coefficient, next[p][e], sum[p][e]);
            }
        }
    }
    float* const to = shared + P::depth_of(thread) * kPitch + P::outer_of(thread);
#pragma unroll
    for (int p = 0; p < P::kVectors; ++p) {
        float* const place = to + P::depth_step(p) * kPitch + P::outer_step(p);
        if constexpr (along_depth) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                place[e * kPitch] = sum[p][e];
            }
        } else {
            *reinterpret_cast<float4*>(place) = make_float4(sum[p][0], sum[p][1], sum[p][2], sum[p][3]);
        }
    }
}

/// One operand of one tile: where its slabs lie and how they may be read.
template <class Shape, int outer>
struct OperandLoader {
    const FusedTermArgument<float>* terms;
    const FusedOperandLayout& layout;
    int count, outer0, depth_inside;
    std::int64_t offset;  // of this thread's first element in the next slab

    __device__ __forceinline__ OperandLoader(const FusedTermArgument<float>* of, int term_count,
                                             const FusedOperandLayout& strides, int first, int thread)
        : terms(of), layout(strides), count(term_count), outer0(first), depth_inside(1 << 30) {
        const int own_outer = layout.along_depth != 0 ? Places<Shape, outer, true>::outer_of(thread)
                                                      : Places<Shape, outer, false>::outer_of(thread);
        const int own_depth = layout.along_depth != 0 ? Places<Shape, outer, true>::depth_of(thread)
                                                      : Places<Shape, outer, false>::depth_of(thread);
        offset = static_cast<std::int64_t>(outer0 + own_outer) * layout.outer_stride + own_depth * layout.depth_stride;
        for (int t = 0; t < count; ++t) {
            depth_inside = outer0 + outer <= terms[t].outer ? min(depth_inside, terms[t].depth) : 0;
        }
        if (layout.contiguous == 0) {
            depth_inside = 0;
        }
    }

    __device__ __forceinline__ void load(int depth0, int thread, float* shared) {
        const bool inside = depth0 + Shape::kDepth <= depth_inside;
        if (layout.along_depth != 0) {
            fill_by<true>(inside, depth0, thread, shared);
        } else {
            fill_by<false>(inside, depth0, thread, shared);
        }
        offset += Shape::kDepth * layout.depth_stride;
    }

private:
    template <bool along_depth>
    __device__ __forceinline__ void fill_by(bool inside, int depth0, int thread, float* shared) const {
        if (!inside) {
            fill<Shape, outer, along_depth, LoadMode::guarded>(terms, count, layout, offset, outer0, depth0, thread,
                                                               shared);
        } else if (layout.wide != 0) {
            fill<Shape, outer, along_depth, LoadMode::wide>(terms, count, layout, offset, outer0, depth0, thread,
                                                            shared);
        } else {
            fill<Shape, outer, along_depth, LoadMode::single>(terms, count, layout, offset, outer0, depth0, thread,
                                                              shared);
        }
    }
};

}  // namespace heptad::cuda::fused
