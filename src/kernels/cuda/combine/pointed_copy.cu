#include "kernels/cuda/combine/pointed_copy.hpp"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 256;

/// Elements are words of their size, which lie side by side along a column.
template <class Word, bool kGathers>
__global__ void __launch_bounds__(kThreads) copy_pointed(PointedMatrix pointed, Word* copy) {
    Word* const matrix = static_cast<Word*>(*pointed.address);
    for (std::int64_t col = blockIdx.y; col < pointed.cols; col += gridDim.y) {
        for (std::int64_t row = blockIdx.x * std::int64_t{kThreads} + threadIdx.x; row < pointed.rows;
             row += static_cast<std::int64_t>(gridDim.x) * kThreads) {
            Word& there = matrix[col * pointed.leading + row];
            Word& here = copy[col * pointed.rows + row];
            if constexpr (kGathers) {
                here = there;
            } else {
                there = here;
            }
        }
    }
}

template <bool kGathers>
DeviceStatus launch(const PointedMatrix& pointed, void* copy, StreamHandle stream) {
    constexpr std::int64_t kMostDown = 16, kMostAcross = 4096;
    const std::int64_t down = (pointed.rows + kThreads - 1) / kThreads;
    const dim3 grid(static_cast<unsigned>(down < kMostDown ? down : kMostDown),
                    static_cast<unsigned>(pointed.cols < kMostAcross ? pointed.cols : kMostAcross));
    const auto with_word = [&](auto example) -> DeviceStatus {
        using Word = decltype(example);
        copy_pointed<Word, kGathers>
            <<<grid, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(pointed, static_cast<Word*>(copy));
        return cudaGetLastError();
    };
    switch (pointed.element_bytes) {
        case sizeof(unsigned short):
            return with_word(static_cast<unsigned short>(0));
        case sizeof(unsigned):
            return with_word(0U);
        case sizeof(uint2):
            return with_word(uint2{});
        case sizeof(uint4):
            return with_word(uint4{});
        default:
            return cudaErrorInvalidValue;
    }
}

}  // namespace

DeviceStatus launch_gather(const PointedMatrix& from, void* copy, StreamHandle stream) {
    return launch<true>(from, copy, stream);
}

DeviceStatus launch_scatter(const void* copy, const PointedMatrix& to, StreamHandle stream) {
    return launch<false>(to, const_cast<void*>(copy), stream);
}

}  // namespace heptad::cuda
