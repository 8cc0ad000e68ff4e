// Packed bit matrices: products over GF(2) (XOR, AND) and over the Boolean semiring (OR, AND).
//
//   heptad::BitMatrix a = heptad::BitMatrix::random(4096, 4096, 1), b = heptad::BitMatrix::random(4096, 4096, 2);
//   heptad::BitMatrix c = heptad::bits::product(heptad::Type::gf2, a, b);
//
// A row is a run of 64-bit words; column j is bit j % 64 of word j / 64 (the lowest bit first). Bits of the last word
// beyond the last column are unused: a BitMatrix keeps them zero, and views neither read nor write them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

namespace heptad {

/// A window on rows of words that belong to someone else. It may start at any column: `offset` is the bit of words[0]
/// that holds column 0, from 0 to 63.
struct ConstBitView {
    const std::uint64_t* words = nullptr;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t stride = 0;  ///< words from one row to the next
    int offset = 0;

    bool operator()(std::int64_t i, std::int64_t j) const {
        const std::int64_t bit = offset + j;
        return ((words[i * stride + bit / 64] >> (bit % 64)) & 1) != 0;
    }
    ConstBitView block(std::int64_t row, std::int64_t col, std::int64_t row_count, std::int64_t col_count) const {
        const std::int64_t bit = offset + col;
        return {words + row * stride + bit / 64, row_count, col_count, stride, static_cast<int>(bit % 64)};
    }
};
struct BitView {
    std::uint64_t* words = nullptr;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t stride = 0;
    int offset = 0;

    bool operator()(std::int64_t i, std::int64_t j) const { return ConstBitView(*this)(i, j); }
    void set(std::int64_t i, std::int64_t j, bool value) const {
        const std::int64_t bit = offset + j;
        std::uint64_t& word = words[i * stride + bit / 64];
        const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
        word = value ? word | mask : word & ~mask;
    }
    BitView block(std::int64_t row, std::int64_t col, std::int64_t row_count, std::int64_t col_count) const {
        const std::int64_t bit = offset + col;
        return {words + row * stride + bit / 64, row_count, col_count, stride, static_cast<int>(bit % 64)};
    }
    operator ConstBitView() const { return {words, rows, cols, stride, offset}; }
};

/// Owns its words. Rows start at multiples of 64 bytes.
class HEPTAD_API BitMatrix {
public:
    BitMatrix() = default;
    /// All zero. Throws Error(input) for a negative or overflowing size and Error(resource) without memory.
    BitMatrix(std::int64_t rows, std::int64_t cols);
    ~BitMatrix();
    BitMatrix(const BitMatrix& other);
    BitMatrix& operator=(const BitMatrix& other);
    BitMatrix(BitMatrix&& other) noexcept;
    BitMatrix& operator=(BitMatrix&& other) noexcept;

    static BitMatrix identity(std::int64_t size);
    /// Every bit is 1 with probability `density`; the same seed gives the same matrix on every machine.
    static BitMatrix random(std::int64_t rows, std::int64_t cols, std::uint64_t seed, double density = 0.5);
    static BitMatrix copy_of(const ConstBitView& view);

    std::int64_t rows() const noexcept { return view_.rows; }
    std::int64_t cols() const noexcept { return view_.cols; }
    std::int64_t stride() const noexcept { return view_.stride; }
    bool operator()(std::int64_t i, std::int64_t j) const { return view_(i, j); }
    void set(std::int64_t i, std::int64_t j, bool value) { view_.set(i, j, value); }
    BitView view() noexcept { return view_; }
    ConstBitView view() const noexcept { return view_; }
    operator ConstBitView() const noexcept { return view_; }

    BitMatrix transposed() const;

private:
    BitView view_;
};

/// Same shape, same bits.
HEPTAD_API bool operator==(const ConstBitView& x, const ConstBitView& y);
inline bool operator==(const BitMatrix& x, const BitMatrix& y) {
    return x.view() == y.view();
}

namespace bits {

struct BitOptions {
    std::string algorithm = "auto";  ///< over GF(2): "classical", "winograd", "self-inverse" or "chaining"
    int levels = -1;                 ///< -1: automatic; 0 and up: exactly this many
    std::string leaf = "auto";       ///< a name from leaf_names(), or "auto": the fastest here
    std::string device = "auto";     ///< "auto", "cpu", "cuda", "cuda:1", or several devices, such as "cpu:4"
    HostOptions host = {};           ///< for several devices, or matrices that do not fit on one
};

/// How many bits of a matrix are 1.
HEPTAD_API std::int64_t count_ones(const ConstBitView& a);
/// t = transpose of a. They must not overlap.
HEPTAD_API void transpose(const ConstBitView& a, const BitView& t);
/// to = from; same shape.
HEPTAD_API void copy(const ConstBitView& from, const BitView& to);

/// The leaves that this processor can run, the preferred one first.
HEPTAD_API std::vector<std::string> leaf_names(Type algebra);

/// C = A * B. `algebra` is Type::gf2 or Type::boolean. C must not overlap A or B; nothing outside its window is
/// written, but the word that holds its last columns is read and written as a whole: no one else may write to that word
/// meanwhile. The three may be on an NVIDIA device, beginning at bit 0 of a word: then they are multiplied in the order
/// of the context's stream. Throws Error(input) for shapes that do not match, Error(usage) for invalid
/// options.
HEPTAD_API void multiply(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitView& c,
                         const BitOptions& options = {}, const Context& context = {});
/// C ^= A * B over GF(2), C |= A * B for booleans.
HEPTAD_API void multiply_add(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitView& c,
                             const BitOptions& options = {}, const Context& context = {});
HEPTAD_API BitMatrix product(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitOptions& options = {},
                             const Context& context = {});

/// first * second * ... over GF(2) or for booleans, from the left. Between two products the matrices stay in the packed
/// layout where that is predicted to be faster, and in their basis if it chains ("chaining", "winograd", "classical";
/// "auto" takes what is predicted to be the fastest). Options as for multiply().
HEPTAD_API BitMatrix chain_product(Type algebra, const std::vector<ConstBitView>& factors,
                                   const BitOptions& options = {}, const Context& context = {});
/// a^exponent of a square matrix, by squaring; a^0 is the identity.
HEPTAD_API BitMatrix power(Type algebra, const ConstBitView& a, std::int64_t exponent, const BitOptions& options = {},
                           const Context& context = {});

/// Bit (i, j) of the result: is there a path of one or more edges from i to j? An edge is a one of the square matrix.
HEPTAD_API BitMatrix transitive_closure(const ConstBitView& graph, const Context& context = {});
/// The same on the device of the options ("cuda": the graph stays there until it is closed). Of the other options only
/// the leaf is used.
HEPTAD_API BitMatrix transitive_closure(const ConstBitView& graph, const BitOptions& options,
                                        const Context& context = {});

/// What multiply() would do, and the bytes of its workspace. A workspace of the context (set_workspace) is
/// used by multiply(), multiply_add() and product(): levels that do not fit are left out, and if nothing fits,
/// Error(resource) names the bytes. Chains, powers and closures keep whole matrices between their products, in memory
/// of their own.
HEPTAD_API Plan plan(Type algebra, ProblemSize size, const BitOptions& options = {}, const Context& context = {});

}  // namespace bits

/// How many triangles an undirected graph has; only edges (i, j) with i < j of its square matrix are read.
HEPTAD_API std::int64_t count_triangles(const ConstBitView& graph, const Context& context = {});

}  // namespace heptad
