// What one instruction set offers: a table of inner loops on plain pointers. The tables are filled in by
// microkernel_<set>.cpp, each compiled for its set; everything above them is compiled for the baseline processor.
//
// To keep code for a newer processor out of functions that the linker might share, those files use nothing but these
// headers, and put all they define into unnamed namespaces.
#pragma once

#include <cstdint>

namespace heptad::cpu {

/// The least magnitude of a block's numbers that are not zero, and the largest, as patterns of bits, which are ordered
/// as the numbers are. For tiles that cannot take all numbers.
struct Magnitudes {
    std::uint32_t least = UINT32_MAX, largest = 0;
};

/// A tile of C is `tile_rows` x `tile_cols`. A packed panel of A holds tile_rows rows: for p = 0..k-1 the tile_rows
/// entries of column p side by side; a panel of B likewise holds tile_cols columns. Unused rows and columns are zero.
/// Another packing is a kernel's own affair, as long as a panel takes `packed_bytes` for each of its elements.
template <class T>
struct GemmKernels {
    int tile_rows = 0, tile_cols = 0;
    // Cache blocks: a block of A (block_rows x block_depth) stays in L2, panels of B (block_depth x tile_cols) in L1.
    std::int64_t block_rows = 0, block_depth = 0, block_cols = 0;
    std::int64_t panels_in_l1 = 1;
    // Packing fills the depth up with zeros to a multiple of this, and so does the k of `tile`; divides block_depth.
    std::int64_t depth_unit = 1;
    int packed_bytes = sizeof(T);
    // Products of less depth than this are left to another kernel, and so are numbers that the tile does not take.
    std::int64_t least_depth = 0;
    const GemmKernels* fallback = nullptr;
    bool (*takes)(const Magnitudes& a, const Magnitudes& b) = nullptr;
    // As those of Bf16Kernels.
    void (*begin)() = nullptr;
    void (*end)() = nullptr;

    /// c = alpha * (a panel * b panel) + beta * c, for a full tile with unit column stride. beta == 0: c is not read.
    void (*tile)(std::int64_t k, const T* a, const T* b, T alpha, T beta, T* c, std::int64_t c_row_stride);
    /// Packs `width` rows (or columns) of depth k: element (i, p) is source[i * stride + p * depth_stride]. Tells what
    /// `takes` asks for.
    using Pack = Magnitudes (*)(std::int64_t width, std::int64_t k, const T* source, std::int64_t stride,
                                std::int64_t depth_stride, T* packed);
    Pack pack_a = nullptr, pack_b = nullptr;
    /// c = alpha * a * b + beta * c without packing. b and c have unit column stride; n >= vector_elements.
    void (*small)(std::int64_t m, std::int64_t k, std::int64_t n, T alpha, const T* a, std::int64_t a_row_stride,
                  std::int64_t a_col_stride, const T* b, std::int64_t b_row_stride, T beta, T* c,
                  std::int64_t c_row_stride);
    int vector_elements = 0;
    std::int64_t small_side = 0;  // the largest size in any dimension that `small` is faster for
};

/// Products of bf16 by instructions that multiply pairs of them and add up in f32, but read and give zero for what is
/// below 2^-126. So there are two tiles. They add in the same order, and give the same bits where no intermediate
/// result is that small.
///
/// Depth goes in chunks of 32, filled up with zeros. A panel of A holds, chunk by chunk, the 32 entries of each of its
/// rows side by side; a panel of B, pair by pair of depths, the pair of each of its columns.
struct Bf16Kernels {
    static constexpr std::int64_t chunk = 32;

    int tile_rows = 0, tile_cols = 0;
    std::int64_t block_rows = 0, block_depth = 0, block_cols = 0;  // multiples of the tile and the chunk

    /// False: the system does not let this process use the instructions. nullptr: there is nothing to ask.
    bool (*may_use)() = nullptr;
    /// Around the tiles of a thread; nullptr: nothing to do.
    void (*begin)() = nullptr;
    void (*end)() = nullptr;

