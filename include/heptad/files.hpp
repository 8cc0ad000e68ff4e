// Products of matrices in files, to a file.
//
//   heptad::FileOptions options;
//   options.memory_bytes = std::int64_t{8} << 30;
//   options.verify = true;
//   const heptad::FileReport report = heptad::multiply_files("A.npy", "B.npy", "C.npy", options);
//
// Matrices that fit in memory are read, multiplied and written. Otherwise A and B are read, and C is written, piece by
// piece. C gets its name when it is complete: whatever happens, the file of that name is the old one or the whole
// result. Formats: .npy, file.h5:/dataset, .mtx (read only); for bits also .pbm, .png and packed .npy (docs/files.md).
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
    bool conjugate_a = false, conjugate_b = false;  ///< for complex matrices, transposed or not
    std::complex<double> alpha = 1, beta = 0;       ///< complex only if the matrices are
    std::string c0 = {};                            ///< the file that beta multiplies; may be C
    std::optional<std::int64_t> columns = {};       ///< .npy files hold packed bits, and B has this many columns
    int threads = 0;                                ///< 0: as Context::set_threads(0)
    /// Maximum bytes for the matrices and everything else that the product needs. Empty: what is free.
    std::optional<std::int64_t> memory_bytes = {};
    /// Work piece by piece, and continue where an earlier run was killed, cancelled or stopped by a full disk. If there
    /// is nothing to continue, start from the beginning.
    bool resume = false;
    bool verify = false;          ///< check C by a random test; a wrong C is Error(verification)
    std::string trace_file = {};  ///< work piece by piece, and write a timeline of the stages there, as trace events
    /// Called by the calling thread with the fraction and the name of a stage: "read A", "multiply", "write C" ...
    ProgressCallback progress = {};
    /// Ends the product with Error(cancelled). Finished pieces are kept for `resume`.
    CancelToken cancel = {};
};

struct FileReport {
    Type type = Type::f32;
    ProblemSize size;
    std::string plan;                  ///< one line: what was carried out
    double multiply_s = 0;             ///< time of the products only
    double error_bound = 0;            ///< on max|C - computed| / (max|A| * max|B|) for floats; 0 for exact types
    double expected_error_growth = 1;  ///< expected error over the classical product's
    double typical_error = 0;      ///< expected largest error over |a_i||b_j| (2-norms) on even data; exact types: 0
    double predicted_speedup = 0;  ///< over the library's classical product; 0: it is that product, or not known
    bool fell_back = false;        ///< it was classical: a NaN, an infinity, possible overflow, or as the next two say
    bool uneven = false;           ///< levels would lose more than a digit (docs/accuracy.md); fell_back: it has none
    bool short_numbers = false;    ///< so few digits that the classical product is almost exact: it has no levels
    bool scaled = false;           ///< powers of two were taken out of rows and columns and put back into C
    bool in_pieces = false;        ///< from file to file; the next fields are about that
    std::int64_t tiles = 0;        ///< pieces of C
    std::int64_t resumed_tiles = 0;        ///< finished by an earlier run
    std::int64_t peak_resident_bytes = 0;  ///< of this process
    bool verified = false;                 ///< the check was requested, and passed
    double miss_chance = 0;                ///< chance that a wrong result passes
};

/// C = alpha * op(A) * op(B) + beta * C0. C may name an input, which is replaced at the very end; from file to file
/// only C0. Throws Error: usage for options that do not go together, input for files that are missing, malformed or do
/// not match, resource if memory, disk or device ran out, verification, cancelled.
HEPTAD_API FileReport multiply_files(const std::string& a, const std::string& b, const std::string& c,
                                     const FileOptions& options = {});

}  // namespace heptad
