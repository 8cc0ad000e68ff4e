// C = A * B' of bits on chips from compute capability 8.0 on: counts of common ones by warp products of the binary
// tensor cores (m16n8k256, AND and POPC).
#include "kernels/cuda/bits/bit_leaf_pack.cuh"
#include "kernels/cuda/device/mma_product.cuh"

namespace heptad::cuda {
namespace {

struct BitMmaArguments {
    LeafResult c;
    MmaOperands from;
};

template <BitOperation operation>
__global__ void __launch_bounds__(MmaShape::threads, 1) multiply(const __grid_constant__ BitMmaArguments args) {
    int d[2][MmaShape::warp_cols / 2] = {};
    const auto [block, row, col] =
        multiply_by_warps(args.from, d, [](int* sums, const std::uint32_t(&a)[4], std::uint32_t b0, std::uint32_t b1) {
            asm volatile(
                "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                "{%8, %9}, {%0, %1, %2, %3};"
                : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
        });
    if constexpr (operation == BitOperation::count) {
        store_counts<MmaShape::warp_cols / 8>(args.c, block, row, col, d[0]);
        store_counts<MmaShape::warp_cols / 8>(args.c, block, row + 16, col, d[1]);
    } else {
        // 16 rows of each: lanes 2 and 3 of four have the second 16.
        const int lane = static_cast<int>(threadIdx.x) % 32;
        store_bits<operation>(args.c, block, row + lane / 4 + 8 * (lane % 4), col, pack_32x128<operation>(d));
    }
}

}  // namespace

DeviceStatus launch_bit_leaf_mma(const BitLeafLaunch& launch, StreamHandle stream) {
    if (launch.m == 0 || launch.n == 0 || launch.batch == 0) {
        return 0;
    }
    const auto lines = [](const BitBlocks& from, std::int64_t count) {
        return MmaLines{from.data, count, from.row_words * 8, from.block_words * 8};
    };
    const BitMmaArguments args{leaf_result(launch),
                               {lines(launch.a, launch.m), lines(launch.b, launch.n), (launch.k + 63) / 64 * 8}};
    const auto kernel = launch.operation == BitOperation::parity ? multiply<BitOperation::parity>
                        : launch.operation == BitOperation::any  ? multiply<BitOperation::any>
                                                                 : multiply<BitOperation::count>;
    return launch_by_warps(kernel, args, args.from.grid(launch.batch), static_cast<cudaStream_t>(stream));
}

}  // namespace heptad::cuda
