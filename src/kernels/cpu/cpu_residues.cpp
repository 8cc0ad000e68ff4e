#include "kernels/cpu/cpu_residues.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/stored_type.hpp"
#include "base/wide_integer.hpp"
#include "kernels/cpu/thread_scratch.hpp"

namespace heptad::cpu {
namespace {

constexpr std::int64_t panel = ByteKernels::panel, chunk = ByteKernels::chunk, chunk_bytes = ByteKernels::chunk_bytes;
static_assert(panel == kResidueTile && chunk == kResidueDepths && RemainderConstants::piece_bits == kEntryPieceBits &&
              RemainderConstants::most_pieces == kMostEntryPieces && ResidueConstants::most_moduli == kMostModuli);

// Bytes of A are at most 128 in size and those of B at most 255.
constexpr std::int64_t longest_sum = 65536;
static_assert(longest_sum * 255 * 128 + 255 < std::int64_t{1} << 31);

ResidueConstants residue_constants(int moduli) {
    ResidueConstants constants;
    constants.moduli = moduli;
    for (std::size_t t = 0; t < static_cast<std::size_t>(moduli); ++t) {
        const int p = kModuli[t];
        constants.modulus[t] = p;
        constants.reciprocal[t] = 1.0 / p;
        std::int64_t power = 1;
        for (auto& of_piece : constants.power) {
            of_piece[t] = static_cast<double>(2 * power > p ? power - p : power);
            power = (power << ResidueConstants::piece_bits) % p;
        }
    }
    return constants;
}

/// Pieces of integers that are so large.
int pieces_for(double bits) {
    constexpr double alone = 46, of_the_last = 39;
    return bits <= alone ? 1 : 1 + static_cast<int>(std::ceil((bits - of_the_last) / ResidueConstants::piece_bits));
}

using Wide = WideInteger<4>;

RemainderConstants remainder_constants(int moduli) {
    RemainderConstants constants;
    constants.moduli = moduli;
    const auto times = [](const Wide& x, std::uint64_t factor) {
        Wide result;
        result.add_multiple(x, factor);
        return result;
    };
    const auto put = [&](Wide x, auto&& piece) {
        for (int q = 0; q < RemainderConstants::most_pieces; ++q) {
            piece(q) = static_cast<double>(x.words[0] & ((std::uint64_t{1} << RemainderConstants::piece_bits) - 1));
            x = x.shifted(-RemainderConstants::piece_bits);
        }
    };
    Wide product;
    product.words[0] = 1;
    for (int t = 0; t < moduli; ++t) {
        product = times(product, static_cast<std::uint64_t>(kModuli[static_cast<std::size_t>(t)]));
    }
    constants.pieces = (product.bit_length() + RemainderConstants::piece_bits - 1) / RemainderConstants::piece_bits;
    put(product, [&](int q) -> double& { return constants.product[q]; });
    for (int t = 0; t < moduli; ++t) {
        const int p = kModuli[static_cast<std::size_t>(t)];
        Wide others;
        others.words[0] = 1;
        int rest = 1;  // of others modulo p
        for (int s = 0; s < moduli; ++s) {
            if (s != t) {
                const int factor = kModuli[static_cast<std::size_t>(s)];
                others = times(others, static_cast<std::uint64_t>(factor));
                rest = rest * (factor % p) % p;
            }
        }
        int inverse = 1;
        while (rest * inverse % p != 1) {
            ++inverse;
        }
        put(times(others, static_cast<std::uint64_t>(inverse)),
            [&](int q) -> double& { return constants.weight[q][t]; });
        constants.part[t] = static_cast<double>(inverse) / p;
    }
    return constants;
}

/// 2^exponent as a product of two numbers that a double has.
struct Powers {
    std::array<double, panel> first, second;
    Powers(const std::int32_t* exponents, std::int64_t count) {
        for (std::int64_t i = 0; i < panel; ++i) {
            constexpr std::int32_t most = 2040;
            const std::int32_t exponent = i < count ? std::clamp(exponents[i], -most, most) : 0;
            first[static_cast<std::size_t>(i)] = std::ldexp(1.0, exponent / 2);
            second[static_cast<std::size_t>(i)] = std::ldexp(1.0, exponent - exponent / 2);
        }
    }
};

/// Lines of one panel as integers, chunk by chunk.
class PanelLines {
public:
    PanelLines(const ByteKernels& kernels, const ScaledLines& from, std::int64_t first_line)
        : kernels_(kernels),
          from_(from),
          first_(first_line),
          count_(std::min(panel, from.lines.rows - first_line)),
          powers_(from.exponents + first_line, count_) {}

