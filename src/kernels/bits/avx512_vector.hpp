// A register of 512 bits for the kernels that are compiled for AVX-512; three-way sums are one instruction.
#pragma once

#if defined(__AVX512F__)

#include <immintrin.h>

#include <cstdint>

namespace heptad::bits {
namespace {

struct Avx512Vector {
    using Register = __m512i;
    static constexpr int words = 8;

    static Register load(const std::uint64_t* from) { return _mm512_loadu_si512(from); }
    static void store(std::uint64_t* to, Register r) { _mm512_storeu_si512(to, r); }
    static Register zero() { return _mm512_setzero_si512(); }
    struct Xor {
        static Register sum2(Register x, Register y) { return _mm512_xor_si512(x, y); }
        static Register sum3(Register x, Register y, Register z) { return _mm512_ternarylogic_epi64(x, y, z, 0x96); }
    };
    struct Or {
        static Register sum2(Register x, Register y) { return _mm512_or_si512(x, y); }
        static Register sum3(Register x, Register y, Register z) { return _mm512_ternarylogic_epi64(x, y, z, 0xfe); }
    };
};

}  // namespace
}  // namespace heptad::bits

#endif
