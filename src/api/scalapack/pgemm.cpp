// pdgemm_ and psgemm_ as ScaLAPACK (PBLAS) defines them:
//
//   sub(C) = alpha * op(sub(A)) * op(sub(B)) + beta * sub(C),   sub(X) = X(ix : ..., jx : ...), counted from 1
//
// Products of parts that lie inside of their matrices, each element on one process, are made here. All other calls go
// on to ScaLAPACK's own routine: so wrong arguments are told as ever, by whatever PB_Cabort and pxerbla_ the program
// has.
#include <dlfcn.h>
#include <mpi.h>
#include <heptad/cluster.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

extern "C" {
// Of the program's own BLACS; a program that calls heptad/cluster.hpp only need not have it.
__attribute__((weak)) void Cblacs_gridinfo(int context, int* rows, int* cols, int* my_row, int* my_col);
__attribute__((weak)) void Cigsum2d(int context, const char* scope, const char* topology, int m, int n, int* values,
                                    int leading, int to_row, int to_col);
__attribute__((weak)) void Cblacs_abort(int context, int code);
}

namespace heptad {
namespace {

constexpr int kBlockCyclic = 1, kBlockCyclicWithFirstBlocks = 2;  // types of descriptors

/// What both types of descriptors say.
struct Descriptor {
    bool known = false;
    int context = 0, rows = 0, cols = 0;
    int first_row_block = 0, first_col_block = 0, row_block = 0, col_block = 0;
    int first_row = 0, first_col = 0, leading = 0;
};

Descriptor read_descriptor(const int* d) {
    switch (d[0]) {
        case kBlockCyclic:
            return {true, d[1], d[2], d[3], d[4], d[5], d[4], d[5], d[6], d[7], d[8]};
        case kBlockCyclicWithFirstBlocks:
            return {true, d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9], d[10]};
        default:
            return {};
    }
}

/// Where sub(X) lies.
struct Operand {
    void* data = nullptr;
    int row = 1, col = 1;
    Descriptor descriptor;
    bool transpose = false;
};

/// How many rows of a matrix the processes of one row hold.
int held_rows(const Descriptor& d, const ProcessGrid& grid) {
    const int rest = std::max(0, d.rows - d.first_row_block), whole_blocks = rest / d.row_block;
    const int place = (grid.my_row - d.first_row + grid.rows) % grid.rows;
    const int blocks = (whole_blocks + grid.rows - place) / grid.rows - (place == 0 ? 1 : 0);
    return blocks * d.row_block + (place == 0 ? std::min(d.rows, d.first_row_block) : 0) +
           ((whole_blocks + 1) % grid.rows == place ? rest % d.row_block : 0);
}

/// A part with a process for each of its elements, inside of a matrix that is described as it may be.
bool is_sound(const Operand& x, int sub_rows, int sub_cols, const ProcessGrid& grid, int own_context) {
    const Descriptor& d = x.descriptor;
    if (x.transpose) {
        std::swap(sub_rows, sub_cols);
    }
    const auto is_inside = [](int first, int count, int all) { return first >= 1 && count <= all - (first - 1); };
    return d.known && d.context == own_context && is_inside(x.row, sub_rows, d.rows) &&
           is_inside(x.col, sub_cols, d.cols) && d.first_row_block >= 1 && d.first_col_block >= 1 && d.row_block >= 1 &&
           d.col_block >= 1 && d.first_row >= 0 && d.first_row < grid.rows && d.first_col >= 0 &&
           d.first_col < grid.cols && d.leading >= std::max(1, held_rows(d, grid));
}

BlockCyclicPart part_of(const Operand& x, Type type) {
    const Descriptor& d = x.descriptor;
    return {{x.data, type, d.rows, d.cols, d.row_block, d.col_block, d.first_row, d.first_col, d.leading,
             d.first_row_block, d.first_col_block},
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

enum class Transpose { no, yes, unknown };

Transpose transpose_of(char word) {
    const int upper = std::toupper(static_cast<unsigned char>(word));
    return upper == 'N' ? Transpose::no : upper == 'T' || upper == 'C' ? Transpose::yes : Transpose::unknown;
}

/// Whether it was made here. All processes of the grid decide alike, unless one of them has a wrong argument.
bool pgemm(const char* routine, Type type, char transpose_a, char transpose_b, const Sizes& sizes, double alpha,
           Operand a, Operand b, double beta, const Operand& c) {
    const int own_context = c.descriptor.context;
    ProcessGrid grid;
    if (!c.descriptor.known || Cblacs_gridinfo == nullptr) {
        return false;
    }
    Cblacs_gridinfo(own_context, &grid.rows, &grid.cols, &grid.my_row, &grid.my_col);
    a.transpose = transpose_of(transpose_a) == Transpose::yes;
    b.transpose = transpose_of(transpose_b) == Transpose::yes;
    if (grid.my_row < 0 || transpose_of(transpose_a) == Transpose::unknown ||
        transpose_of(transpose_b) == Transpose::unknown || std::min({sizes.m, sizes.n, sizes.k}) < 1 || alpha == 0 ||
        !is_sound(a, sizes.m, sizes.k, grid, own_context) || !is_sound(b, sizes.k, sizes.n, grid, own_context) ||
        !is_sound(c, sizes.m, sizes.n, grid, own_context)) {
        return false;
    }
    try {
        grid.ranks = world_ranks(own_context, grid);
        multiply_block_cyclic({sizes.m, sizes.k, sizes.n}, alpha, part_of(a, type), part_of(b, type), beta,
                              part_of(c, type), grid, mpi_exchange());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "heptad: %s: %s\n", routine, error.what());
        Cblacs_abort(own_context, 1);
    } catch (...) {  // nothing may leave through Fortran
        std::fprintf(stderr, "heptad: %s: something that is no std::exception was thrown\n", routine);
        Cblacs_abort(own_context, 1);
    }
    return true;
}

template <class Element>
using Gemm = void(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
                  const Element* alpha, Element* a, const int* ia, const int* ja, const int* desc_a, Element* b,
                  const int* ib, const int* jb, const int* desc_b, const Element* beta, Element* c, const int* ic,
                  const int* jc, const int* desc_c);

/// The routine that the program would have reached without this library.
template <class Element>
Gemm<Element>* real_routine(const char* name) {
    static Gemm<Element>* const real = [name] {
        auto* const found = reinterpret_cast<Gemm<Element>*>(dlsym(RTLD_NEXT, name));
        if (found == nullptr) {
            std::fprintf(stderr, "heptad: this call of %s is one for ScaLAPACK, which is not behind this library\n",
                         name);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        return found;
    }();
    return real;
}

}  // namespace
}  // namespace heptad

extern "C" {

HEPTAD_API void pdgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
                        const double* alpha, double* a, const int* ia, const int* ja, const int* desc_a, double* b,
                        const int* ib, const int* jb, const int* desc_b, const double* beta, double* c, const int* ic,
                        const int* jc, const int* desc_c) {
    if (!heptad::pgemm("PDGEMM", heptad::Type::f64, *transpose_a, *transpose_b, {*m, *n, *k}, *alpha,
                       {a, *ia, *ja, heptad::read_descriptor(desc_a)}, {b, *ib, *jb, heptad::read_descriptor(desc_b)},
                       *beta, {c, *ic, *jc, heptad::read_descriptor(desc_c)})) {
        heptad::real_routine<double>("pdgemm_")(transpose_a, transpose_b, m, n, k, alpha, a, ia, ja, desc_a, b, ib, jb,
                                                desc_b, beta, c, ic, jc, desc_c);
    }
}

HEPTAD_API void psgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
                        const float* alpha, float* a, const int* ia, const int* ja, const int* desc_a, float* b,
                        const int* ib, const int* jb, const int* desc_b, const float* beta, float* c, const int* ic,
                        const int* jc, const int* desc_c) {
    if (!heptad::pgemm("PSGEMM", heptad::Type::f32, *transpose_a, *transpose_b, {*m, *n, *k}, *alpha,
                       {a, *ia, *ja, heptad::read_descriptor(desc_a)}, {b, *ib, *jb, heptad::read_descriptor(desc_b)},
                       *beta, {c, *ic, *jc, heptad::read_descriptor(desc_c)})) {
        heptad::real_routine<float>("psgemm_")(transpose_a, transpose_b, m, n, k, alpha, a, ia, ja, desc_a, b, ib, jb,
                                               desc_b, beta, c, ic, jc, desc_c);
    }
}
}
