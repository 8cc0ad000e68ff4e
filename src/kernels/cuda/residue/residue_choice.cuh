// How many moduli a product takes, and what the integers of a line are multiplied by.
#pragma once

#include "kernels/cuda/device/device_code.cuh"
#include "kernels/cuda/residue/residue_launches.hpp"

namespace heptad::cuda {
namespace {

__device__ __forceinline__ int moduli_taken(const ResidueChoice& choice) {
    if (choice.guard.words == nullptr) {
        return choice.usual;
    }
    if (!is_within_limits(choice.guard)) {
        return 0;
    }
    double least = choice.least_evenness;
    for (int count = choice.usual; count <= choice.most; ++count) {
        if (is_even(*choice.guard.words, least)) {
            return count;
        }
        least *= kEvennessOfModulus;
    }
    return 0;
}

/// Integers of a line are its numbers times 2^this, rounded. 0 for a line of zeros.
__device__ __forceinline__ int integer_exponent(const ResidueChoice& choice, int taken, double log2_norm) {
    return isinf(log2_norm) ? 0 : static_cast<int>(floor(choice.capacity[taken - choice.usual] - log2_norm));
}

/// 2^exponent as a product of two numbers that a double has.
struct TwoPowers {
    double first, second;
    __device__ __forceinline__ explicit TwoPowers(int exponent) {
        constexpr int kMost = 2044;
        const int whole = min(max(exponent, -kMost), kMost), half = whole >> 1;
        first = __hiloint2double((half + 1023) << 20, 0);
        second = __hiloint2double((whole - half + 1023) << 20, 0);
    }
    __device__ __forceinline__ double times(double x) const { return x * first * second; }
};

}  // namespace
}  // namespace heptad::cuda
