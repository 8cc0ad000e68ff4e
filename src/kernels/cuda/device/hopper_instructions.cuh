// Instructions that only Hopper has: barriers that count bytes, copies by the copy engine, warpgroup products.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace heptad::cuda {

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void barrier_init(std::uint32_t barrier, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}
__device__ __forceinline__ void barrier_expect(std::uint32_t barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
/// Arrives at the barrier in the same place of another block of the cluster (or of this one). It tells of reads only,
/// by tensor cores, which have ended: with the scope of the cluster every arrival would wait for a fence of the device.
__device__ __forceinline__ void barrier_arrive(std::uint32_t barrier, std::uint32_t rank) {
    asm volatile(
        "{\n"
        ".reg .b32 remote;\n"
        "mapa.shared::cluster.u32 remote, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
        "}\n" ::"r"(barrier),
        "r"(rank)
        : "memory");
}
__device__ __forceinline__ void barrier_wait(std::uint32_t barrier, std::uint32_t phase) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}\n" ::"r"(barrier),
        "r"(phase)
        : "memory");
}

/// Copies a box of a tensor to shared memory of the blocks in the mask, and reports to the barrier in each of them.
__device__ __forceinline__ void fetch(const CUtensorMap& map, std::uint32_t barrier, std::uint32_t to, int x, int y,
                                      int z, std::uint16_t mask) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(mask)
        : "memory");
}
__device__ __forceinline__ void fetch(const CUtensorMap& map, std::uint32_t barrier, std::uint32_t to, int x, int y,
                                      int z) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z)
        : "memory");
}

/// Four 8 x 8 matrices of 16 bits, as products lie in registers; a lane says where one row of one of them goes.
__device__ __forceinline__ void store_matrices(std::uint32_t to, std::uint32_t first, std::uint32_t second,
                                               std::uint32_t third, std::uint32_t fourth) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(first), "r"(second),
                 "r"(third), "r"(fourth)
                 : "memory");
}
__device__ __forceinline__ uint4 load_piece(std::uint32_t from) {
    uint4 piece;
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(piece.x), "=r"(piece.y), "=r"(piece.z), "=r"(piece.w)
                 : "r"(from)
                 : "memory");
    return piece;
}

/// How the tensor cores find rows of 128 bytes, swizzled, eight of them to 1024 bytes. Across k they are lines of 64
/// elements of 16 bits along m or n, eight of k to 1024 bytes, and the next 64 elements lie behind 64 such lines.
template <bool across = false>
__device__ __forceinline__ std::uint64_t matrix_descriptor(std::uint32_t address) {
    constexpr std::uint64_t kSwizzle128 = std::uint64_t{1} << 62, kEightRows = std::uint64_t{1024 >> 4} << 32;
    constexpr std::uint64_t kNextElements = std::uint64_t{across ? 64 * 128 >> 4 : 1} << 16;
    return kSwizzle128 | kEightRows | kNextElements | ((address & 0x3ffffU) >> 4);
}

/// d (+)= products of 64 rows with twice as many columns as d has words, over 32 bytes of k. They are not there before
/// products_wait.
// clang-format off
#define HEPTAD_WORDS_0 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define HEPTAD_WORDS_32 \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define HEPTAD_WORDS_64 \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define HEPTAD_WORDS_96 \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define HEPTAD_SUMS_8(kept, at) \
    kept(d[at]), kept(d[at + 1]), kept(d[at + 2]), kept(d[at + 3]), \
    kept(d[at + 4]), kept(d[at + 5]), kept(d[at + 6]), kept(d[at + 7])
#define HEPTAD_SUMS_32(kept, at) \
    HEPTAD_SUMS_8(kept, at), HEPTAD_SUMS_8(kept, at + 8), HEPTAD_SUMS_8(kept, at + 16), HEPTAD_SUMS_8(kept, at + 24)
/// Floats take factors of 1 or -1 behind their operands, and those of 16 bits which of them lie across k (`across`).
#define HEPTAD_HEAD_plain
#define HEPTAD_HEAD_across template <class Operands>
#define HEPTAD_CONSTANTS_plain
#define HEPTAD_CONSTANTS_across , "n"(Operands::a_across ? 1 : 0), "n"(Operands::b_across ? 1 : 0)
#define HEPTAD_PRODUCT(kind, function, Sum, count, instruction, rest, words, operands, adds_operand, ...) \
    HEPTAD_HEAD_##kind __device__ __forceinline__ void function(Sum (&d)[count], std::uint64_t a, std::uint64_t b, int adds) { \
        asm volatile( \
            "{\n" \
            ".reg .pred p;\n" \
            "setp.ne.b32 p, " adds_operand ", 0;\n" \
            instruction " {" words "}, " operands ", p" rest ";\n" \
            "}\n" \
            : __VA_ARGS__ \
            : "l"(a), "l"(b), "r"(adds) HEPTAD_CONSTANTS_##kind); \
    }
