// What atomic additions must find, in one launch: targets that are zero, a counter and a guard's words that are.
#pragma once

#include <cstdint>

#include "kernels/cuda/device/cuda_kernels.hpp"

namespace heptad::cuda {

struct FusedClearing {
    static constexpr int kMostBlocks = 64;
    /// Elements in words of four bytes: `row_words` side by side in each of `rows` lines, so many words apart.
    struct Block {
        std::uint32_t* data;
        std::int64_t rows, row_words, line_words;
    };
    Block blocks[kMostBlocks];
    std::int32_t block_count;
    std::uint32_t* counter;  // null: none
    GuardWords* words;       // null: none
    Guard guard;             // blocks are left alone if that says so
};

/// The launch after this one may begin before it has ended (launch_order.cuh).
DeviceStatus launch_clearing(const FusedClearing& clearing, StreamHandle stream);

}  // namespace heptad::cuda
