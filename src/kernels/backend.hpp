// The verbs every machine must know. A backend executes; it decides nothing about algorithms.
// All views of one call have the same element type. Preconditions are stated here and not checked again inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/device_layout.hpp"
#include "base/error.hpp"
#include "base/fused.hpp"
#include "base/moduli.hpp"
#include "base/view.hpp"
#include "kernels/byte_plane_sums.hpp"

namespace heptad {

/// One pass over blocks of equal shape: for every position, the statements run in order on that position's values.
/// Reads each used slot once from memory and writes each written slot once, however many statements there are.
///   slots[target] = sum of coefficient * slots[source]
/// A slot whose data is null is scratch that lives only inside the pass. Slots may alias only if they are equal views.
/// Coefficients: floats are rounded to the arithmetic type; i32 and i64 need integers and wrap; gf2 takes them mod 2.
struct CombineTerm {
    int source = 0;
    double coefficient = 1;
};
struct CombineStatement {
    int target = 0;
    std::vector<CombineTerm> terms;  // empty: zero
};
/// Between A, B and C and sums kept in f16: powers of two are taken out of A and B, by what the guard of the product
/// noted as their largest values, and put back into C. Inputs and outputs of such a pass may have different types.
enum class SumScaling : std::uint8_t { none, a_to_sums, b_to_sums, sums_to_c };

/// Powers of two that stand beside a matrix: element (i, j) counts as itself times 2^(rows[i] + cols[j]). Null: zeros.
/// They may be beyond the range of the type; what is stored under a very large one comes out as zero.
struct LineExponents {
    const std::int32_t* rows = nullptr;
    const std::int32_t* cols = nullptr;
    LineExponents of_block(std::int64_t row, std::int64_t col) const {
        return {rows == nullptr ? nullptr : rows + row, cols == nullptr ? nullptr : cols + col};
    }
    bool operator==(const LineExponents&) const = default;
};

struct CombinePass {
    std::vector<View> slots;  // same type, rows and cols; scratch slots have data == nullptr
    std::vector<CombineStatement> statements;
    /// Of the slots, as they are read from memory and as they are written to it; empty: none have any. A slot that is
    /// written with exponents, once, may be a term of its own sum: that term is added as it lies in memory.
    std::vector<LineExponents> exponents = {}, written_exponents = {};
    /// 0 or 1: the first `watched_slots` slots are all blocks of A or of B; a backend with a guard notes their largest
    /// value.
    int watch = -1;
    int watched_slots = 0;
    bool only_if_safe = false;              // with a guard: nothing is written if the sums cannot be trusted
    SumScaling scaling = SumScaling::none;  // needs a guard that has watched A and B
    double factor = 1;                      // of all sums, where they are scaled
    bool only_multiplied = false;  // nobody but products reads the outputs: those of tf32 may be rounded to its bits
};

/// c = alpha * a * b + beta * c. beta == 0: c is not read. c overlaps neither a nor b. Of complex numbers the factors
/// may be complex, too.
struct Product {
    double alpha = 1;
    ConstView a, b;
    double beta = 0;
    View c;
    struct Imaginary {
        double alpha = 0, beta = 0;
    } imaginary = {};