#define HEPTAD_PRODUCT_32(function, instruction) \
    HEPTAD_PRODUCT(plain, function, int, 32, instruction, "", HEPTAD_WORDS_0, "%32, %33", "%34", HEPTAD_SUMS_32("+r", 0))
#define HEPTAD_PRODUCT_64(function, instruction) \
    HEPTAD_PRODUCT(plain, function, int, 64, instruction, "", HEPTAD_WORDS_0 ", " HEPTAD_WORDS_32, "%64, %65", "%66", \
                   HEPTAD_SUMS_32("+r", 0), HEPTAD_SUMS_32("+r", 32))
#define HEPTAD_PRODUCT_96(function, instruction) \
    HEPTAD_PRODUCT(plain, function, int, 96, instruction, "", HEPTAD_WORDS_0 ", " HEPTAD_WORDS_32 ", " HEPTAD_WORDS_64, "%96, %97", \
                   "%98", HEPTAD_SUMS_32("+r", 0), HEPTAD_SUMS_32("+r", 32), HEPTAD_SUMS_32("+r", 64))
#define HEPTAD_PRODUCT_128(function, instruction) \
    HEPTAD_PRODUCT(plain, function, int, 128, instruction, "", \
                   HEPTAD_WORDS_0 ", " HEPTAD_WORDS_32 ", " HEPTAD_WORDS_64 ", " HEPTAD_WORDS_96, "%128, %129", "%130", \
                   HEPTAD_SUMS_32("+r", 0), HEPTAD_SUMS_32("+r", 32), HEPTAD_SUMS_32("+r", 64), HEPTAD_SUMS_32("+r", 96))
#define HEPTAD_FLOAT_PRODUCT_128(kind, function, instruction, rest) \
    HEPTAD_PRODUCT(kind, function, float, 128, instruction, rest, \
                   HEPTAD_WORDS_0 ", " HEPTAD_WORDS_32 ", " HEPTAD_WORDS_64 ", " HEPTAD_WORDS_96, "%128, %129", "%130", \
                   HEPTAD_SUMS_32("+f", 0), HEPTAD_SUMS_32("+f", 32), HEPTAD_SUMS_32("+f", 64), HEPTAD_SUMS_32("+f", 96))
// clang-format on
/// Counts of common ones.
HEPTAD_PRODUCT_128(multiply_bits, "wgmma.mma_async.sync.aligned.m64n256k256.s32.b1.b1.and.popc")
HEPTAD_PRODUCT_96(multiply_bits, "wgmma.mma_async.sync.aligned.m64n192k256.s32.b1.b1.and.popc")
/// Signed bytes; sums wrap.
HEPTAD_PRODUCT_128(multiply_bytes, "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8")
HEPTAD_PRODUCT_96(multiply_bytes, "wgmma.mma_async.sync.aligned.m64n192k32.s32.s8.s8")
HEPTAD_PRODUCT_64(multiply_bytes, "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8")
HEPTAD_PRODUCT_32(multiply_bytes, "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8")
/// Floats, added in f32. Of tf32 the upper 19 bits of an f32 are taken.
HEPTAD_FLOAT_PRODUCT_128(across, multiply_bf16, "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16",
                         ", 1, 1, %131, %132")
HEPTAD_FLOAT_PRODUCT_128(across, multiply_f16, "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16",
                         ", 1, 1, %131, %132")
HEPTAD_FLOAT_PRODUCT_128(plain, multiply_tf32, "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32", ", 1, 1")
#undef HEPTAD_FLOAT_PRODUCT_128
#undef HEPTAD_PRODUCT_128
#undef HEPTAD_PRODUCT_96
#undef HEPTAD_PRODUCT_64
#undef HEPTAD_PRODUCT_32
#undef HEPTAD_PRODUCT
#undef HEPTAD_CONSTANTS_across
#undef HEPTAD_CONSTANTS_plain
#undef HEPTAD_HEAD_across
#undef HEPTAD_HEAD_plain
#undef HEPTAD_SUMS_32
#undef HEPTAD_SUMS_8
#undef HEPTAD_WORDS_96
#undef HEPTAD_WORDS_64
#undef HEPTAD_WORDS_32
#undef HEPTAD_WORDS_0

__device__ __forceinline__ void products_begin() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void products_commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int pending>
__device__ __forceinline__ void products_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

/// A kernel that was launched to run beside this one may begin once all blocks have come here.
__device__ __forceinline__ void let_next_kernel_begin() {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
/// Waits until the kernel is complete beside which this one was launched; does nothing in any other.
__device__ __forceinline__ void wait_for_kernel_before() {
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

__device__ __forceinline__ std::uint32_t cluster_rank() {
    std::uint32_t rank = 0;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

}  // namespace heptad::cuda

#endif
