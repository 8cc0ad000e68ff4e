// The 8 x 8 block product in plain C++: slow, but the definition that the vector instruction is held to.
#include <algorithm>
#include <array>

#include "kernels/bits/block_kernel.hpp"
#include "kernels/bits/leaf_kernels.hpp"

namespace heptad::bits {
namespace {

struct PlainVector {
    using Register = std::array<std::uint64_t, 8>;
    static constexpr int words = 8;

    static Register load(const std::uint64_t* from) {
        Register r;
        std::copy_n(from, 8, r.begin());
        return r;
    }
    static void store(std::uint64_t* to, const Register& r) { std::copy_n(r.begin(), 8, to); }
    static Register zero() { return {}; }
    static Register broadcast(std::uint64_t word) {
        Register r;
        r.fill(word);
        return r;
    }
    /// Bit j of byte i: the parity of byte i of x AND byte 7 - j of y.
    static Register product(const Register& x, const Register& y) {
        constexpr std::uint64_t every_byte = 0x0101010101010101U;
        Register r{};
        for (std::size_t lane = 0; lane < 8; ++lane) {
            for (int j = 0; j < 8; ++j) {
                std::uint64_t bits = x[lane] & (((y[lane] >> (8 * (7 - j))) & 0xff) * every_byte);
                bits ^= bits >> 4;
                bits ^= bits >> 2;
                bits ^= bits >> 1;
                r[lane] |= (bits & every_byte) << j;
            }
        }
        return r;
    }
    struct Xor {
        static Register sum2(const Register& x, const Register& y) { return sum3(x, y, Register{}); }
        static Register sum3(const Register& x, const Register& y, const Register& z) {
            Register r;
            for (std::size_t lane = 0; lane < 8; ++lane) {
                r[lane] = x[lane] ^ y[lane] ^ z[lane];
            }
            return r;
        }
    };
};

}  // namespace

BlockKernels block_kernels() {
    return {block_product<PlainVector>, block_product_fused<PlainVector>, nullptr, nullptr};
}

}  // namespace heptad::bits