    bool reads_operands() const { return (alpha != 0 || imaginary.alpha != 0) && a.cols > 0; }
    bool reads_result() const { return beta != 0 || imaginary.beta != 0; }
};

/// One product of a fast algorithm with its sums on both sides, without memory for them:
///   M = (sum of left)(sum of right), m x n;  then for each target, one after another:
///   block = beta * block + addend_coefficient * addend + coefficient * M.
/// Left blocks are m x k, right ones k x n, targets m x n, or smaller: what is missing of a left or right block counts
/// as zero, what is missing of a target is not written. There is at least one term on each side, all their coefficients
/// are nonzero, and the targets of one product are distinct and overlap no term of the call. An addend is at least as
/// large as its target, and may be another target of the same product: then it counts with what it is at that time.
/// P0's kernels are such products: mulAdd is a target with an addend, mulIncIncInc three targets.
struct FusedTerm {
    ConstView block;
    double coefficient = 1;
};
struct FusedTarget {
    View block;
    double coefficient = 1;  // 0: M is not used
    double beta = 1;         // 0: block is not read
    ConstView addend = {};   // used only where its coefficient is not 0
    double addend_coefficient = 0;
};
struct FusedProduct {
    std::int64_t m = 0, k = 0, n = 0;
    std::vector<FusedTerm> left, right;
    std::vector<FusedTarget> targets;
};

/// A block shape of the kernels behind multiply_fused, for those who predict their times.
struct FusedTileShape {
    FusedTile tile = FusedTile::huge;
    int rows = 0, cols = 0;            // of M, by one thread block
    int blocks_of_multiprocessor = 1;  // that run at a time
    /// Likewise of a faster kernel for regular products: up to two terms on a side, k a multiple of 8, n of 4. 0: none.
    int regular_blocks_of_multiprocessor = 0;
};

/// Largest absolute value of a view, and of each of its rows and columns; NaN if an entry there is NaN, infinity if one
/// is infinite and none NaN. Integer and bit types: 0, and no rows and columns.
inline constexpr double kSumSlack = 1.0 / 64;
struct ScanResult {
    double max_abs = 0;
    std::vector<double> rows, cols;
    /// Sums of the absolute values of rows and columns, off by no more than kSumSlack of them, where the backend makes
    /// them: on processors. Empty elsewhere.
    std::vector<double> row_sums = {}, col_sums = {};
};

/// Bounds on max|A|, max|B| and their product within which no sum or product of a plan can overflow; where that is only
/// seen afterwards, on the sums of products kept in f16 and on the result made from them; and on how even A and B must
/// be (run/dense/evenness.hpp), below which sums would lose digits.
struct GuardLimits {
    double a = 0, b = 0, product = 0;
    double sums = std::numeric_limits<double>::infinity(), result = std::numeric_limits<double>::infinity();
    double least_evenness = 0;
    double even_enough = 0;  // below it they are reported
    /// What the product of the smallest row of A and column of B must reach where powers of two are taken out of them.
    double smallest_product = 0;
    bool may_scale = false;  // powers of two may be taken out of A and B; otherwise they are judged as they are
};

/// Of the operands of a product; those of C are the ones of the rows of A and the columns of B.
struct ProductExponents {
    LineExponents a, b;
    LineExponents c() const { return {a.rows, b.cols}; }
};

inline constexpr int kWatchedC = 3;

/// For backends that run behind the caller: A and B are judged there, while the product runs, and nobody waits for the
/// answer. Non-finite or too large entries make the fast result worthless; then the classical product takes its place.
class DeferredGuard {
public:
    virtual ~DeferredGuard() = default;
    /// For a product of m x k by k x n.
    virtual void start(const GuardLimits& limits, std::int64_t m, std::int64_t k, std::int64_t n) = 0;
    /// Looks how even A and B are. What it returns lies on the device and counts in passes only if A and B turned out
    /// to need it; nulls where limits.may_scale is not set.
    virtual ProductExponents judge_evenness(const ConstView& a, const ConstView& b) = 0;
    /// Notes the largest value of A (0) or B (1) in a pass of its own, with the exponents that were judged; or the
    /// largest of C as it was (kWatchedC), where products are added to it: `limits.result` holds for it then.
    virtual void watch(int operand, const ConstView& view) = 0;
    /// Enqueues the classical product, which does nothing if the sums could be trusted. `free`: workspace that nobody
    /// needs any more.
    virtual void answer_if_unsafe(const Product& product, std::span<std::byte> free) = 0;
    /// Passes and products no longer belong to a guarded product.
    virtual void finish() = 0;
};

/// A byte of each number modulo each of some moduli (base/moduli.hpp): plane by plane, in lines along k, or along a row
/// of C. What lies behind the last number of a line is zero.
struct ResiduePlanes {
    void* data = nullptr;
    std::int64_t lines = 0, line_bytes = 0, plane_bytes = 0;
    /// Of Winograd's algorithm (algorithm/winograd_sums.hpp): lines and line_bytes are the sides of a block at the
    /// bottom, and every modulus has a plane for each product.
    int levels = 0;
    /// Of complex numbers 3: real parts, imaginary parts and their sums, each with all planes of levels. In C: the
    /// products of those.
    int parts = 1;
    /// Of other levels, whose sums are made in passes over planes: products, each with a plane of every modulus and
    /// part. Lines and line_bytes are the sides of a block at the bottom then, too.
    int products = 1;
};

/// Products by residues (docs/residues.md) on a backend that runs behind the caller. The guard of the product decides
/// how many moduli are taken, or that C is left to the classical product; all verbs do nothing then.
class ResidueKernels {
public:
    virtual ~ResidueKernels() = default;
    struct Choice {
        int usual = 0, most = 0;    // moduli for data that is even, and for the least even data
        double least_evenness = 0;  // with `usual` moduli; 0: any
        double least_with_most() const;
    };
    /// Looks at the rows of A and the columns of B, and how even they are if that counts: at a sample, or at all
    /// numbers where nothing may be scaled. `notes` has residue_notes_bytes() (base/device_layout.hpp).
    virtual void measure(const ConstView& a, const ConstView& b, const Choice& choice, void* notes) = 0;
    /// In place of that, for products that are rounded once and for i64: integers without rounding. log2 of the norms
    /// of the largest row of A and column of B, rounded up; 0 where all are zero. Waits for them, but not while the
    /// stream is recorded into a graph: then there are none.
    struct Norms {
        double a = 0, b = 0;
    };
    virtual std::optional<Norms> measure_exactly(const ConstView& a, const ConstView& b, void* notes) = 0;
    /// From now on so many; 0: the product is zero. Without norms, C becomes NaN where it turns out that they do not
    /// do.
    virtual void take_moduli(int count, const std::optional<Norms>& norms) = 0;
    /// Of A (0) the rows from `first` on, or of B (1) the columns.
    struct Block {
        int operand = 0;
        ConstView block;
        std::int64_t first = 0;
        ResiduePlanes to;
    };
    /// One or two of them.
    virtual void convert(std::span<const Block> blocks) = 0;
    /// Modulo each modulus. Of operands bytes have signs, of the result they have none.
    virtual void add_planes(const PlaneSums& sums, const ResiduePlanes& from, const ResiduePlanes& to) = 0;
    /// c = a b', each plane modulo its modulus.
    virtual void multiply_planes(const ResiduePlanes& a, const ResiduePlanes& b, const ResiduePlanes& c) = 0;
    /// c = alpha * what the residues stand for + beta * c with the factors of the product; beta == 0: c is not read. A
    /// tile of C whose first entry is (row, col).
    virtual void rebuild(const ResiduePlanes& from, const Product& factors, const View& c, std::int64_t row,
                         std::int64_t col) = 0;
};
inline double ResidueKernels::Choice::least_with_most() const {
    double least = least_evenness;
    for (int count = usual; count < most; ++count) {
        least *= kEvennessOfModulus;
    }
    return least;
}

/// Integers of the rows of A, or of the columns of B as rows: element (i, p) times 2^exponents[i], rounded
/// to nearest even. What is not finite counts as zero.
struct ScaledLines {
    ConstView lines;
    const std::int32_t* exponents = nullptr;
    double log2_largest = 0;  // of the integers
};

/// Entries of C as integers, in rows of kResidueTile: sums of pieces * 2^(kEntryPieceBits i), the lowest piece first.
/// All but the last are at most half of 2^kEntryPieceBits, with either sign.
inline constexpr int kEntryPieceBits = 40, kMostEntryPieces = 5;
struct IntegerTile {
    std::int64_t row = 0, col = 0, rows = 0, cols = 0;
    const double* pieces = nullptr;  // each of kResidueTile^2 numbers
    int piece_count = 0;
};

/// Products by residues on the host, by whatever multiplies bytes there. Everything is shared among the
/// threads of the backend, and the same bits for any number of them.
class HostResidues {
public:
    virtual ~HostResidues() = default;
    /// Residues of A (operand 0) or B (1), in the order that products take. `planes` has `moduli` times
    /// packed_residue_bytes().
    virtual void pack(int operand, const ScaledLines& from, int moduli, void* planes) = 0;
    /// Entries of `rows` rows of C from `first_row` on, and of all n columns: of m lines of A and n of B, with `depth`
    /// numbers each. Calls `take` for all of them in tiles, from any thread.
    struct PlaneProduct {
        const void *a = nullptr, *b = nullptr;
        std::int64_t m = 0, depth = 0, n = 0;
        int moduli = 0;
        std::int64_t first_row = 0, rows = 0;  // a multiple of kResidueTile; of all m up to the last
    };
    virtual void multiply(const PlaneProduct& product, const std::function<void(const IntegerTile&)>& take) = 0;
};
class Backend {
public:
    virtual ~Backend() = default;
    virtual std::string name() const = 0;

