// Times products of M4RI. A process of its own that talks by lines:
//
//   prepare M K N THREADS   ->  ready           random A (M x K) and B (K x N)
//   run CALLS               ->  SECONDS         of so many products, by the faster of its routines
//   product A.pbm B.pbm C.pbm ->  done          C = A * B from files, to compare results
//
// It ends with its input.
#include <m4ri/m4ri.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace {

class Matrix {
public:
    Matrix() = default;
    Matrix(int rows, int cols) : data_(mzd_init(rows, cols)) {}
    ~Matrix() { reset(); }
    Matrix(const Matrix&) = delete;
    Matrix& operator=(const Matrix&) = delete;
    Matrix(Matrix&& other) noexcept { std::swap(data_, other.data_); }
    Matrix& operator=(Matrix&& other) noexcept {
        std::swap(data_, other.data_);
        return *this;
    }
    mzd_t* get() const { return data_; }

private:
    void reset() {
        if (data_ != nullptr) {
            mzd_free(data_);
        }
    }
    mzd_t* data_ = nullptr;
};

struct Job {
    Matrix a, b, c;
    bool parallel = false;  // by the routine for several threads
};

double time_of(const Job& job, long calls, bool parallel) {
    const auto start = std::chrono::steady_clock::now();
    for (long call = 0; call < calls; ++call) {
#if __M4RI_HAVE_OPENMP
        if (parallel) {
            mzd_mul_mp(job.c.get(), job.a.get(), job.b.get(), 0);
            continue;
        }
#endif
        mzd_mul(job.c.get(), job.a.get(), job.b.get(), 0);
    }
    static_cast<void>(parallel);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Does its routine for several threads take less time than the other one?
bool is_faster_in_parallel(const Job& job) {
    time_of(job, 1, false);  // its tables
    time_of(job, 1, true);
    return time_of(job, 1, true) < time_of(job, 1, false);
}

Job random_job(int m, int k, int n) {
    Job job{Matrix(m, k), Matrix(k, n), Matrix(m, n)};
    mzd_randomize(job.a.get());
    mzd_randomize(job.b.get());
    return job;
}

Job prepared(int m, int k, int n, int threads) {
#if defined(_OPENMP)
    omp_set_num_threads(threads);
#endif
    Job job = random_job(m, k, n);
    if (__M4RI_HAVE_OPENMP && threads > 1) {
        // Four products of side 65536 would take minutes; the faster one is the same there.
        constexpr int kLongestTrial = 16384;
        job.parallel = std::max({m, k, n}) > kLongestTrial
                           ? is_faster_in_parallel(random_job(std::min(m, kLongestTrial), std::min(k, kLongestTrial),
                                                              std::min(n, kLongestTrial)))
                           : is_faster_in_parallel(job);
    }
    return job;
}

/// The next number of a header; lines from a '#' on are comments, and headers may be padded by one.
int next_number(std::ifstream& file) {
    while ((file >> std::ws).peek() == '#') {
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    int number = 0;
    file >> number;
    return number;
}

Matrix read_pbm(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string magic;
    file >> magic;
    const int cols = next_number(file), rows = next_number(file);
    file.get();
    Matrix matrix(rows, cols);
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < cols; j += 8) {
            const int byte = file.get();
            for (int bit = 0; bit < 8 && j + bit < cols; ++bit) {
                mzd_write_bit(matrix.get(), i, j + bit, (byte >> (7 - bit)) & 1);
            }
        }
    }
    return matrix;
}

void write_pbm(const std::string& path, const Matrix& matrix) {
    std::ofstream file(path, std::ios::binary);
    const int rows = static_cast<int>(matrix.get()->nrows), cols = static_cast<int>(matrix.get()->ncols);
    file << "P4\n" << cols << " " << rows << "\n";
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < cols; j += 8) {
            int byte = 0;
            for (int bit = 0; bit < 8 && j + bit < cols; ++bit) {
                byte |= mzd_read_bit(matrix.get(), i, j + bit) << (7 - bit);
            }
            file.put(static_cast<char>(byte));
        }
    }
}

}  // namespace

int main() {
    Job job;
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string verb;
        words >> verb;
        if (verb == "prepare") {
            int m = 0, k = 0, n = 0, threads = 1;
            words >> m >> k >> n >> threads;
            job = prepared(m, k, n, threads);
            std::printf("ready\n");
        } else if (verb == "run") {
            long calls = 1;
            words >> calls;
            std::printf("%.9e\n", time_of(job, calls, job.parallel));
        } else if (verb == "product") {
            std::string a, b, c;
            words >> a >> b >> c;
            const Matrix left = read_pbm(a), right = read_pbm(b);
            Matrix product(static_cast<int>(left.get()->nrows), static_cast<int>(right.get()->ncols));
            mzd_mul(product.get(), left.get(), right.get(), 0);
            write_pbm(c, product);
            std::printf("done\n");
        } else {
            std::printf("unknown\n");
        }
        std::fflush(stdout);
    }
    return 0;
}
