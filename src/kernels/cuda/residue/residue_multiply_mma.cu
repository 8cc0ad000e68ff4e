// Products of bytes on the tensor cores of any device, one for each modulus (m16n8k32), their sums taken modulo it in
// registers.
#include <algorithm>
#include <atomic>

#include "kernels/cuda/device/mma_product.cuh"
#include "kernels/cuda/residue/residue_choice.cuh"
#include "kernels/cuda/residue/residue_products.cuh"

namespace heptad::cuda {
namespace {

struct MmaArguments {
    MmaOperands from;
    BytePlanes c;
    ResidueChoice choice;
    int products;  // of each modulus
    ByteModulus moduli[kMostModuli];
};

__global__ void __launch_bounds__(MmaShape::threads, 1) multiply_planes(const __grid_constant__ MmaArguments args) {
    if (static_cast<int>(blockIdx.y) >= moduli_taken(args.choice) * args.products) {
        return;
    }
    int d[2][MmaShape::warp_cols / 2] = {};
    const auto [plane, row, col] =
        multiply_by_warps(args.from, d, [](int* sums, const std::uint32_t(&a)[4], std::uint32_t b0, std::uint32_t b1) {
            asm volatile(
                "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                "{%0, %1, %2, %3};"
                : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
        });
    const ByteModulus m = args.moduli[plane / args.products];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        store_remainders(args.c, m, plane, row + 16 * i, col, d[i]);
    }
}

}  // namespace

DeviceStatus launch_residue_multiply_mma(const ResidueMultiply& launch, StreamHandle stream) {
    const int products = launch.a.products();
    const auto lines = [](const BytePlanes& from) {
        return MmaLines{from.data, from.lines, from.line_bytes, from.plane_bytes};
    };
    MmaArguments args{{lines(launch.a), lines(launch.b), launch.a.line_bytes}, launch.c, launch.choice, products, {}};
    constexpr auto kAll = byte_moduli();
    std::copy(kAll.begin(), kAll.end(), args.moduli);
    return launch_by_warps(multiply_planes, args, args.from.grid(std::int64_t{launch.choice.most} * products),
                           static_cast<cudaStream_t>(stream));
}

DeviceStatus launch_residue_multiply(const ResidueMultiply& launch, StreamHandle stream) {
    constexpr int kMostDevices = 64;
    static std::atomic<int> known[kMostDevices];  // 1: no, 2: yes
    int device = 0;
    bool hopper = false;
    DeviceStatus status = cudaGetDevice(&device);
    if (status == 0 && device < kMostDevices && known[device].load() != 0) {
        hopper = known[device].load() == 2;
    } else if (status == 0) {
        status = find_residue_multiply_hopper(hopper);
        if (status == 0 && device < kMostDevices) {
            known[device].store(hopper ? 2 : 1);
        }
    }
    return status != 0 ? status
           : hopper    ? launch_residue_multiply_hopper(launch, stream)
                       : launch_residue_multiply_mma(launch, stream);
}

}  // namespace heptad::cuda
