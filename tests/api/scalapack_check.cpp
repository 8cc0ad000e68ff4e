// psgemm_, pdgemm_, pcgemm_ and pzgemm_ of libheptad_scalapack against ScaLAPACK's own, which is opened beside it:
// every transpose, parts of matrices, blocks of all sizes, first blocks of other sizes, grids whose first process is
// not the first. Small integers, so the results are exact, and everything outside the part of C must stay as it was.
// What one process gets wrong ends in ScaLAPACK's own check on all of them.
// Run under mpirun with HEPTAD_MIN_SIZE=1; ends with 1 where anything differs.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* my_row, int* my_col);
void Cblacs_exit(int keep_mpi);
void pdgemm_(const char*, const char*, const int*, const int*, const int*, const double*, double*, const int*,
             const int*, const int*, double*, const int*, const int*, const int*, const double*, double*, const int*,
             const int*, const int*);
void pcgemm_(const char*, const char*, const int*, const int*, const int*, const std::complex<float>*,
             std::complex<float>*, const int*, const int*, const int*, std::complex<float>*, const int*, const int*,
             const int*, const std::complex<float>*, std::complex<float>*, const int*, const int*, const int*);
void pzgemm_(const char*, const char*, const int*, const int*, const int*, const std::complex<double>*,
             std::complex<double>*, const int*, const int*, const int*, std::complex<double>*, const int*, const int*,
             const int*, const std::complex<double>*, std::complex<double>*, const int*, const int*, const int*);
void psgemm_(const char*, const char*, const int*, const int*, const int*, const float*, float*, const int*, const int*,
             const int*, float*, const int*, const int*, const int*, const float*, float*, const int*, const int*,
             const int*);
}

