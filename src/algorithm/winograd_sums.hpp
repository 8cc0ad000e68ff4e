// One level of Winograd's variant of Strassen's algorithm as code: seven sums of four blocks of A or of B, and four
// blocks of C from seven products. For kernels that keep blocks in registers; T is a number, or several of them.
#pragma once

#include "base/host_and_device.hpp"

namespace heptad {

inline constexpr int kWinogradProducts = 7;

/// A level that the kernels for residues know: how many products so many of them make.
constexpr int winograd_products(int levels) {
    return levels == 0 ? 1 : kWinogradProducts * winograd_products(levels - 1);
}

template <class T>
HEPTAD_HOST_AND_DEVICE void winograd_sums_of_a(const T& a11, const T& a12, const T& a21, const T& a22,
                                               T (&sums)[kWinogradProducts]) {
    const T s1 = a21 + a22, s2 = s1 - a11;
    sums[0] = a11;
    sums[1] = a12;
    sums[2] = a12 - s2;
    sums[3] = a22;
    sums[4] = s1;
    sums[5] = s2;
    sums[6] = a11 - a21;
}

template <class T>
HEPTAD_HOST_AND_DEVICE void winograd_sums_of_b(const T& b11, const T& b12, const T& b21, const T& b22,
                                               T (&sums)[kWinogradProducts]) {
    const T t1 = b12 - b11, t2 = b22 - t1;
    sums[0] = b11;
    sums[1] = b21;
    sums[2] = b22;
    sums[3] = t2 - b21;
    sums[4] = t1;
    sums[5] = t2;
    sums[6] = b22 - b12;
}

/// Is the r-th sum of A or of B a block as it is?
HEPTAD_HOST_AND_DEVICE constexpr bool is_one_block(bool of_b, int r) {
    return r < 2 || r == (of_b ? 2 : 3);
}

/// C = {c11, c12, c21, c22}. No block of any of the three is a sum of more than four.
template <class T>
HEPTAD_HOST_AND_DEVICE void winograd_result(const T (&p)[kWinogradProducts], T (&c)[4]) {
    const T u2 = p[0] + p[5], u3 = u2 + p[6];
    c[0] = p[0] + p[1];
    c[1] = u2 + p[4] + p[2];
    c[2] = u3 - p[3];
    c[3] = u3 + p[4];
}

/// Four blocks of a block, for the level above.
template <class T>
struct FourBlocks {
    T block[4];
    friend HEPTAD_HOST_AND_DEVICE FourBlocks operator+(const FourBlocks& x, const FourBlocks& y) {
        return {{x.block[0] + y.block[0], x.block[1] + y.block[1], x.block[2] + y.block[2], x.block[3] + y.block[3]}};
    }
    friend HEPTAD_HOST_AND_DEVICE FourBlocks operator-(const FourBlocks& x, const FourBlocks& y) {
        return {{x.block[0] - y.block[0], x.block[1] - y.block[1], x.block[2] - y.block[2], x.block[3] - y.block[3]}};
    }
};

}  // namespace heptad