    /// As those of GemmKernels.
    using Pack = void (*)(std::int64_t width, std::int64_t k, const std::uint16_t* source, std::int64_t stride,
                          std::int64_t depth_stride, std::uint16_t* packed);
    Pack pack_a = nullptr, pack_b = nullptr;
    /// The exponent bits of the least number that is not zero: 0 if that is subnormal, 255 if all are zero.
    int (*least_exponent)(const std::uint16_t* packed, std::int64_t count) = nullptr;

    /// sums = a panel * b panel, or (`add`) sums + that, for a whole tile.
    using Tile = void (*)(std::int64_t chunks, const std::uint16_t* a, const std::uint16_t* b, bool add, float* sums,
                          std::int64_t row_stride);
    Tile tile = nullptr, tile_of_any_numbers = nullptr;
};

/// What residues are made with: the moduli (base/moduli.hpp), and what powers of 2^27 are modulo each, around zero.
struct ResidueConstants {
    static constexpr int most_moduli = 24, most_pieces = 7, piece_bits = 27;
    int moduli = 0;
    double modulus[most_moduli] = {}, reciprocal[most_moduli] = {};
    double power[most_pieces][most_moduli] = {};
};

/// What puts residues together by the Chinese remainder theorem: integer = sum of residue * weight - quotient *
/// product, where quotient is the sum of residue * part, rounded. Weights and product are cut in pieces of 40 bits:
/// sums over 24 residues of 8 bits are exact in doubles.
struct RemainderConstants {
    static constexpr int most_pieces = 5, piece_bits = 40;
    int moduli = 0, pieces = 0;
    double weight[most_pieces][ResidueConstants::most_moduli] = {}, product[most_pieces] = {};
    double part[ResidueConstants::most_moduli] = {};
};

/// Lines of floats that become integers: element (i, p) times powers of two, rounded to nearest even, where it is
/// finite, otherwise zero.
template <class T>
struct ScaledBlock {
    const T* data = nullptr;
    std::int64_t line_stride = 0, depth_stride = 0;
    int lines = 0, depths = 0;                              // at most a panel and a chunk
    const double *first_power = nullptr, *power = nullptr;  // of each line, both multiplied
};

/// Products of matrices of residues, a byte to each: those of A lie between -128 and 127, those of B between 0 and 255.
///
/// Lines (rows of A, columns of B) go in panels of 32, their depth in chunks of 64, both filled up with zeros. A panel
/// of A holds, chunk by chunk, the 64 bytes of each of its rows; one of B, four depths by four depths, the four bytes
/// of each of its columns.
struct ByteKernels {
    static constexpr int panel = 32, tile_size = panel * panel;
    static constexpr std::int64_t chunk = 64, chunk_bytes = panel * chunk;

    const char* name = "";
    /// As those of Bf16Kernels.
    bool (*may_use)() = nullptr;
    void (*begin)() = nullptr;
    void (*end)() = nullptr;

    /// sums (32 x 32, row by row) = a panel * b panel, or (`add`) sums + that; sums wrap around.
    void (*tile)(std::int64_t chunks, const std::int8_t* a, const std::uint8_t* b, bool add,
                 std::int32_t* sums) = nullptr;
    /// to = sums modulo a number, from 0 on; 64 or a multiple of them.
    void (*remainders)(const std::int32_t* sums, std::int64_t count, int modulus, std::uint8_t* to) = nullptr;

    /// A chunk of a panel as integers, line by line or (`across`) depth by depth.
    void (*integers_f32)(const ScaledBlock<float>& from, bool across, double* to) = nullptr;
    void (*integers_f64)(const ScaledBlock<double>& from, bool across, double* to) = nullptr;
    /// Bytes of a chunk of A (line by line) and of B (depth by depth) modulo each modulus, `plane_bytes` apart.
    /// Integers are below 2^46 (one piece), or 27 bits more than 2^39 for each further one.
    using Residues = void (*)(const double* integers, int pieces, const ResidueConstants& constants, std::uint8_t* to,
                              std::int64_t plane_bytes);
    Residues residues_of_a = nullptr, residues_of_b = nullptr;

