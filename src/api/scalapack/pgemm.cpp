// psgemm_, pdgemm_, pcgemm_ and pzgemm_ as ScaLAPACK (PBLAS) defines them:
//
//   sub(C) = alpha * op(sub(A)) * op(sub(B)) + beta * sub(C),   sub(X) = X(ix : ..., jx : ...), counted from 1
//
// Large products of parts that lie inside of their matrices, each element on one process, are made here. All other
// calls go on to ScaLAPACK's own routine, so that wrong arguments are told as ever, by whatever PB_Cabort and pxerbla_
// the program has.
#include <dlfcn.h>
#include <mpi.h>
#include <heptad/cluster.hpp>

#include <algorithm>
#include <cctype>
#include <complex>
#include <cstdio>
#include <exception>
#include <limits>
#include <utility>
#include <vector>

#include "api/drop_in/knobs.hpp"
#include "base/shared_state.hpp"

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
    bool transpose = false, conjugate = false;
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
            x.transpose,
            x.conjugate};
}

/// The rank in MPI_COMM_WORLD of every process of the grid. BLACS numbers them in an order of its own, so they tell.
/// None if the call is not sound on one of them: a leading dimension is each one's own, and ScaLAPACK takes a shorter
/// one than we do where a process holds no column.
std::vector<int> world_ranks(int own_context, const ProcessGrid& grid, bool is_sound) {
    std::vector<int> ranks(static_cast<std::size_t>(grid.rows) * static_cast<std::size_t>(grid.cols) + 1);
    const int count = grid.rows * grid.cols + 1;
    ranks.back() = is_sound ? 0 : 1;
    const auto own = static_cast<std::size_t>(grid.my_row) * static_cast<std::size_t>(grid.cols) +
                     static_cast<std::size_t>(grid.my_col);
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks[own]);
    Cigsum2d(own_context, "All", " ", count, 1, ranks.data(), count, -1, -1);
    ranks.resize(ranks.back() == 0 ? ranks.size() - 1 : 0);
    return ranks;
}

/// N, T or C; other letters are wrong.
char operation_of(const char* word) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(*word)));
}
bool is_operation(char operation) {
    return operation == 'N' || operation == 'T' || operation == 'C';
}

/// Below this in any size, ScaLAPACK's own routine is the faster one: products are not larger than what it costs to
/// plan them and to spread the matrices anew (of f32 on two processes: 0.2 of its rate for n = 512, 0.8 for n = 1024).
constexpr std::int64_t kSmallestSize = 2048;

/// HEPTAD_MIN_SIZE and HEPTAD_OFF, which all processes must have alike.
std::int64_t smallest_size() {
    const drop_in::Knobs& asked = drop_in::knobs();
    return asked.off ? std::numeric_limits<std::int64_t>::max() : asked.min_size > 0 ? asked.min_size : kSmallestSize;
}

/// One call, as the grid of processes sees it.
struct Call {
    char operation_a = 'N', operation_b = 'N';
    int m = 0, n = 0, k = 0;
    std::complex<double> alpha = 0;
    Operand a, b;
    std::complex<double> beta = 0;
    Operand c;
    ProcessGrid grid;

    int context() const { return c.descriptor.context; }
    bool is_sound() const {
        return is_operation(operation_a) && is_operation(operation_b) && std::min({m, n, k}) >= 0 &&
               heptad::is_sound(a, m, k, grid, context()) && heptad::is_sound(b, k, n, grid, context()) &&
               heptad::is_sound(c, m, n, grid, context());
    }
    bool is_small() const { return std::min({m, n, k}) < smallest_size() || alpha == 0.0; }
};