    void chunk_integers(std::int64_t depth, bool across, double* to) const {
        const ConstView& lines = from_.lines;
        const std::int64_t depths = std::min(chunk, lines.cols - depth);
        const auto integers = [&](auto* data, std::int64_t line_stride, std::int64_t depth_stride) {
            using T = std::remove_cvref_t<decltype(*data)>;
            const ScaledBlock<T> block{data,
                                       line_stride,
                                       depth_stride,
                                       static_cast<int>(count_),
                                       static_cast<int>(depths),
                                       powers_.first.data(),
                                       powers_.second.data()};
            if constexpr (std::is_same_v<T, double>) {
                kernels_.integers_f64(block, across, to);
            } else {
                kernels_.integers_f32(block, across, to);
            }
        };
        const auto* const at = element_pointer(lines, first_, depth);
        if (lines.type == Type::f64) {
            return integers(reinterpret_cast<const double*>(at), lines.row_stride, lines.col_stride);
        }
        if (lines.type == Type::f32) {
            return integers(reinterpret_cast<const float*>(at), lines.row_stride, lines.col_stride);
        }
        std::array<float, panel * chunk> widened;
        with_stored_type(lines.type, [&]<class T>() {
            const auto* const data = reinterpret_cast<const T*>(at);
            for (std::int64_t i = 0; i < count_; ++i) {
                for (std::int64_t p = 0; p < depths; ++p) {
                    auto x = static_cast<float>(to_double(data[i * lines.row_stride + p * lines.col_stride]));
                    widened[static_cast<std::size_t>(i * chunk + p)] = lines.type == Type::tf32 ? round_to_tf32(x) : x;
                }
            }
        });
        integers(static_cast<const float*>(widened.data()), chunk, 1);
    }

private:
    const ByteKernels& kernels_;
    const ScaledLines& from_;
    std::int64_t first_, count_;
    Powers powers_;
};

/// Sides of the blocks of C that tasks make: as large as the second-level cache likes them, and enough for all threads.
std::int64_t block_side(std::int64_t m, std::int64_t n, int threads) {
    constexpr std::int64_t largest = 512, least = 128, tasks_of_thread = 6;
    std::int64_t side = largest;
    while (side > least && threads > 1 && ceil_div(m, side) * ceil_div(n, side) < tasks_of_thread * threads) {
        side /= 2;
    }
    return side;
}

/// One block of C: modulo one number after another, then put together.
class ResidueBlock {
public:
    ResidueBlock(const ByteKernels& kernels, std::int64_t depth, int moduli, std::int64_t rows, std::int64_t cols)
        : kernels_(kernels), chunks_(ceil_div(depth, chunk)), rows_(rows), cols_(cols) {
        struct SumsAndResidues;
        constexpr std::int64_t pieces = std::int64_t{RemainderConstants::most_pieces} * ByteKernels::tile_size;
        const std::int64_t entries = rows * cols * ByteKernels::tile_size;
        auto* const memory = thread_scratch<SumsAndResidues>(entries * (std::int64_t{sizeof(std::int32_t)} + moduli) +
                                                             pieces * std::int64_t{sizeof(double)});
        pieces_ = reinterpret_cast<double*>(memory);
        sums_ = reinterpret_cast<std::int32_t*>(pieces_ + pieces);
        residues_ = reinterpret_cast<std::uint8_t*>(sums_ + entries);
        plane_bytes_ = entries;
    }

    /// `a` and `b` are the first panels of the block modulo this number.
    void multiply(const std::int8_t* a, const std::uint8_t* b, int t) const {
        // A panel of B of this depth stays in the first-level cache, the block of A in the second.
        constexpr std::int64_t together = 512 / chunk, between_remainders = longest_sum / chunk;
        static_assert(between_remainders % together == 0);
        const int modulus = kModuli[static_cast<std::size_t>(t)];
        const std::int64_t panel_bytes = chunks_ * chunk_bytes;
        for (std::int64_t first = 0; first < chunks_; first += together) {
            const std::int64_t count = std::min(together, chunks_ - first);
            const bool last = first + count == chunks_;
            const bool must_reduce = !last && (first + count) % between_remainders == 0;
            for (std::int64_t j = 0; j < cols_; ++j) {
                for (std::int64_t i = 0; i < rows_; ++i) {
                    const std::int64_t tile = (i * cols_ + j) * ByteKernels::tile_size;
                    std::int32_t* const sums = sums_ + tile;
                    std::uint8_t* const residues = residues_ + t * plane_bytes_ + tile;
                    kernels_.tile(count, a + i * panel_bytes + first * chunk_bytes,
                                  b + j * panel_bytes + first * chunk_bytes, first > 0, sums);
                    if (last || must_reduce) {
                        kernels_.remainders(sums, ByteKernels::tile_size, modulus, residues);
                    }
                    if (must_reduce) {
                        std::copy(residues, residues + ByteKernels::tile_size, sums);
                    }
                }
            }
        }
    }

