// pdgemm_ and psgemm_ as ScaLAPACK (PBLAS) defines them:
//
//   sub(C) = alpha * op(sub(A)) * op(sub(B)) + beta * sub(C),   sub(X) = X(ix : ..., jx : ...), counted from 1
//
// Wrong arguments are told as PBLAS tells them: pxerbla_ with the number of the argument, which ends the job. This is
// where the errors of a program in Fortran can only be printed.
#include <mpi.h>
#include <heptad/cluster.hpp>

#include <cctype>
#include <cstdio>
#include <exception>
#include <vector>

extern "C" {
// Of the program's own BLACS and ScaLAPACK; a program that calls heptad/cluster.hpp only need not have them.
__attribute__((weak)) void Cblacs_gridinfo(int context, int* rows, int* cols, int* my_row, int* my_col);
__attribute__((weak)) void Cigsum2d(int context, const char* scope, const char* topology, int m, int n, int* values,
                                    int leading, int to_row, int to_col);
__attribute__((weak)) void Cblacs_abort(int context, int code);
__attribute__((weak)) void pxerbla_(const int* context, const char* routine, const int* info, int length);
}

namespace heptad {
namespace {

/// Places in a descriptor.
enum Descriptor : int { dtype, context, rows, cols, row_block, col_block, first_row, first_col, leading };
constexpr int kDense = 1;  // the only dtype of dense matrices

/// Where sub(X) lies, and the numbers of its arguments.
struct MatrixArguments {
    void* data = nullptr;
    int row = 1, col = 1;
    const int* descriptor = nullptr;
    int row_argument = 0;  // of row; of col and the descriptor: the next ones
    bool transpose = false;
};

/// The first wrong argument as PBLAS numbers them: i, or 100 i + j for entry j of a descriptor; 0 if all are fine.
int wrong_argument(const MatrixArguments& x, int sub_rows, int sub_cols, const ProcessGrid& grid, int own_context) {
    if (x.transpose) {
        std::swap(sub_rows, sub_cols);
    }
    const int* d = x.descriptor;
    const auto entry = [&](int place) { return 100 * (x.row_argument + 2) + place + 1; };
    const bool empty = sub_rows == 0 || sub_cols == 0;
    if (x.row < 1 || (!empty && x.row + sub_rows - 1 > d[rows])) {
        return x.row_argument;
    }
    if (x.col < 1 || (!empty && x.col + sub_cols - 1 > d[cols])) {
        return x.row_argument + 1;
    }
    if (d[dtype] != kDense) {
        return entry(dtype);
    }
    if (d[context] != own_context) {
        return entry(context);
    }
    if (d[rows] < 0) {
        return entry(rows);
    }
    if (d[cols] < 0) {
        return entry(cols);
    }
    if (d[row_block] < 1) {
        return entry(row_block);
    }
    if (d[col_block] < 1) {
        return entry(col_block);
    }
    if (d[first_row] < 0 || d[first_row] >= grid.rows) {
        return entry(first_row);
    }
    if (d[first_col] < 0 || d[first_col] >= grid.cols) {
        return entry(first_col);
    }
    return d[leading] < 1 ? entry(leading) : 0;
}

BlockCyclicPart part_of(const MatrixArguments& x, Type type) {
    const int* d = x.descriptor;
    return {{x.data, type, d[rows], d[cols], d[row_block], d[col_block], d[first_row], d[first_col], d[leading]},
            x.row - 1,
            x.col - 1,
            x.transpose};
}

/// The rank in MPI_COMM_WORLD of every process of the grid. BLACS numbers them in an order of its own, so they tell.
std::vector<int> world_ranks(int own_context, const ProcessGrid& grid) {
    std::vector<int> ranks(static_cast<std::size_t>(grid.rows) * static_cast<std::size_t>(grid.cols));
    const int count = grid.rows * grid.cols;
    const auto own = static_cast<std::size_t>(grid.my_row) * static_cast<std::size_t>(grid.cols) +
                     static_cast<std::size_t>(grid.my_col);
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks[own]);
    Cigsum2d(own_context, "All", " ", count, 1, ranks.data(), count, -1, -1);
    return ranks;
}

struct Sizes {
    int m = 0, n = 0, k = 0;
};

int wrong_transpose(char word) {
    const int upper = std::toupper(static_cast<unsigned char>(word));
    return upper != 'N' && upper != 'T' && upper != 'C' ? 1 : 0;
}
bool is_transposed(char word) {
    return std::toupper(static_cast<unsigned char>(word)) != 'N';
}

void pgemm(const char* routine, Type type, char transpose_a, char transpose_b, const Sizes& sizes, double alpha,
           MatrixArguments a, MatrixArguments b, double beta, const MatrixArguments& c) {
    const int own_context = c.descriptor[context];
    ProcessGrid grid;
    Cblacs_gridinfo(own_context, &grid.rows, &grid.cols, &grid.my_row, &grid.my_col);
    if (grid.my_row < 0) {
        return;  // not in the grid
    }
    a.transpose = is_transposed(transpose_a);
    b.transpose = is_transposed(transpose_b);
    int wrong = wrong_transpose(transpose_a) != 0   ? 1
                : wrong_transpose(transpose_b) != 0 ? 2
                : sizes.m < 0                       ? 3
                : sizes.n < 0                       ? 4
                : sizes.k < 0                       ? 5
                                                    : 0;
    wrong = wrong != 0 ? wrong : wrong_argument(a, sizes.m, sizes.k, grid, own_context);
    wrong = wrong != 0 ? wrong : wrong_argument(b, sizes.k, sizes.n, grid, own_context);
    wrong = wrong != 0 ? wrong : wrong_argument(c, sizes.m, sizes.n, grid, own_context);
    if (wrong != 0) {
        pxerbla_(&own_context, routine, &wrong, 6);
        Cblacs_abort(own_context, wrong);  // the others would wait for this process
        return;
    }
    if (sizes.m == 0 || sizes.n == 0 || ((alpha == 0 || sizes.k == 0) && beta == 1)) {
        return;
    }
    try {
        grid.ranks = world_ranks(own_context, grid);
        const int inner = alpha == 0 ? 0 : sizes.k;  // then A and B are not read
        multiply_block_cyclic({sizes.m, inner, sizes.n}, alpha, part_of(a, type), part_of(b, type), beta,
                              part_of(c, type), grid, mpi_exchange());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "heptad: %s: %s\n", routine, error.what());
        Cblacs_abort(own_context, 1);
    } catch (...) {  // nothing may leave through Fortran
        std::fprintf(stderr, "heptad: %s: something that is no std::exception was thrown\n", routine);
        Cblacs_abort(own_context, 1);
    }
}

}  // namespace
}  // namespace heptad

extern "C" {

HEPTAD_API void pdgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
                        const double* alpha, double* a, const int* ia, const int* ja, const int* desc_a, double* b,
                        const int* ib, const int* jb, const int* desc_b, const double* beta, double* c, const int* ic,
                        const int* jc, const int* desc_c) {
    heptad::pgemm("PDGEMM", heptad::Type::f64, *transpose_a, *transpose_b, {*m, *n, *k}, *alpha,
                  {a, *ia, *ja, desc_a, 8}, {b, *ib, *jb, desc_b, 12}, *beta, {c, *ic, *jc, desc_c, 17});
}

HEPTAD_API void psgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
                        const float* alpha, float* a, const int* ia, const int* ja, const int* desc_a, float* b,
                        const int* ib, const int* jb, const int* desc_b, const float* beta, float* c, const int* ic,
                        const int* jc, const int* desc_c) {
    heptad::pgemm("PSGEMM", heptad::Type::f32, *transpose_a, *transpose_b, {*m, *n, *k}, *alpha,
                  {a, *ia, *ja, desc_a, 8}, {b, *ib, *jb, desc_b, 12}, *beta, {c, *ic, *jc, desc_c, 17});
}
}
