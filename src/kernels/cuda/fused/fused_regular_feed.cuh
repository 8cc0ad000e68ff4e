// The loading side of the regular fused f32 kernel: a slab (outer x depth) of the terms of an operand goes from global
// memory to registers, the terms are added there, and the sum goes to shared memory with the depth outermost, which is
// how it is multiplied.
#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/fused/fused_regular_shape.cuh"

namespace heptad::cuda::fused {

/// Which parts of a slab a thread moves: vectors of four neighbours, along depth or along outer.
template <int threads, int outer, bool along_depth>
struct Places {
    static constexpr int kVectors = outer * kDepth / 4 / threads;
    /// From one vector of a thread to its next.
    static constexpr int kOuterStep = along_depth ? threads / 2 : 0;
    static constexpr int kDepthStep = along_depth ? 0 : threads / (outer / 4);
    static_assert(kVectors >= 1 &&
                  kVectors * (along_depth ? kOuterStep : kDepthStep) == (along_depth ? outer : kDepth));

    /// Along depth two vectors of 16 bytes fill a sector, so a warp takes 16 lines of 32 bytes.
    static __device__ __forceinline__ int own_outer(int thread) {
        return along_depth ? thread / 2 : thread % (outer / 4) * 4;
    }
    static __device__ __forceinline__ int own_depth(int thread) {
        return along_depth ? thread % 2 * 4 : thread / (outer / 4);
    }
    /// To its place in shared memory.
    static __device__ __forceinline__ void put(float* slab, const float4 (&sum)[kVectors], int thread) {
        constexpr int kPitch = outer + kPadding;
        float* const to = slab + own_depth(thread) * kPitch + own_outer(thread);
#pragma unroll
        for (int p = 0; p < kVectors; ++p) {
            if constexpr (along_depth) {
                to[p * kOuterStep] = sum[p].x;
                to[p * kOuterStep + kPitch] = sum[p].y;
                to[p * kOuterStep + 2 * kPitch] = sum[p].z;
                to[p * kOuterStep + 3 * kPitch] = sum[p].w;
            } else {
                *reinterpret_cast<float4*>(to + p * kDepthStep * kPitch) = sum[p];
            }
        }
    }
};

__device__ __forceinline__ void add_scaled(float4& sum, float coefficient, float4 other) {
    sum = make_float4(fmaf(coefficient, other.x, sum.x), fmaf(coefficient, other.y, sum.y),
                      fmaf(coefficient, other.z, sum.z), fmaf(coefficient, other.w, sum.w));
}

/// One or two terms of a regular operand (regular_layout()). Both are under way at once, and the loop that calls this
/// reads no argument. Where the tile reaches beyond the operand, the last line or vector is read instead: that makes
/// rows or columns of M which no target has.
template <int threads, int outer, bool along_depth>
class RegularFeed {
    using P = Places<threads, outer, along_depth>;

public:
    __device__ __forceinline__ RegularFeed(const FusedTermArgument<float>* terms, int count,
                                           const FusedOperandLayout& layout, int outer0, int first_slab, int thread)
        : thread_(thread),
          advance_(static_cast<int>(kDepth * layout.depth_stride)),
          coefficient_(terms[count - 1].coefficient),
          has_second_(count == 2) {
        const int last = terms[0].outer - (along_depth ? 1 : 4);
        const int first_outer = min(outer0 + P::own_outer(thread), last);
        const std::int64_t first_depth = std::int64_t{kDepth} * first_slab + P::own_depth(thread);
        const std::int64_t offset = first_outer * layout.outer_stride + first_depth * layout.depth_stride;
        first_ = terms[0].data + offset;
        second_ = terms[count - 1].data + offset;
#pragma unroll
        for (int p = 0; p < P::kVectors; ++p) {
            const int at_outer = min(outer0 + P::own_outer(thread) + p * P::kOuterStep, last);
            step_[p] = static_cast<int>((at_outer - first_outer) * layout.outer_stride +
                                        p * P::kDepthStep * layout.depth_stride);
            other_[p] = make_float4(0, 0, 0, 0);
        }
    }
    /// The next slab, from the first one on.
    __device__ __forceinline__ void begin() {
#pragma unroll
        for (int p = 0; p < P::kVectors; ++p) {
            sum_[p] = __ldg(reinterpret_cast<const float4*>(first_ + (p == 0 ? 0 : step_[p])));
            if (has_second_) {
                other_[p] = __ldg(reinterpret_cast<const float4*>(second_ + (p == 0 ? 0 : step_[p])));
            }
        }
        first_ += along_depth ? kDepth : advance_;
        second_ += along_depth ? kDepth : advance_;
    }
    __device__ __forceinline__ void put(float* slab) {
#pragma unroll
        for (int p = 0; p < P::kVectors; ++p) {
            add_scaled(sum_[p], coefficient_, other_[p]);
        }
        P::put(slab, sum_, thread_);
    }

private:
    int thread_, advance_, step_[P::kVectors];  // step_[0] is 0
    float coefficient_;
    bool has_second_;
    const float *first_, *second_;
    float4 sum_[P::kVectors], other_[P::kVectors];
};

}  // namespace heptad::cuda::fused
