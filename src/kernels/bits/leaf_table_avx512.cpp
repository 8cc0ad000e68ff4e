// The table product with 512-bit vectors; three-way sums are one instruction.
#if defined(__x86_64__)

#include <immintrin.h>

#include "kernels/bits/boolean_kernel.hpp"
#include "kernels/bits/leaf_kernels.hpp"
#include "kernels/bits/table_kernel.hpp"

namespace heptad::bits {
namespace {

struct Vector {
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

void multiply_table_avx512(const LeafShape& shape, const LeafPart& part, const std::uint64_t* a, const std::uint64_t* b,
                           std::uint64_t* c, bool accumulate) {
    table_product<Vector, false>(shape, part, a, b, c, accumulate);
}

void multiply_table_avx512_boolean(const LeafShape& shape, const LeafPart& part, const std::uint64_t* a,
                                   const std::uint64_t* b, std::uint64_t* c, bool accumulate) {
    table_product<Vector, true>(shape, part, a, b, c, accumulate);
}

void add_rows_avx512(const ListedOnes& ones, int width, const std::uint64_t* b, const std::uint64_t* reachable,
                     std::uint64_t* c, std::uint8_t* open) {
    add_listed_rows<Vector>(ones, width, b, reachable, c, open);
}

}  // namespace heptad::bits

#endif