    virtual void combine(const CombinePass& pass) = 0;
    /// Independent products of any shapes (distinct outputs), by the named leaf ("" = the backend's default).
    virtual void multiply(std::span<const Product> batch, const std::string& leaf) = 0;
    /// Whether multiply_fused() takes products with up to so many terms and targets here.
    virtual bool fuses(Type /*type*/, int /*left_terms*/, int /*right_terms*/, int /*targets*/) const { return false; }
    /// The products of one level. All left blocks of the call have the same strides (any), so do all right ones, all
    /// targets and all addends; targets of different products are the same block or do not overlap, and no addend
    /// overlaps a target of another product. Updates of one block happen in the order of the span, unless `order` is
    /// FusedOrder::atomic. With a guard that was started, A and B have been watched by then, and nothing is written if
    /// the sums cannot be trusted.
    virtual void multiply_fused(std::span<const FusedProduct> /*instances*/, FusedOrder /*order*/,
                                FusedTile /*tile*/ = FusedTile::automatic) {
        fail(ErrorCode::usage, "the {} backend has no products with sums inside; take a plan without fused levels",
             name());
    }
    /// The block shapes to choose from; none where there is nothing to choose.
    virtual std::vector<FusedTileShape> fused_tile_shapes(Type /*type*/) const { return {}; }
    virtual ScanResult scan(const ConstView& view) = 0;
    virtual void copy(const ConstView& from, const View& to) = 0;
    /// Calls work(0) to work(parts - 1) on the host, in any order, on as many threads as the backend has there.
    virtual void share(std::int64_t parts, const std::function<void(std::int64_t)>& work) {
        for (std::int64_t part = 0; part < parts; ++part) {
            work(part);
        }
    }
    /// Names of the leaves that can do this type here, best first by default knowledge (not by measurement).
    virtual std::vector<std::string> leaves(Type type) const = 0;
    /// Null: scan() answers at once.
    virtual DeferredGuard* deferred_guard() { return nullptr; }
    /// Null: it has none.
    virtual ResidueKernels* residue_kernels() { return nullptr; }
    /// Null: products of integers are all it has.
    virtual HostResidues* host_residues() { return nullptr; }
    /// Memory for this product's guard and leaves, reserved_bytes() of its plan.
    virtual void begin_product(void* /*reserved*/, std::int64_t /*bytes*/) {}
};

}  // namespace heptad
