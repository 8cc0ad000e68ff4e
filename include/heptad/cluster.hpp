// Products of matrices whose blocks are spread over the ranks of a cluster, like ScaLAPACK's. These functions are in
// libheptad_scalapack.so, which also has psgemm_, pdgemm_, pcgemm_ and pzgemm_.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <vector>

#include <heptad/heptad.hpp>

namespace heptad {

/// The processes that hold the matrices, in a grid of rows x cols, and which of them this is.
struct ProcessGrid {
    int rows = 1, cols = 1;
    int my_row = 0, my_col = 0;
    std::vector<int> ranks;  ///< of process (r, c) at r * cols + c: the numbers that an exchange uses
};

/// A matrix in blocks of row_block x col_block, distributed to the process rows and columns in turn, beginning with the
/// first ones given. Each process has its blocks side by side, column-major, columns `leading` elements apart. The
/// first blocks may be of another size, as with ScaLAPACK's descriptors of type 2.
struct BlockCyclicMatrix {
    void* data = nullptr;  ///< the blocks of this process
    Type type = Type::f64;
    std::int64_t rows = 0, cols = 0;
    std::int64_t row_block = 1, col_block = 1;
    int first_process_row = 0, first_process_col = 0;
    std::int64_t leading = 1;
    std::int64_t first_row_block = 0, first_col_block = 0;  ///< rows and columns of the first blocks; 0: as the rest
};

/// The part of such a matrix that begins at (row, col), counted from 0, transposed or not, conjugated or not.
struct BlockCyclicPart {
    BlockCyclicMatrix matrix;
    std::int64_t row = 0, col = 0;
    bool transpose = false;
    bool conjugate = false;  ///< for complex types
};

/// Sends bytes to one rank while it receives bytes from another; -1 for none.
using RankExchange = std::function<void(int to, const void* sent, std::int64_t sent_bytes, int from, void* received,
                                        std::int64_t received_bytes)>;

/// C = alpha * A * B + beta * C. All processes of the grid call it together. A is size.m x size.k, B size.k x size.n
/// and C size.m x size.n, transposes applied; C is neither transposed nor conjugated. One element type: f64, f32, c128,
/// c64, i32, i64; complex factors are for c64 and c128. beta = 0: C is not read. Each process computes a block of the
/// product: it gets what it needs of A and B from the ranks that hold it, multiplies by the options with that many
/// threads (0: all cores) and sends its result to the ranks that hold C. Accuracy exact: the same bits on any number of
/// processes. Throws Error(usage), Error(input) or Error(resource) on all processes where one of them finds parts that
/// are not inside their matrices, data that cannot be multiplied exactly, or no memory. C is then as it was, unless
/// memory ran out when it was being written: then it is undefined.
HEPTAD_API void multiply_block_cyclic(const ProblemSize& size, std::complex<double> alpha, const BlockCyclicPart& a,
                                      const BlockCyclicPart& b, std::complex<double> beta, const BlockCyclicPart& c,
                                      const ProcessGrid& grid, const RankExchange& exchange,
                                      const Options& options = {}, int threads = 0);

/// Exchanges over MPI_COMM_WORLD, in pieces below MPI's 32-bit counts. MPI must have begun, and this thread may call
/// it.
HEPTAD_API RankExchange mpi_exchange();

}  // namespace heptad
