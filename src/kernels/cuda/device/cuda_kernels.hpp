// The kernels of the CUDA backend as plain functions: what the host half hands to the device half. No CUDA header is
// needed to include this; a stream is passed as the pointer that it is.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/combine/pass_shape.hpp"

namespace heptad::cuda {

/// Element types as a kernel sees them: tf32 is f32 here, the difference is in the products only. A pass may write f32
/// rounded to the bits that those read; nothing else knows of `rounded_to_tf32`.
enum class Scalar : std::uint8_t { f64, f32, bf16, f16, i32, rounded_to_tf32 };

using StreamHandle = void*;  // a cudaStream_t
/// 0, or the code of what went wrong (a cudaError_t).
using DeviceStatus = int;

struct DeviceMatrix {
    void* data = nullptr;
    std::int64_t rows = 0, cols = 0, row_stride = 0, col_stride = 0;
};

/// What the device knows of a product: the largest absolute value of A and of B, of the sums of products that were kept
/// in f16, and of what became C from them; as the bits of a double (whose order is the order of the values, with NaN
/// above infinity).
struct GuardWords {
    unsigned long long max_bits[4];
    double spread;  // of A and B over rows and columns (run/dense/spread.hpp)
};
inline constexpr int kWordOfSums = 2, kWordOfResult = 3;

/// What a caller that waits for its products is told, since it asked last.
struct GuardReport {
    unsigned int fell_back, uneven;
};

/// Largest absolute values of the rows and columns of an operand: the bits of floats without their sign, the upper half
/// of them for f64. Their order is the order of the values. In device memory, on 16-byte boundaries.
struct LineMaxima {
    std::uint32_t* rows = nullptr;
    std::uint32_t* cols = nullptr;
};

/// May the sums of a fast algorithm be formed? Answered on the device, by every kernel that asks.
struct Guard {
    const GuardWords* words = nullptr;  // null: not asked, always run
    double limit_a = 0, limit_b = 0, limit_product = 0, limit_sums = 0, limit_result = 0, limit_spread = 0;
    bool run_when_safe = true;      // false: run only when not safe
    GuardReport* report = nullptr;  // where it is told that the classical product has run
};

/// Sums kept in f16: 2^e above the largest value of A or B is divided out on the way in, and both are multiplied in
/// again on the way out, either with the factor. The exponents are read from the device.
struct Scale {
    enum class Kind : std::uint8_t { none, a_to_sums, b_to_sums, sums_to_c };
    Kind kind = Kind::none;
    const GuardWords* words = nullptr;
    float factor = 1;
};

/// More inputs or outputs than that are done in several launches, which is only possible where no output is an input.
inline constexpr int kMostInputs = 64;
inline constexpr int kMostOutputs = 32;

/// outputs[j] = keep * outputs[j] + sum over i of coefficients[j][i] * inputs[i], all at once for every position. All
/// matrices have one shape. An output may be an input (the same matrix): every value is read before any is written.
struct LinearLaunch {
    Scalar scalar = Scalar::f32;
    Scalar result = Scalar::f32;  // of the outputs: the same; bf16 to f16 and back; f32 to f16 or rounded
    std::vector<DeviceMatrix> inputs, outputs;
    std::vector<double> coefficients;             // outputs.size() rows of inputs.size()
    double keep = 0;                              // 0: outputs are not read
    unsigned long long* watch = nullptr;          // where the largest absolute value of all inputs is noted
    unsigned long long* watch_results = nullptr;  // and of all outputs
    /// Where those of the rows and columns of a matrix are noted, and which of its blocks the first inputs are.
    LineMaxima lines;
    std::vector<std::int64_t> block_row, block_col;
    Scale scale;
    Guard guard;
    PassShape shape;
};
DeviceStatus launch_linear_f64(const LinearLaunch& launch, StreamHandle stream);
DeviceStatus launch_linear_f32(const LinearLaunch& launch, StreamHandle stream);
DeviceStatus launch_linear_bf16(const LinearLaunch& launch, StreamHandle stream);
DeviceStatus launch_linear_f16(const LinearLaunch& launch, StreamHandle stream);
DeviceStatus launch_linear_i32(const LinearLaunch& launch, StreamHandle stream);
DeviceStatus launch_linear_bf16_to_f16(const LinearLaunch& launch, StreamHandle stream);
DeviceStatus launch_linear_f16_to_bf16(const LinearLaunch& launch, StreamHandle stream);
DeviceStatus launch_linear_f32_to_f16(const LinearLaunch& launch, StreamHandle stream);
DeviceStatus launch_linear_f32_to_tf32(const LinearLaunch& launch, StreamHandle stream);
DeviceStatus launch_linear_f32_scaled(const LinearLaunch& launch, StreamHandle stream);
inline DeviceStatus launch_linear(const LinearLaunch& launch, StreamHandle stream) {
    if (launch.scalar != launch.result) {
        return launch.scalar == Scalar::bf16  ? launch_linear_bf16_to_f16(launch, stream)
               : launch.scalar == Scalar::f16 ? launch_linear_f16_to_bf16(launch, stream)
               : launch.result == Scalar::f16 ? launch_linear_f32_to_f16(launch, stream)
                                              : launch_linear_f32_to_tf32(launch, stream);
    }
    switch (launch.scalar) {
        case Scalar::f64:
            return launch_linear_f64(launch, stream);
        case Scalar::f32:
            return launch.scale.kind == Scale::Kind::none ? launch_linear_f32(launch, stream)
                                                          : launch_linear_f32_scaled(launch, stream);
        case Scalar::bf16:
            return launch_linear_bf16(launch, stream);
        case Scalar::f16:
            return launch_linear_f16(launch, stream);
        default:
            return launch_linear_i32(launch, stream);
    }
}

/// c = alpha * a * b + beta * c on the CUDA cores, any strides; the reference on the device, and the answer to
/// non-finite input. f64 and i32 are accumulated in themselves, the others in f32.
struct ClassicalLaunch {
    Scalar scalar = Scalar::f32;
    Scalar result = Scalar::f32;  // of c: the same, or f32 where that is what is accumulated in
    double alpha = 1;
    DeviceMatrix a, b;
    double beta = 0;
    DeviceMatrix c;
    Guard guard;
};
DeviceStatus launch_classical(const ClassicalLaunch& launch, StreamHandle stream);

/// *max_bits = max(*max_bits, largest absolute value), as GuardWords keeps it.
DeviceStatus launch_scan(Scalar scalar, const DeviceMatrix& matrix, unsigned long long* max_bits, StreamHandle stream);

/// The same for every row and column.
DeviceStatus launch_line_scan(Scalar scalar, const DeviceMatrix& matrix, const LineMaxima& lines, StreamHandle stream);

/// What all lines of A and B have been seen for: their largest values and their spread go to `words`. Beyond
/// `even_enough` the report says so.
struct LineJudgement {
    Scalar scalar = Scalar::f32;
    std::int64_t m = 0, k = 0, n = 0;
    LineMaxima a, b;
    GuardWords* words = nullptr;
    double even_enough = 0;
    GuardReport* report = nullptr;  // null: nobody asks
};
DeviceStatus launch_line_judgement(const LineJudgement& judgement, StreamHandle stream);

/// The four 8-bit limbs of every entry, signed digits so that  x = l0 + 2^8 l1 + 2^16 l2 + 2^24 l3  mod 2^32.
/// Row r of the source becomes row r of `limbs` (4 * padded bytes apart): limb 0 of all columns, then limb 1, ...
/// (`highest_first`: limb 3 first), each padded with zeros to `padded` columns.
DeviceStatus launch_split_limbs(const DeviceMatrix& source, bool highest_first, std::int64_t padded, signed char* limbs,
                                StreamHandle stream);

}  // namespace heptad::cuda
