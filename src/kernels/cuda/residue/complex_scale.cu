// C times a complex factor, for products that have nothing else to do to it.
#include "kernels/cuda/residue/residue_complex.cuh"
#include "kernels/cuda/residue/residue_launches.hpp"

namespace heptad::cuda {
namespace {

constexpr int kScaleThreads = 256;

template <class T>
__global__ void __launch_bounds__(kScaleThreads) scale_complex(DeviceMatrix c, Complex<double> beta, Guard guard) {
    if (!should_run(guard)) {
        return;
    }
    const bool is_zero = beta.real == 0 && beta.imaginary == 0;
    for (std::int64_t row = blockIdx.y; row < c.rows; row += gridDim.y) {
        for (std::int64_t col = blockIdx.x * std::int64_t{kScaleThreads} + threadIdx.x; col < c.cols;
             col += static_cast<std::int64_t>(gridDim.x) * kScaleThreads) {
            T* const at = static_cast<T*>(c.data) + row * c.row_stride + col * c.col_stride;
            const T old = is_zero ? T{} : *at;
            const Complex<double> scaled = times(beta, {old.real, old.imaginary});
            *at = {static_cast<PartOf<T>>(scaled.real), static_cast<PartOf<T>>(scaled.imaginary)};
        }
    }
}

}  // namespace

DeviceStatus launch_complex_scale(Scalar scalar, const DeviceMatrix& c, double beta, double beta_imaginary,
                                  const Guard& guard, StreamHandle stream) {
    constexpr std::int64_t kMostAcross = 16, kMostDown = 1024;
    const std::int64_t across = (c.cols + kScaleThreads - 1) / kScaleThreads;
    const dim3 grid(static_cast<unsigned>(across < kMostAcross ? across : kMostAcross),
                    static_cast<unsigned>(c.rows < kMostDown ? c.rows : kMostDown));
    return with_complex_type(scalar, [&](auto example) -> DeviceStatus {
        using T = decltype(example);
        scale_complex<T>
            <<<grid, kScaleThreads, 0, static_cast<cudaStream_t>(stream)>>>(c, {beta, beta_imaginary}, guard);
        return cudaGetLastError();
    });
}

}  // namespace heptad::cuda
