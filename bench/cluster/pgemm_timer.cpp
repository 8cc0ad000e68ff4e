// Times psgemm_ of libheptad_scalapack against ScaLAPACK's own in one run: n x n matrices in blocks on a grid of
// processes, random data, interleaved, median of the rounds.
//
//   mpirun -n 4 heptad-pgemm-timer N ROWS COLS [ROUNDS [BLOCK]]
//
// The first process prints one JSON object. Ends with 1 where the two results differ by more than rounding explains.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* my_row, int* my_col);
void Cblacs_exit(int keep_mpi);
int numroc_(const int* n, const int* block, const int* process, const int* first, const int* processes);
void descinit_(int* descriptor, const int* m, const int* n, const int* mb, const int* nb, const int* first_row,
               const int* first_col, const int* context, const int* leading, int* info);
void psgemm_(const char*, const char*, const int*, const int*, const int*, const float*, float*, const int*, const int*,
             const int*, float*, const int*, const int*, const int*, const float*, float*, const int*, const int*,
             const int*);
}

namespace {

using Gemm = decltype(psgemm_);

struct Operands {
    int n = 0;
    int descriptor[9] = {};
    std::vector<float> a, b;
};

void fill(std::vector<float>& matrix, std::uint64_t seed) {
    for (float& element : matrix) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        element = static_cast<float>(static_cast<double>(seed >> 11) * 0x1p-53 * 2 - 1);
    }
}

/// Seconds of the slowest process.
double seconds(Gemm* gemm, Operands& x, std::vector<float>& c) {
    std::fill(c.begin(), c.end(), std::nanf(""));
    const char plain = 'N';
    const int one = 1;
    const float alpha = 1, beta = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    gemm(&plain, &plain, &x.n, &x.n, &x.n, &alpha, x.a.data(), &one, &one, x.descriptor, x.b.data(), &one, &one,
         x.descriptor, &beta, c.data(), &one, &one, x.descriptor);
    double own = MPI_Wtime() - begin, slowest = 0;
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    setenv("HEPTAD_MIN_SIZE", "1", 0);  // ours at every size
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 4) {
        if (rank == 0) {
            std::fprintf(stderr, "heptad-pgemm-timer: give N ROWS COLS [ROUNDS [BLOCK]]\n");
        }
        MPI_Finalize();
        return 2;
    }
    Operands x;
    x.n = std::stoi(argv[1]);
    const int rows = std::stoi(argv[2]), cols = std::stoi(argv[3]);
    const int rounds = argc > 4 ? std::stoi(argv[4]) : 3, block = argc > 5 ? std::stoi(argv[5]) : 256;
    int context = 0, grid_rows = 0, grid_cols = 0, my_row = 0, my_col = 0, info = 0;
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", rows, cols);
    Cblacs_gridinfo(context, &grid_rows, &grid_cols, &my_row, &my_col);
    const int zero = 0;
    const int height = numroc_(&x.n, &block, &my_row, &zero, &rows),
              width = numroc_(&x.n, &block, &my_col, &zero, &cols);
    const int leading = std::max(1, height);
    descinit_(x.descriptor, &x.n, &x.n, &block, &block, &zero, &zero, &context, &leading, &info);
    const std::size_t count = static_cast<std::size_t>(leading) * static_cast<std::size_t>(std::max(1, width));
    x.a.resize(count);
    x.b.resize(count);
    fill(x.a, static_cast<std::uint64_t>(2 * rank + 1));
    fill(x.b, static_cast<std::uint64_t>(2 * rank + 2));
    void* const library = dlopen(HEPTAD_SCALAPACK, RTLD_NOW | RTLD_LOCAL);
    auto* const theirs = library == nullptr ? nullptr : reinterpret_cast<Gemm*>(dlsym(library, "psgemm_"));
    if (theirs == nullptr || theirs == &psgemm_) {
        std::fprintf(stderr, "heptad-pgemm-timer: there are no two psgemm_ to compare\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    std::vector<float> c(count), expected(count);
    std::vector<double> our_s, their_s;
    seconds(&psgemm_, x, c);  // warm
    seconds(theirs, x, expected);
    for (int round = 0; round < rounds; ++round) {
        our_s.push_back(seconds(&psgemm_, x, c));
        their_s.push_back(seconds(theirs, x, expected));
    }
    double difference = 0, worst = 0;
    for (std::size_t i = 0; i < count && height > 0 && width > 0; ++i) {
        difference = std::max(difference, static_cast<double>(std::fabs(c[i] - expected[i])));
        difference = std::isnan(c[i]) ? HUGE_VAL : difference;
    }
    MPI_Allreduce(&difference, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    // The classical bound n^2 u is far above both; a misplaced block is far above it.
    const bool agree = worst <= static_cast<double>(x.n) * 0x1p-24 * static_cast<double>(x.n);
    if (rank == 0) {
        std::printf(
            "{\"type\": \"f32\", \"n\": %d, \"grid\": \"%dx%d\", \"block\": %d, \"vendor\": \"scalapack\", "
            "\"vendor_s\": %.4f, \"heptad_s\": %.4f, \"ratio\": %.3f, \"largest_difference\": %.3g}\n",
            x.n, rows, cols, block, median(their_s), median(our_s), median(their_s) / median(our_s), worst);
    }
    Cblacs_exit(1);
    MPI_Finalize();
    return agree ? 0 : 1;
}
