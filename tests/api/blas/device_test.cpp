// HEPTAD_DEVICE=cuda: large products of host matrices go to the device and back. Before a BLAS of plain loops, which
// must not be called; the data are small integers, of which every result is exact.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>
#include <vector>

#include "api/blas/made_up_blas.hpp"
#include "citizen/child.hpp"

namespace {

constexpr int kSize = 4096;

bool has_device() {
    return std::filesystem::exists("/dev/nvidiactl");
}

void gemm(const float* a, const float* b, float* c) {
    const float one = 1, zero = 0;
    sgemm_("N", "T", &kSize, &kSize, &kSize, &one, a, &kSize, b, &kSize, &zero, c, &kSize, 1, 1);
}
void gemm(const double* a, const double* b, double* c) {
    const double one = 1, zero = 0;
    dgemm_("N", "T", &kSize, &kSize, &kSize, &one, a, &kSize, b, &kSize, &zero, c, &kSize, 1, 1);
}

/// 0: right, and on the device as the log says.
template <class T>
int multiply_on_device() {
    constexpr std::size_t side = kSize;
    std::vector<T> a(side * side), b(side * side), c(side * side, T(-1));
    std::mt19937 random(1);
    for (std::vector<T>* matrix : {&a, &b}) {
        for (T& value : *matrix) {
            value = static_cast<T>(static_cast<int>(random() % 7) - 3);
        }
    }
    gemm(a.data(), b.data(), c.data());
    if (made_up_calls.sgemm + made_up_calls.dgemm != 2) {  // for the log the library is timed, by two small products
        return 1;
    }
    // Rows 0, 97, ... of A B^T, entry by entry.
    for (std::size_t i = 0; i < side; i += 97) {
        std::vector<double> row(side);
        for (std::size_t p = 0; p < side; ++p) {
            const auto left = static_cast<double>(a[p * side + i]);
            for (std::size_t j = 0; j < side; ++j) {
                row[j] += left * static_cast<double>(b[p * side + j]);
            }
        }
        for (std::size_t j = 0; j < side; ++j) {
            if (static_cast<double>(c[j * side + i]) != row[j]) {
                return 2;
            }
        }
    }
    return 0;
}

template <class T>
void expect_on_device() {
    if (!has_device()) {
        GTEST_SKIP() << "there is no NVIDIA device";
    }
    const auto file = std::filesystem::temp_directory_path() / ("heptad_device_log_" + std::to_string(getpid()));
    // In a process of its own: settings are read at the first call, and the log is written at exit.
    EXPECT_EQ(heptad::citizen::in_child([&] {
                  setenv("HEPTAD_DEVICE", "cuda", 1);
                  setenv("HEPTAD_LOG", file.c_str(), 1);
                  made_up_calls.threads = 1;
                  return multiply_on_device<T>();
              }),
              "exit 0");
    std::ostringstream said;
    said << std::ifstream(file).rdbuf();
    std::filesystem::remove(file);
    // By residues or with levels, as its figures say; in any case with a leaf that has a name.
    static const std::regex line(
        "gemm_ 4096x4096x4096: 1 call, cuda( arithmetic=residues:[0-9]+)? levels=[a-z0-9,-]+ "
        "leaf=(cublas|heptad)[a-z0-9-]*, ");
    EXPECT_TRUE(std::regex_search(said.str(), line)) << said.str();
}

}  // namespace

TEST(device, an_sgemm_of_host_matrices_is_made_on_the_device_and_exact) {
    expect_on_device<float>();
}

TEST(device, a_dgemm_of_host_matrices_is_made_on_the_device_and_exact) {
    expect_on_device<double>();
}