    /// The integers of a tile whose residues lie `plane_bytes` apart, in pieces of 40 bits with signs, each of a tile.
    void (*entries)(const std::uint8_t* residues, std::int64_t plane_bytes, const RemainderConstants& constants,
                    double* pieces) = nullptr;
};

/// One term of a sum of blocks: rows of `data` lie row_stride elements apart, elements of a row side by side.
template <class T>
struct SumTerm {
    const T* data = nullptr;
    std::int64_t row_stride = 0;
    T coefficient{};
};
/// target = sum over t < count of terms[t].coefficient * terms[t].data, added up from the left, on rows x cols
/// elements. A term may be the target itself. No terms: zero.
template <class T>
using SumKernel = void (*)(int count, const SumTerm<T>* terms, T* target, std::int64_t target_stride, std::int64_t rows,
                           std::int64_t cols);

/// How a sum is stored: as usual, or past the caches where the instruction set can and the target's rows begin on
/// vector boundaries (then finish_streams() before another thread reads it).
enum class SumStore : std::uint8_t { cached, streamed };

/// The kernel for terms with these coefficients; fewer than five terms with coefficients 1 and -1 have their own.
template <class T>
using SumKernelChoice = SumKernel<T> (*)(int count, const SumTerm<T>* terms, SumStore store);

template <class T, class Bits>
using ScanKernel = void (*)(const T* from, std::int64_t row_stride, std::int64_t rows, std::int64_t cols, Bits* row_max,
                            Bits* col_max, T* row_sum, T* col_sum);

struct KernelTable {
    GemmKernels<float> gemm_f32;
    GemmKernels<double> gemm_f64;
    GemmKernels<std::uint32_t> gemm_i32;
    GemmKernels<std::uint64_t> gemm_i64;

    SumKernelChoice<float> sum_f32;
    SumKernelChoice<double> sum_f64;
    SumKernelChoice<std::uint32_t> sum_i32;
    SumKernelChoice<std::uint64_t> sum_i64;
    /// Bytes; coefficients are not looked at.
    SumKernelChoice<std::uint8_t> sum_xor;
    SumKernelChoice<std::uint8_t> sum_or;
    void (*finish_streams)();

    void (*widen_bf16)(const std::uint16_t* from, float* to, std::int64_t count);
    void (*narrow_bf16)(const float* from, std::uint16_t* to, std::int64_t count);
    void (*widen_f16)(const std::uint16_t* from, float* to, std::int64_t count);
    void (*narrow_f16)(const float* from, std::uint16_t* to, std::int64_t count);
    void (*round_tf32)(const float* from, float* to, std::int64_t count);  // may be the same

    /// values[j] *= 2^(sign * (row + cols[j])), rounded once; cols may be null. Far beyond the range: 0 or infinity.
    void (*times_powers_f32)(float* values, std::int64_t count, std::int32_t row, const std::int32_t* cols, int sign);
    void (*times_powers_f64)(double* values, std::int64_t count, std::int32_t row, const std::int32_t* cols, int sign);

    /// Largest bit patterns with the sign bit cleared, of rows and columns, where they are larger than what is there.
    /// For IEEE formats patterns are ordered as magnitudes, with infinity above all numbers and NaN above infinity.
    /// Elements of a row lie side by side. Sums are of absolute values, added to what is there.
    ScanKernel<double, std::int64_t> scan_f64;
    ScanKernel<float, std::int32_t> scan_f32;

    ByteKernels bytes;
};

const KernelTable& kernels_scalar();
#if defined(__aarch64__)
const KernelTable& kernels_neon();
const KernelTable& kernels_i8mm();
#endif
#if defined(__x86_64__)
const KernelTable& kernels_avx2();
const KernelTable& kernels_avx512();
const Bf16Kernels& kernels_avx512bf16();
const Bf16Kernels& kernels_amx();
/// Where products are not deep enough for tiles, or numbers too small or large, those of vectors stand in.
GemmKernels<float> kernels_amx_f32(const GemmKernels<float>& of_vectors);
const ByteKernels& kernels_avx512vnni();
const ByteKernels& kernels_amx_int8();
#endif

}  // namespace heptad::cpu
