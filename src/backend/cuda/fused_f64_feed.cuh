// The loading half of the fused f64 kernel: how a thread takes its share of an operand's slabs from global to shared
// memory. While slab i is multiplied, slab i + 2 is on its way: in each of the four quads of k one place of it (see
// SlabPlaces). One term is copied asynchronously; two are added in registers, where they wait for two quads; anything
// else (more terms, fringes, any strides) is loaded and stored within one quad.
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
__device__ __forceinline__ void add_pair(double2& sum, double coefficient, double2 pair) {
    sum.x = fma(coefficient, pair.x, sum.x);
    sum.y = fma(coefficient, pair.y, sum.y);
}

/// The slabs that are being filled: of the next slab's stage and of the one after it.
struct FilledSlabs {
    std::uint32_t next, after;
};

/// The whole, aligned slabs of one operand from `slab` on, place after place: as pointers of each term.
template <int count, bool along_depth>
class WholeTerms {
public:
    __device__ __forceinline__ WholeTerms(const FusedTermArgument<double>* terms, const FusedOperandLayout& layout,
                                          int outer0) {
        const SlabPlaces<along_depth> places(static_cast<int>(threadIdx.x));
        const std::int64_t offset = (outer0 + places.outer) * layout.outer_stride + places.depth * layout.depth_stride;
#pragma unroll
        for (int t = 0; t < count; ++t) {
            at_[t] = terms[t].data + offset;
        }
        step_ = along_depth ? SlabPlaces<along_depth>::outer_step(1) * layout.outer_stride
                            : SlabPlaces<along_depth>::depth_step(1) * layout.depth_stride;
        to_next_slab_ = along_depth ? kStep - 3 * step_ : step_;
    }
    __device__ __forceinline__ const double* at(int term) const {
        return at_[term];
    }
    __device__ __forceinline__ void advance(int place) {
#pragma unroll
        for (int t = 0; t < count; ++t) {
            at_[t] += place == SlabPlaces<along_depth>::kCount - 1 ? to_next_slab_ : step_;
        }
    }

private:
    const double* at_[count];
    std::int64_t step_, to_next_slab_;  // elements
};

/// One term, whose coefficient is 1.
template <bool along_depth>
class CopiedFeed {
public:
    static constexpr bool kCopies = true;
    __device__ __forceinline__ CopiedFeed(const FusedTermArgument<double>* terms, const FusedOperandLayout& layout,
                                          int outer0)
        : terms_(terms, layout, outer0), offset_(SlabPlaces<along_depth>(static_cast<int>(threadIdx.x)).offset(0)) {}

    __device__ __forceinline__ void early(int quad, bool more, const FilledSlabs& slabs) {
        if (more) {
            copy_pair(slabs.after + offset_ + SlabPlaces<along_depth>::kOffsetStep * static_cast<std::uint32_t>(quad),
                      terms_.at(0));
        }
        terms_.advance(quad);
    }
    __device__ __forceinline__ void late(int, bool, const FilledSlabs&) {}

private:
    WholeTerms<1, along_depth> terms_;
    std::uint32_t offset_;
};

/// The sum of two terms; the coefficient of the first one is 1.
template <bool along_depth>
class SummedFeed {
public:
    static constexpr bool kCopies = false;
    __device__ __forceinline__ SummedFeed(const FusedTermArgument<double>* terms, const FusedOperandLayout& layout,
                                          int outer0)
        : terms_(terms, layout, outer0),
          coefficient_(terms[1].coefficient),
          offset_(SlabPlaces<along_depth>(static_cast<int>(threadIdx.x)).offset(0)) {}

