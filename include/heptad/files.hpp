// Products of matrices in files, to a file.
//
//   heptad::FileOptions options;
//   options.memory_bytes = std::int64_t{8} << 30;
//   options.verify = true;
//   const heptad::FileReport report = heptad::multiply_files("A.npy", "B.npy", "C.npy", options);
//
// Where the matrices fit in memory they are read, multiplied and written. Where they do not, A and B are read and C is
// written piece by piece. C takes its name when it is complete: whatever happens, the file of that name is the old one
// or the whole result. Formats: .npy, file.h5:/dataset, .mtx to read; of bits also .pbm, .png and packed .npy
// (docs/files.md).
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>

#include <heptad/heptad.hpp>

namespace heptad {

struct FileOptions {
    Options product = {};  ///< accuracy, algorithm, levels, device ... as for products in memory
    /// Empty: what the files say. f64 widens f32, f16 and i32, and i64 widens i32. Type::gf2 or Type::boolean says how
    /// bits are multiplied.
    std::optional<Type> type = {};
    bool transpose_a = false, transpose_b = false;
    bool conjugate_a = false, conjugate_b = false;  ///< of complex matrices, transposed or not
    std::complex<double> alpha = 1, beta = 0;       ///< complex only where the matrices are
    std::string c0 = {};                            ///< the file of what beta multiplies; may be C
    std::optional<std::int64_t> columns = {};       ///< .npy files hold packed bits, and B so many columns
    int threads = 0;                                ///< 0: as Context::set_threads(0)
    /// Most bytes for the matrices and all that the product takes beside them. Empty: what is free.
    std::optional<std::int64_t> memory_bytes = {};
    /// Piece by piece, and go on where a run before was ended: killed, cancelled, or by a full disk. From the beginning
    /// where there is nothing to go on with.
    bool resume = false;
    bool verify = false;          ///< check C by a random test; a wrong one is Error(verification)
    std::string trace_file = {};  ///< piece by piece, and when each stage worked goes there as trace events
    /// From the calling thread: the fraction of a stage and its name, such as "read A", "multiply", "write C".
    ProgressCallback progress = {};
    /// Ends the product with Error(cancelled). Piece by piece, what is finished is kept for `resume`.
    CancelToken cancel = {};
};

struct FileReport {
    Type type = Type::f32;
    ProblemSize size;
    std::string plan;        ///< one line: what was carried out
    double multiply_s = 0;   ///< of the products alone
    double error_bound = 0;  ///< on max|C - computed| / (max|A| * max|B|) for floats; 0 for exact types
    /// Expected: so many times the classical product's error, and the largest error over |a_i||b_j| (2-norms of a row
    /// of A and a column of B) on even data; 0 for exact types.
    double expected_error_growth = 1, typical_error = 0;
    double predicted_speedup = 0;  ///< over the library's classical product; 0: it is that one, or nobody knows
    bool fell_back = false;        ///< classical, because of a NaN, an infinity or values whose sums might overflow
    bool uneven = false;           ///< so uneven that levels lose digits (docs/accuracy.md); fell_back: so it has none
    bool scaled = false;           ///< powers of two were taken out of rows and columns, and put back into C
    bool in_pieces = false;        ///< from file to file; what follows is about that
    std::int64_t tiles = 0;        ///< pieces of C
    std::int64_t resumed_tiles = 0;        ///< of those, made by an earlier run
    std::int64_t peak_resident_bytes = 0;  ///< of this process
    bool verified = false;                 ///< the check was asked for, and passed
    double miss_chance = 0;                ///< of a wrong result to pass it
};

/// C = alpha * op(A) * op(B) + beta * C0. C may name an input, which is replaced at the very end; from file to file
/// only C0. Throws Error: usage for options that do not go together, input for files that are missing, malformed or do
/// not match, resource where memory, disk or device ran out, verification, cancelled.
HEPTAD_API FileReport multiply_files(const std::string& a, const std::string& b, const std::string& c,
                                     const FileOptions& options = {});

}  // namespace heptad
