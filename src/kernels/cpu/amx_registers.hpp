// The eight registers of AMX, all of 16 rows of 64 bytes. Only for files that are compiled for them.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace heptad::cpu {
namespace {

constexpr int register_rows = 16, register_bytes = 64;

/// Linux keeps room for a thread's tiles only in processes that asked.
inline bool ask_for_tiles() {
    constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

inline void configure_tiles() {
    struct alignas(64) {
        std::uint8_t palette = 1, first_row = 0, reserved[14] = {};
        std::uint16_t row_bytes[16] = {};
        std::uint8_t rows[16] = {};
    } shape;
    for (int i = 0; i < 8; ++i) {
        shape.row_bytes[i] = register_bytes;
        shape.rows[i] = register_rows;
    }
    asm volatile("" ::: "memory");  // the intrinsics do not say that they read and write memory
    _tile_loadconfig(&shape);
}

inline void release_tiles() {
    _tile_release();
}

}  // namespace
}  // namespace heptad::cpu

#endif