    /// What was loaded two quads ago makes room for what is loaded now.
    __device__ __forceinline__ void early(int quad, bool more, const FilledSlabs& slabs) {
        double2(&pair)[2] = waiting_[quad % 2];
        const int stored = (quad + 2) % SlabPlaces<along_depth>::kCount;
        add_pair(pair[0], coefficient_, pair[1]);
        store_pair((quad < 2 ? slabs.next : slabs.after) + offset_ +
                       SlabPlaces<along_depth>::kOffsetStep * static_cast<std::uint32_t>(stored),
                   pair[0]);
        if (more) {
            pair[0] = load_pair(terms_.at(0));
            pair[1] = load_pair(terms_.at(1));
        }
        terms_.advance(quad);
    }
    __device__ __forceinline__ void late(int, bool, const FilledSlabs&) {}

private:
    WholeTerms<2, along_depth> terms_;
    double coefficient_;
    std::uint32_t offset_;
    double2 waiting_[2][2] = {};  // by quad, by term
};

/// Any number of terms of any strides, as far as they are there; what is missing is zero.
template <bool along_depth>
class GuardedFeed {
public:
    static constexpr bool kCopies = false;
    __device__ __forceinline__ GuardedFeed(const FusedTermArgument<double>* terms, int count,
                                           const FusedOperandLayout& layout, int outer0, int depth0)
        : terms_(terms),
          layout_(layout),
          places_(static_cast<int>(threadIdx.x)),
          count_(count),
          outer_(outer0 + places_.outer),
          depth_(depth0 + places_.depth) {}

    __device__ __forceinline__ void early(int quad, bool more, const FilledSlabs&) {
        if (more) {
#pragma unroll
            for (int t = 0; t < kAtOnce; ++t) {
                if (t < count_) {
                    loaded_[t] = load(terms_[t], quad);
                }
            }
        }
    }
    __device__ __forceinline__ void late(int quad, bool more, const FilledSlabs& slabs) {
        if (more) {
            double2 sum = loaded_[0];  // its coefficient is 1
#pragma unroll
            for (int t = 1; t < kAtOnce; ++t) {
                if (t < count_) {
                    add_pair(sum, terms_[t].coefficient, loaded_[t]);
                }
            }
#pragma unroll 1
            for (int t = kAtOnce; t < count_; ++t) {
                add_pair(sum, terms_[t].coefficient, load(terms_[t], quad));
            }
            store_pair(slabs.after + places_.offset(quad), sum);
        }
        if (quad == SlabPlaces<along_depth>::kCount - 1) {
            depth_ += kStep;
        }
    }

private:
    static constexpr int kAtOnce = 4;

    __device__ __forceinline__ double2 load(const FusedTermArgument<double>& term, int place) const {
        const int outer = outer_ + SlabPlaces<along_depth>::outer_step(place);
        const int depth = depth_ + SlabPlaces<along_depth>::depth_step(place);
        const double* const from = term.data + outer * layout_.outer_stride + depth * layout_.depth_stride;
        const int rest_of_outer = term.outer - outer, rest_of_depth = term.depth - depth;
        const int there =
            along_depth ? (rest_of_outer > 0 ? rest_of_depth : 0) : (rest_of_depth > 0 ? rest_of_outer : 0);
        if (layout_.wide != 0 && there > 1) {
            return load_pair(from);
        }
        const std::int64_t neighbour = along_depth ? layout_.depth_stride : layout_.outer_stride;
        return {there > 0 ? __ldg(from) : 0.0, there > 1 ? __ldg(from + neighbour) : 0.0};
    }

    const FusedTermArgument<double>* const terms_;
    const FusedOperandLayout& layout_;
    const SlabPlaces<along_depth> places_;
    const int count_;
    const int outer_;
    int depth_;
    double2 loaded_[kAtOnce] = {};
};

/// Slabs of an operand from the front that a feed without guards may take: all there of every term, lines aligned.
__device__ __forceinline__ int whole_slabs(const FusedTermArgument<double>* terms, int count,
                                           const FusedOperandLayout& layout, int outer0) {
    int depth = layout.wide != 0 && count <= 2 ? 1 << 30 : 0;
    for (int t = 0; t < count; ++t) {
        depth = outer0 + kTile <= terms[t].outer ? min(depth, terms[t].depth) : 0;
    }
    return depth / kStep;
}

}  // namespace heptad::cuda::fused_f64