namespace {

constexpr int kCases = 150;  // of each type

struct Grid {
    int context = 0, rows = 1, cols = 1, my_row = 0, my_col = 0;
};

/// The same on every process.
class Numbers {
public:
    std::uint32_t next() {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::uint32_t>(state_ >> 33);
    }
    int upto(int most) { return static_cast<int>(next() % static_cast<std::uint32_t>(most + 1)); }

private:
    std::uint64_t state_ = 2026;
};

/// An integer from -below to upto - below, or two of them.
template <class Element>
Element draw(Numbers& numbers, int upto, int below) {
    const auto one = [&] { return numbers.upto(upto) - below; };
    if constexpr (std::is_floating_point_v<Element>) {
        return static_cast<Element>(one());
    } else {
        const auto real = static_cast<typename Element::value_type>(one());
        return {real, static_cast<typename Element::value_type>(one())};
    }
}

template <class Element>
struct Local {
    std::vector<Element> data;
    int descriptor[11] = {};
    int row = 1, col = 1;  // of the part, counted from 1
};

/// How many of the indices below `count` a process has.
int held(int count, int first_block, int block, int process, int first_process, int processes) {
    int found = 0;
    for (int index = 0; index < count; ++index) {
        const int number = index < first_block ? 0 : 1 + (index - first_block) / block;
        found += (number + first_process) % processes == process ? 1 : 0;
    }
    return found;
}

/// A matrix that holds a part of rows x cols somewhere.
template <class Element>
Local<Element> make(const Grid& grid, Numbers& numbers, int rows, int cols) {
    Local<Element> local;
    local.row = 1 + numbers.upto(5);
    local.col = 1 + numbers.upto(5);
    const int m = rows + local.row - 1 + numbers.upto(3), n = cols + local.col - 1 + numbers.upto(3);
    const int mb = 1 + numbers.upto(6), nb = 1 + numbers.upto(6);
    const int first_row = numbers.upto(grid.rows - 1), first_col = numbers.upto(grid.cols - 1);
    const bool other_first_blocks = numbers.upto(1) == 1;
    const int first_mb = other_first_blocks ? 1 + numbers.upto(9) : mb;
    const int first_nb = other_first_blocks ? 1 + numbers.upto(9) : nb;
    const int height = held(m, first_mb, mb, grid.my_row, first_row, grid.rows);
    const int width = held(n, first_nb, nb, grid.my_col, first_col, grid.cols);
    const int leading = (height > 0 ? height : 1) + numbers.upto(2);
    const std::vector<int> descriptor =
        other_first_blocks
            ? std::vector{2, grid.context, m, n, first_mb, first_nb, mb, nb, first_row, first_col, leading}
            : std::vector{1, grid.context, m, n, mb, nb, first_row, first_col, leading};
    std::copy(descriptor.begin(), descriptor.end(), local.descriptor);
    Numbers own = numbers;
    for (int skip = grid.my_row * 7 + grid.my_col; skip > 0; --skip) {
        own.next();
    }
    local.data.resize(static_cast<std::size_t>(leading) * static_cast<std::size_t>(width > 0 ? width : 1));
    for (Element& element : local.data) {
        element = draw<Element>(own, 16, 8);
    }
    return local;
}

template <class Element, class Gemm>
int differences(const Grid& grid, Numbers& numbers, Gemm* ours, Gemm* theirs, int cases) {
    int wrong = 0;
    for (int i = 0; i < cases; ++i) {
        const char ta = "NTC"[numbers.upto(2)], tb = "NTC"[numbers.upto(2)];
        const int m = numbers.upto(30), n = numbers.upto(30), k = numbers.upto(30);
        Local<Element> a = ta == 'N' ? make<Element>(grid, numbers, m, k) : make<Element>(grid, numbers, k, m);
        Local<Element> b = tb == 'N' ? make<Element>(grid, numbers, k, n) : make<Element>(grid, numbers, n, k);
        Local<Element> c = make<Element>(grid, numbers, m, n);
        const auto alpha = draw<Element>(numbers, 4, 2), beta = draw<Element>(numbers, 3, 1);
        std::vector<Element> expected = c.data;
        theirs(&ta, &tb, &m, &n, &k, &alpha, a.data.data(), &a.row, &a.col, a.descriptor, b.data.data(), &b.row, &b.col,
               b.descriptor, &beta, expected.data(), &c.row, &c.col, c.descriptor);
        ours(&ta, &tb, &m, &n, &k, &alpha, a.data.data(), &a.row, &a.col, a.descriptor, b.data.data(), &b.row, &b.col,
             b.descriptor, &beta, c.data.data(), &c.row, &c.col, c.descriptor);
        if (c.data != expected) {
            std::printf("process (%d, %d), case %d: %c%c m = %d, n = %d, k = %d differs\n", grid.my_row, grid.my_col, i,
                        ta, tb, m, n, k);
            ++wrong;
        }
    }
    return wrong;
}

/// The process whose leading dimension is less than its rows holds no column, so ScaLAPACK takes the call. Either all
/// processes leave it to ScaLAPACK or none.
int differences_with_a_short_leading_dimension(const Grid& grid) {
    constexpr int n = 24, block = 4, k = block, one = 1;
    const bool is_short = grid.my_col > 0 && grid.my_col == grid.cols - 1 && grid.my_row == grid.rows - 1;
    const int of_a[] = {1, grid.context, n, k, block, block, 0, 0, is_short ? 1 : n};
    const int of_b[] = {1, grid.context, k, n, block, block, 0, 0, k};
    const int of_c[] = {1, grid.context, n, n, block, block, 0, 0, n};
    std::vector<double> a(n * k, 3), b(k * n, 2), c(n * n, 7);
    const double alpha = 1, beta = 0;
    pdgemm_("N", "N", &n, &n, &k, &alpha, a.data(), &one, &one, of_a, b.data(), &one, &one, of_b, &beta, c.data(), &one,
            &one, of_c);
    return c[0] == 6.0 * k ? 0 : 1;
}

template <class Gemm>
Gemm* symbol_of(void* library, const char* name) {
    return reinterpret_cast<Gemm*>(dlsym(library, name));
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Grid grid;
    const int rows = argc > 1 ? std::stoi(argv[1]) : 1, cols = argc > 2 ? std::stoi(argv[2]) : 1;
    Cblacs_get(-1, 0, &grid.context);
    Cblacs_gridinit(&grid.context, argc > 3 ? argv[3] : "Row", rows, cols);
    Cblacs_gridinfo(grid.context, &grid.rows, &grid.cols, &grid.my_row, &grid.my_col);
    void* const library = dlopen(HEPTAD_SCALAPACK, RTLD_NOW | RTLD_LOCAL);
    int wrong = 0;
    if (library == nullptr || symbol_of<decltype(pzgemm_)>(library, "pzgemm_") == &pzgemm_) {
        std::printf("there are no two pzgemm_ to compare\n");
        wrong = 1;
    } else if (grid.my_row >= 0) {
        Numbers numbers;
        const auto compare = [&]<class Element>(Element, auto* ours, const char* name) {
            auto* const theirs = symbol_of<std::remove_pointer_t<decltype(ours)>>(library, name);
            wrong += theirs == nullptr ? 1 : differences<Element>(grid, numbers, ours, theirs, kCases);
        };
        compare(double{}, &pdgemm_, "pdgemm_");
        compare(float{}, &psgemm_, "psgemm_");
        compare(std::complex<double>{}, &pzgemm_, "pzgemm_");
        compare(std::complex<float>{}, &pcgemm_, "pcgemm_");
        wrong += differences_with_a_short_leading_dimension(grid);
    }
    int all_wrong = 0;
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        std::printf("%d x %d processes: %d products, %d differences\n", rows, cols, 4 * kCases, all_wrong);
    }
    Cblacs_exit(1);
    MPI_Finalize();
    return all_wrong == 0 ? 0 : 1;
}
