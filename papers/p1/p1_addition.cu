// P1's addition kernel (section 3.3), C = alpha A + beta B + C, in the shape that P1 found best: a thread moves 16
// bytes (TM = 1, TN = 4 floats), 256 threads make a block (BM = BN = 32).
#include "kernels/cuda/device/device_code.cuh"
#include "papers/p1/p1_addition.hpp"

namespace heptad::cuda {
namespace {

constexpr int kThreads = 256;
/// How many blocks ahead is prefetched: far enough that the lines arrive, near enough that they are still there.
constexpr std::int64_t kBlocksAhead = 8 * 132;

template <class T>
struct Arguments {
    T* target;
    const T *a, *b;
    std::int64_t target_stride, a_stride, b_stride, rows, across;
    T x, y, keep;
    const T *x_place, *y_place, *keep_place;
    bool has_b, keeps;
};

template <class T>
struct Vector {
    static constexpr int kLength = 16 / static_cast<int>(sizeof(T));
    T element[kLength];
    __device__ __forceinline__ void load(const T* from) {
        const uint4 word = *reinterpret_cast<const uint4*>(from);
        memcpy(element, &word, sizeof(word));
    }
    __device__ __forceinline__ void store(T* to) const {
        uint4 word;
        memcpy(&word, element, sizeof(word));
        *reinterpret_cast<uint4*>(to) = word;
    }
};

__device__ __forceinline__ void prefetch(const void* address) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

template <class T, P1Style Style>
__global__ void __launch_bounds__(kThreads) addition(const __grid_constant__ Arguments<T> args) {
    constexpr int kLength = Vector<T>::kLength;
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    const std::int64_t places = args.rows * args.across;
    if (at >= places) {
        return;
    }
    const std::int64_t row = at / args.across, col = (at - row * args.across) * kLength;
    if constexpr (Style == P1Style::prefetch) {
        const std::int64_t later = at + kBlocksAhead * kThreads;
        if (later < places && threadIdx.x % 8 == 0) {  // one of the threads that share a line of 128 bytes
            const std::int64_t later_row = later / args.across, later_col = (later - later_row * args.across) * kLength;
            prefetch(args.a + later_row * args.a_stride + later_col);
            if (args.has_b) {
                prefetch(args.b + later_row * args.b_stride + later_col);
            }
            if (args.keeps) {
                prefetch(args.target + later_row * args.target_stride + later_col);
            }
        }
    }
    T x = args.x, y = args.y, keep = args.keep;
    if constexpr (Style == P1Style::device_scalars) {
        x = *args.x_place;
        y = *args.y_place;
        keep = *args.keep_place;
    }
    T* const place = args.target + row * args.target_stride + col;
    Vector<T> a, b, sum;
    a.load(args.a + row * args.a_stride + col);
    if (args.has_b) {
        b.load(args.b + row * args.b_stride + col);
    }
    if (args.keeps) {
        sum.load(place);
    }
#pragma unroll
    for (int e = 0; e < kLength; ++e) {
        T value = x * a.element[e];
        value = args.has_b ? value + y * b.element[e] : value;
        sum.element[e] = args.keeps ? value + keep * sum.element[e] : value;
    }
    sum.store(place);
}

template <class T>
DeviceStatus launch_typed(const P1AdditionLaunch& launch, cudaStream_t stream) {
    const auto* const constants = static_cast<const T*>(launch.constants);
    const auto place_of = [&](double value) {
        return constants == nullptr ? nullptr : constants + (value < 0 ? 0 : value == 0 ? 1 : 2);
    };
    const Arguments<T> args{static_cast<T*>(launch.target.data),
                            static_cast<const T*>(launch.a.data),
                            static_cast<const T*>(launch.b.data),
                            launch.target.row_stride,
                            launch.a.row_stride,
                            launch.b.row_stride,
                            launch.target.rows,
                            launch.target.cols / Vector<T>::kLength,
                            static_cast<T>(launch.x),
                            static_cast<T>(launch.y),
                            static_cast<T>(launch.keep),
                            place_of(launch.x),
                            place_of(launch.y),
                            place_of(launch.keep),
                            launch.y != 0,
                            launch.keep != 0};
    const auto blocks = static_cast<unsigned>((args.rows * args.across + kThreads - 1) / kThreads);
    if (blocks == 0) {
        return 0;
    }
    switch (launch.style) {
        case P1Style::plain:
            addition<T, P1Style::plain><<<blocks, kThreads, 0, stream>>>(args);
            break;
        case P1Style::prefetch:
            addition<T, P1Style::prefetch><<<blocks, kThreads, 0, stream>>>(args);
            break;
        case P1Style::device_scalars:
            addition<T, P1Style::device_scalars><<<blocks, kThreads, 0, stream>>>(args);
            break;
    }
    return cudaGetLastError();
}

}  // namespace

DeviceStatus launch_p1_addition(const P1AdditionLaunch& launch, StreamHandle stream) {
    auto* const queue = static_cast<cudaStream_t>(stream);
    return launch.scalar == Scalar::f64 ? launch_typed<double>(launch, queue) : launch_typed<float>(launch, queue);
}

}  // namespace heptad::cuda
