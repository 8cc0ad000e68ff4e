// The kernels of the CUDA backend as plain functions: what the host half hands to the device half. No CUDA header is
// needed to include this; a stream is passed as the pointer that it is.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/combine/pass_shape.hpp"

namespace heptad::cuda {

/// Element types as a kernel sees them: tf32 is f32 here, the difference is in the products only. A pass may write f32
/// rounded to the bits that those read, and so may a copy (tensor_product.hpp); nothing else knows of
/// `rounded_to_tf32`.
enum class Scalar : std::uint8_t { f64, f32, bf16, f16, i32, rounded_to_tf32 };

using StreamHandle = void*;  // a cudaStream_t
/// 0, or the code of what went wrong (a cudaError_t).
using DeviceStatus = int;

struct DeviceMatrix {
    void* data = nullptr;
    std::int64_t rows = 0, cols = 0, row_stride = 0, col_stride = 0;
};

/// What the device knows of a product: the largest absolute value of A and of B (with the powers of two beside them,
/// where those count), of the sums of products that were kept in f16, and of what became C from them; as the bits of a
/// double (whose order is the order of the values, with NaN above infinity). And how even A and B are
/// (run/dense/evenness.hpp), as far as it can be said before their largest values are known:
///   evenness = least_product / (rms of A * rms of B),   rms^2 = mean_square + (largest * outlier_weight)^2
struct GuardWords {
    unsigned long long max_bits[4];
    double least_product;
    double mean_square[2], outlier_weight[2];
    double inner_growth;  // sums may be so much larger than scaled values; 0: as 1
    /// The least that the largest value of any row of A, or column of B, can be by its sample; and with its own power
    /// of two, the least of the rms of a sample (line_norms.cuh).
    double least_plain[2], least_line[2];
    /// By residues, as the bits of doubles: the most that powers along k make of the norm of a row of A, or of a column
    /// of B.
    unsigned long long line_growth[2];
    unsigned long long
        plain_max_bits[2];    // by residues: max_bits without powers, before it is known whether they count
    unsigned int is_judged;   // what is said of evenness counts
    unsigned int scaled;      // powers of two beside A, B and C count
    unsigned int zero_lines;  // some rows or columns looked empty and count as zero
};
inline constexpr int kWordOfSums = 2, kWordOfResult = 3;

/// What a caller that waits for its products is told, since it asked last.
struct GuardReport {
    unsigned int fell_back, uneven, scaled;
};

/// Largest absolute values of the rows and columns of an operand: the bits of floats without their sign, the upper half
/// of them for f64. Their order is the order of the values. In device memory, on 16-byte boundaries.
struct LineMaxima {
    std::uint32_t* rows = nullptr;
    std::uint32_t* cols = nullptr;
};

/// Powers of two beside a matrix (LineExponents of kernels/backend.hpp), in device memory. Null: zeros.
struct DeviceLines {
    const std::int32_t* rows = nullptr;
    const std::int32_t* cols = nullptr;
};

/// May the sums of a fast algorithm be formed? Answered on the device, by every kernel that asks.
struct Guard {
    const GuardWords* words = nullptr;  // null: not asked, always run
    double limit_a = 0, limit_b = 0, limit_product = 0, limit_sums = 0, limit_result = 0, least_evenness = 0;
    bool run_when_safe = true;    // false: run only when not safe
    double smallest_product = 0;  // GuardLimits; 0: lines may be as small as they are, by residues
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
    /// Powers of two beside the matrices as they are read and as they are written; empty: none. They count if `scaled`
    /// is null or not zero on the device: inputs are multiplied by them, sums divided before old values are added.
    std::vector<DeviceLines> input_lines, output_lines;
    const unsigned int* scaled = nullptr;
    bool only_if_scaled = false;  // otherwise nothing would change
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

/// *max_bits = max(*max_bits, largest absolute value), as GuardWords keeps it; with the powers of two beside the matrix
/// where `scaled` is not null and not zero on the device.
DeviceStatus launch_scan(Scalar scalar, const DeviceMatrix& matrix, const DeviceLines& lines,
                         const unsigned int* scaled, unsigned long long* max_bits, StreamHandle stream);

/// The same for every row and column, without powers.
DeviceStatus launch_line_scan(Scalar scalar, const DeviceMatrix& matrix, const LineMaxima& lines, StreamHandle stream);

/// Looks how even A and B are, and what powers of two would make them so: those go to the four vectors, and to `words`
/// what is said of evenness, and whether the powers count.
struct EvennessLaunch {
    Scalar scalar = Scalar::f32;
    DeviceMatrix a, b;
    bool may_scale = false;
    int room = 0;                // for powers along k
    double wanted_evenness = 0;  // with powers; below it none count
    std::int32_t *a_rows = nullptr, *a_cols = nullptr, *b_rows = nullptr, *b_cols = nullptr;
    void* notes = nullptr;  // kEvennessBytes, zeros
    GuardWords* words = nullptr;
};
DeviceStatus launch_evenness(const EvennessLaunch& launch, StreamHandle stream);

/// Tells what became of a guarded product, once all is known: what fell back, what was uneven (below `even_enough`).
DeviceStatus launch_report(const Guard& guard, double even_enough, GuardReport* report, StreamHandle stream);

/// The four 8-bit limbs of every entry, signed digits so that  x = l0 + 2^8 l1 + 2^16 l2 + 2^24 l3  mod 2^32.
/// Row r of the source becomes row r of `limbs` (4 * padded bytes apart): limb 0 of all columns, then limb 1, ...
/// (`highest_first`: limb 3 first), each padded with zeros to `padded` columns.
DeviceStatus launch_split_limbs(const DeviceMatrix& source, bool highest_first, std::int64_t padded, signed char* limbs,
                                StreamHandle stream);

}  // namespace heptad::cuda
