// Of the rows of A and the columns of B, each read once: the exponent of the lowest set bit and the norm as integers.
#include "kernels/cuda/residue/exact_integers.hpp"
#include "kernels/cuda/residue/exact_launches.hpp"
#include "kernels/cuda/residue/residue_lines.cuh"

namespace heptad::cuda {
namespace {

struct NotedLine : ExactLine {
    __device__ __forceinline__ NotedLine of_lane(int offset) const {
        NotedLine other;
        other.squares = __shfl_xor_sync(0xffffffffU, squares, offset);
        other.largest = __shfl_xor_sync(0xffffffffU, static_cast<unsigned long long>(largest), offset);
        other.lowest = __shfl_xor_sync(0xffffffffU, lowest, offset);
        return other;
    }
};

template <class T>
struct LineNotes {
    static constexpr int kVectors = 4;
    NotedLine line;
    __device__ __forceinline__ void begin(const ResidueLines&, std::int64_t) {}
    __device__ __forceinline__ void add(const ResidueLines&, T x, std::int64_t) { line.note(x); }
    __device__ __forceinline__ NotedLine part() const { return line; }
};

template <class T>
__global__ void __launch_bounds__(kThreads) look_at_lines(const __grid_constant__ LineArguments<NotedLine> args) {
    add_lines<T, LineNotes<T>>(args);
}

__global__ void __launch_bounds__(kThreads)
    settle_lines(const __grid_constant__ LineArguments<NotedLine> args, ExactWords* words) {
    const int operand = static_cast<int>(blockIdx.y);
    const ResidueLines& from = args.operand[operand];
    const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    double norm = 0;
    if (line < from.lines) {
        const NotedLine all = whole_line(args, operand, line);
        from.exponents[line] = all.exponent();
        norm = all.log2_norm(from.depth);
    }
    note_maximum(magnitude(norm), &words->norms[operand]);
}

}  // namespace

DeviceStatus launch_exact_lines(ExactElement element, const ResidueLines (&operands)[2], void* scratch,
                                ExactWords* words, StreamHandle handle) {
    auto* const stream = static_cast<cudaStream_t>(handle);
    const bool is_f64 = element == ExactElement::f64;
    const auto args = line_arguments<NotedLine>(is_f64 ? Scalar::f64 : Scalar::f32, operands, scratch, nullptr);
    unsigned blocks = 0;
    cudaError_t status = count_thread_blocks(args, blocks);
    if (status == cudaSuccess) {
        status = cudaMemsetAsync(words, 0, sizeof(ExactWords), stream);
    }
    if (status != cudaSuccess) {
        return status;
    }
    blocks *= 2;  // nobody runs beside it
    (is_f64 ? look_at_lines<double> : look_at_lines<float>)<<<blocks, kThreads, 0, stream>>>(args);
    settle_lines<<<args.grid_of_lines(), kThreads, 0, stream>>>(args, words);
    return cudaGetLastError();
}

}  // namespace heptad::cuda
