// Products of bytes on the tensor cores of any device, one for each modulus: 64 x 64 of C to a block, slices of A and B
// in shared memory.
#include <mma.h>

#include <algorithm>
#include <atomic>

#include "kernels/cuda/residue/residue_choice.cuh"

namespace heptad::cuda {
namespace {

constexpr int kTile = 64, kDepth = 64, kPitch = kDepth + 16, kMmaThreads = 128;

struct MmaArguments {
    BytePlanes a, b, c;
    ResidueChoice choice;
    int products;  // of each modulus
    ByteModulus moduli[kMostModuli];
};

/// Lines beyond the last, and bytes beyond a line, are zeros.
__device__ __forceinline__ void fetch_slice(const BytePlanes& from, int plane, std::int64_t first_line,
                                            std::int64_t first, signed char (*to)[kPitch]) {
    constexpr int kOfLine = kDepth / 16;
    for (int i = static_cast<int>(threadIdx.x); i < kTile * kOfLine; i += kMmaThreads) {
        const std::int64_t line = first_line + i / kOfLine, at = first + i % kOfLine * 16;
        const bool inside = line < from.lines && at < from.line_bytes;
        *reinterpret_cast<uint4*>(&to[i / kOfLine][i % kOfLine * 16]) =
            inside ? *reinterpret_cast<const uint4*>(from.data + plane * from.plane_bytes + line * from.line_bytes + at)
                   : uint4{};
    }
}

__global__ void __launch_bounds__(kMmaThreads) multiply_planes(const __grid_constant__ MmaArguments args) {
    using namespace nvcuda::wmma;
    __shared__ __align__(16) signed char slice_a[kTile][kPitch], slice_b[kTile][kPitch];
    __shared__ __align__(16) int sums[kTile][kTile];
    const int plane = static_cast<int>(blockIdx.z), warp = static_cast<int>(threadIdx.x) / 32;
    if (plane >= moduli_taken(args.choice) * args.products) {
        return;
    }
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kTile,
                       col = static_cast<std::int64_t>(blockIdx.y) * kTile;
    fragment<accumulator, 16, 16, 16, int> sum[kTile / 16];
    for (auto& part : sum) {
        fill_fragment(part, 0);
    }
    for (std::int64_t first = 0; first < args.a.line_bytes; first += kDepth) {
        fetch_slice(args.a, plane, row, first, slice_a);
        fetch_slice(args.b, plane, col, first, slice_b);
        __syncthreads();
        for (int p = 0; p < kDepth; p += 16) {
            fragment<matrix_a, 16, 16, 16, signed char, row_major> a;
            load_matrix_sync(a, &slice_a[warp * 16][p], kPitch);
            for (int j = 0; j < kTile / 16; ++j) {
                fragment<matrix_b, 16, 16, 16, signed char, col_major> b;
                load_matrix_sync(b, &slice_b[j * 16][p], kPitch);
                mma_sync(sum[j], a, b, sum[j]);
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < kTile / 16; ++j) {
        store_matrix_sync(&sums[warp * 16][j * 16], sum[j], kTile, mem_row_major);
    }
    __syncthreads();
    const ByteModulus m = args.moduli[plane / args.products];
    for (int i = static_cast<int>(threadIdx.x); i < kTile * kTile; i += kMmaThreads) {
        const std::int64_t own_row = row + i / kTile, own_col = col + i % kTile;
        if (own_row < args.c.lines && own_col < args.c.line_bytes) {
            const std::uint32_t x = static_cast<std::uint32_t>(sums[i / kTile][i % kTile]) + m.bias;
            args.c.data[plane * args.c.plane_bytes + own_row * args.c.line_bytes + own_col] =
                static_cast<std::uint8_t>(x - m.p * (__umulhi(x, m.reciprocal) >> 7));
        }
    }
}

}  // namespace

DeviceStatus launch_residue_multiply_mma(const ResidueMultiply& launch, StreamHandle stream) {
    const int products = launch.a.products();
    MmaArguments args{launch.a, launch.b, launch.c, launch.choice, products, {}};
    constexpr auto kAll = byte_moduli();
    std::copy(kAll.begin(), kAll.end(), args.moduli);
    const auto tiles = [](std::int64_t lines) { return static_cast<unsigned>((lines + kTile - 1) / kTile); };
    const dim3 grid(tiles(launch.a.lines), tiles(launch.c.line_bytes),
                    static_cast<unsigned>(launch.choice.most * products));
    multiply_planes<<<grid, kMmaThreads, 0, static_cast<cudaStream_t>(stream)>>>(args);
    return cudaGetLastError();
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
