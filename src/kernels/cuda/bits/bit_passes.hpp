// Sums and transposes of packed bit matrices on a device: what the host half hands to the kernels. No CUDA header is
// needed to include this.
#pragma once

#include <cstdint>

#include "kernels/cuda/device/cuda_kernels.hpp"

namespace heptad::cuda {

inline constexpr int kBitProducts = 7, kBitQuarters = 4;

/// One level: all ones where quarter q is part of the sum for product p (or product p of quarter q), else zero.
struct BitLevelMasks {
    std::uint32_t of[kBitProducts][kBitQuarters];
};

inline constexpr int kMostBitWindows = 16;

/// Windows of equal size in a matrix; pass by pass they are added up, or added to. Rows are `row_words` words apart.
/// What a window has beyond the matrix reads as zero and is not written; so do bits beyond the last column.
struct BitWindows {
    struct Corner {
        std::int64_t row = 0, word = 0;
    };
    std::uint64_t* data = nullptr;
    std::int64_t rows = 0, cols = 0, row_words = 0;
    std::int64_t block_words = 0;  // from one matrix of a batch to the next
    int count = 1;
    Corner corner[kMostBitWindows] = {};
    unsigned assigned = 0;  // targets: bit i says that window i is overwritten, not added to
};

/// Every matrix of a batch (the sum of the source's windows) is cut into 2^levels x 2^levels blocks of rows x words,
/// and 7^levels sums of them are stored: target[(i * 7 + p1) * 7 + p2] for matrix i, products p1 of the outer level and
/// p2 of the inner one. No level: the windows' sum alone.
struct BitExpandLaunch {
    BitWindows source;
    std::int64_t batch = 1;
    int levels = 0;           // 0, 1 or 2
    bool transposed = false;  // the matrices are, so that quarter 1 is below quarter 0
    BitLevelMasks masks{};
    std::uint64_t* target = nullptr;
    std::int64_t rows = 0, words = 0;  // of a block; an even number of words
};
DeviceStatus launch_bit_expand(const BitExpandLaunch& launch, StreamHandle stream);

/// The way back: blocks of rows x words are added up, 7^levels of them to 2^levels x 2^levels blocks of every matrix of
/// a batch, which is added to (or stored into) each window of the target.
struct BitCompressLaunch {
    const std::uint64_t* source = nullptr;
    std::int64_t rows = 0, words = 0;
    std::int64_t batch = 1;
    int levels = 0;  // 0, 1 or 2
    BitLevelMasks masks{};
    BitWindows target;
};
DeviceStatus launch_bit_compress(const BitCompressLaunch& launch, StreamHandle stream);

/// target (rows x words, an even number of words) = the transpose of the sum of the source's windows.
struct BitTransposeLaunch {
    BitWindows source;
    std::uint64_t* target = nullptr;
    std::int64_t rows = 0, words = 0;
};
DeviceStatus launch_bit_transpose(const BitTransposeLaunch& launch, StreamHandle stream);

/// Random words; every bit is one with probability `density` (between 0 and 1, in steps of 2^-24).
DeviceStatus launch_bit_random(std::uint64_t* words, std::int64_t count, std::uint64_t seed, double density,
                               StreamHandle stream);

}  // namespace heptad::cuda