/// By all processes of the grid, or, where the call is not sound on one of them, by none: false.
bool multiply(const char* routine, Type type, Call& call) {
    try {
        call.grid.ranks = world_ranks(call.context(), call.grid, call.is_sound());
        if (call.grid.ranks.empty()) {
            return false;
        }
        if (call.m == 0 || call.n == 0) {
            return true;
        }
        const int inner = call.alpha == 0.0 ? 0 : call.k;  // then A and B are not read
        multiply_block_cyclic({call.m, inner, call.n}, call.alpha, part_of(call.a, type), part_of(call.b, type),
                              call.beta, part_of(call.c, type), call.grid, mpi_exchange());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "heptad: %s: %s\n", routine, error.what());
        Cblacs_abort(call.context(), 1);
    } catch (...) {  // nothing may leave through Fortran
        std::fprintf(stderr, "heptad: %s: an exception that is not a std::exception was thrown\n", routine);
        Cblacs_abort(call.context(), 1);
    }
    return true;
}

template <class Element>
using Gemm = void(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
                  const Element* alpha, Element* a, const int* ia, const int* ja, const int* desc_a, Element* b,
                  const int* ib, const int* jb, const int* desc_b, const Element* beta, Element* c, const int* ic,
                  const int* jc, const int* desc_c);

/// `symbol`: of ScaLAPACK's own routine, which a program that was linked statically may lack.
template <class Element>
void pgemm(const char* routine, const char* symbol, const char* transpose_a, const char* transpose_b, const int* m,
           const int* n, const int* k, const Element* alpha, Element* a, const int* ia, const int* ja,
           const int* desc_a, Element* b, const int* ib, const int* jb, const int* desc_b, const Element* beta,
           Element* c, const int* ic, const int* jc, const int* desc_c) {
    static constinit Once<Gemm<Element>*> found;
    Gemm<Element>* const real =
        found.get([symbol] { return reinterpret_cast<Gemm<Element>*>(dlsym(RTLD_NEXT, symbol)); });
    const char operation_a = operation_of(transpose_a), operation_b = operation_of(transpose_b);
    Call call{operation_a,
              operation_b,
              *m,
              *n,
              *k,
              *alpha,
              {a, *ia, *ja, read_descriptor(desc_a), operation_a != 'N', operation_a == 'C'},
              {b, *ib, *jb, read_descriptor(desc_b), operation_b != 'N', operation_b == 'C'},
              *beta,
              {c, *ic, *jc, read_descriptor(desc_c)},
              {}};
    if (call.c.descriptor.known && (real == nullptr || !call.is_small())) {
        Cblacs_gridinfo(call.context(), &call.grid.rows, &call.grid.cols, &call.grid.my_row, &call.grid.my_col);
        if (call.grid.my_row >= 0 && multiply(routine, TypeOf<Element>::value, call)) {
            return;
        }
    }
    if (real != nullptr) {
        real(transpose_a, transpose_b, m, n, k, alpha, a, ia, ja, desc_a, b, ib, jb, desc_b, beta, c, ic, jc, desc_c);
    } else if (call.grid.my_row >= 0) {
        std::fprintf(stderr, "heptad: %s: an argument is wrong, or of a kind that only ScaLAPACK's routine takes\n",
                     routine);
        Cblacs_abort(call.context(), 1);
    }
}

}  // namespace
}  // namespace heptad

extern "C" {

#define HEPTAD_PGEMM(name, routine, Element)                                                                           \
    HEPTAD_API void name(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,   \
                         const Element* alpha, Element* a, const int* ia, const int* ja, const int* desc_a,            \
                         Element* b, const int* ib, const int* jb, const int* desc_b, const Element* beta, Element* c, \
                         const int* ic, const int* jc, const int* desc_c) {                                            \
        heptad::pgemm<Element>(routine, #name, transpose_a, transpose_b, m, n, k, alpha, a, ia, ja, desc_a, b, ib, jb, \
                               desc_b, beta, c, ic, jc, desc_c);                                                       \
    }

HEPTAD_PGEMM(psgemm_, "PSGEMM", float)
HEPTAD_PGEMM(pdgemm_, "PDGEMM", double)
HEPTAD_PGEMM(pcgemm_, "PCGEMM", std::complex<float>)
HEPTAD_PGEMM(pzgemm_, "PZGEMM", std::complex<double>)
}