    template <class Take>
    void put_together(const RemainderConstants& constants, std::int64_t row, std::int64_t col, std::int64_t rows,
                      std::int64_t cols, Take&& take) const {
        for (std::int64_t i = 0; i < rows_; ++i) {
            for (std::int64_t j = 0; j < cols_; ++j) {
                kernels_.entries(residues_ + (i * cols_ + j) * ByteKernels::tile_size, plane_bytes_, constants,
                                 pieces_);
                take(IntegerTile{row + i * panel, col + j * panel, std::min(panel, rows - i * panel),
                                 std::min(panel, cols - j * panel), pieces_, constants.pieces});
            }
        }
    }

private:
    const ByteKernels& kernels_;
    std::int64_t chunks_;
    std::int64_t rows_, cols_;  // of tiles
    double* pieces_ = nullptr;
    std::int32_t* sums_ = nullptr;
    std::uint8_t* residues_ = nullptr;
    std::int64_t plane_bytes_ = 0;
};

}  // namespace

void CpuResidues::pack(int operand, const ScaledLines& from, int moduli, void* planes) {
    const ByteKernels& with = kernels();
    const ResidueConstants constants = residue_constants(moduli);
    const std::int64_t panels = ceil_div(from.lines.rows, panel), chunks = ceil_div(from.lines.cols, chunk);
    const std::int64_t plane_bytes = packed_residue_bytes(from.lines.rows, from.lines.cols);
    const int pieces = pieces_for(from.log2_largest);
    const ByteKernels::Residues residues = operand == 1 ? with.residues_of_b : with.residues_of_a;
    constexpr std::int64_t together = 16;
    const std::int64_t parts = ceil_div(chunks, together);
    pool_.run(panels * parts, [&](std::int64_t task) {
        const std::int64_t first = task % parts * together;
        const PanelLines lines(with, from, task / parts * panel);
        alignas(64) std::array<double, panel * chunk> integers;
        for (std::int64_t g = first; g < std::min(chunks, first + together); ++g) {
            lines.chunk_integers(g * chunk, operand == 1, integers.data());
            residues(integers.data(), pieces, constants,
                     static_cast<std::uint8_t*>(planes) + (task / parts * chunks + g) * chunk_bytes, plane_bytes);
        }
    });
}

void CpuResidues::multiply(const PlaneProduct& product, const std::function<void(const IntegerTile&)>& take) {
    const ByteKernels& with = kernels();
    const std::int64_t m = product.m, depth = product.depth, n = product.n, all_rows = product.rows;
    const int moduli = product.moduli;
    const RemainderConstants constants = remainder_constants(moduli);
    const std::int64_t side = block_side(all_rows, n, pool_.threads());
    const std::int64_t across = ceil_div(n, side), blocks = ceil_div(all_rows, side) * across;
    const std::int64_t a_plane = packed_residue_bytes(m, depth), b_plane = packed_residue_bytes(n, depth);
    const std::int64_t panel_bytes = ceil_div(depth, chunk) * chunk_bytes;
    pool_.run(blocks, [&](std::int64_t task) {
        const std::int64_t below = task / across * side, row = product.first_row + below, col = task % across * side;
        const std::int64_t rows = std::min(side, all_rows - below), cols = std::min(side, n - col);
        const ResidueBlock block(with, depth, moduli, ceil_div(rows, panel), ceil_div(cols, panel));
        {
            const TileUse use(with);
            for (int t = 0; t < moduli; ++t) {
                block.multiply(static_cast<const std::int8_t*>(product.a) + t * a_plane + row / panel * panel_bytes,
                               static_cast<const std::uint8_t*>(product.b) + t * b_plane + col / panel * panel_bytes,
                               t);
            }
        }
        block.put_together(constants, row, col, rows, cols, take);
    });
}

}  // namespace heptad::cpu
