// Products of bytes for x86-64 with AMX, whose registers hold 16 x 16 sums, beside AVX-512 (compiled with these
// switched on).
#if defined(__x86_64__)
#define HEPTAD_AVX512
#define HEPTAD_VECTOR_BYTES 64
#include "kernels/cpu/amx_registers.hpp"
#include "kernels/cpu/microkernel_bytes.hpp"

namespace heptad::cpu {
namespace {

void amx_byte_tile(std::int64_t chunks, const std::int8_t* a, const std::uint8_t* b, bool add, std::int32_t* sums) {
    constexpr int panel = ByteKernels::panel, sums_bytes = 4 * panel, b_bytes = 2 * register_bytes;
    std::int32_t* const lower = sums + register_rows * panel;
    asm volatile("" ::: "memory");  // the intrinsics do not say that they read and write memory
    if (add) {
        _tile_loadd(0, sums, sums_bytes);
        _tile_loadd(1, sums + register_rows, sums_bytes);
        _tile_loadd(2, lower, sums_bytes);
        _tile_loadd(3, lower + register_rows, sums_bytes);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (std::int64_t g = 0; g < chunks; ++g) {
        _tile_loadd(6, b, b_bytes);
        _tile_loadd(4, a, register_bytes);
        _tile_dpbsud(0, 4, 6);
        _tile_loadd(7, b + register_bytes, b_bytes);
        _tile_dpbsud(1, 4, 7);
        _tile_loadd(5, a + register_rows * register_bytes, register_bytes);
        _tile_dpbsud(2, 5, 6);
        _tile_dpbsud(3, 5, 7);
        a += ByteKernels::chunk_bytes;
        b += ByteKernels::chunk_bytes;
    }
    _tile_stored(0, sums, sums_bytes);
    _tile_stored(1, sums + register_rows, sums_bytes);
    _tile_stored(2, lower, sums_bytes);
    _tile_stored(3, lower + register_rows, sums_bytes);
    asm volatile("" ::: "memory");
}

constexpr ByteKernels kernels_of_tiles() {
    ByteKernels kernels = byte_kernels("amx-int8", amx_byte_tile);
    kernels.may_use = ask_for_tiles;
    kernels.begin = configure_tiles;
    kernels.end = release_tiles;
    return kernels;
}

}  // namespace

const ByteKernels& kernels_amx_int8() {
    static constexpr ByteKernels kernels = kernels_of_tiles();
    return kernels;
}

}  // namespace heptad::cpu
#endif
