// HEPTAD_DEVICE=cuda: large products of host matrices go to the device and back. Before a BLAS of plain loops, which
// must not be called; the data are small integers, of which every result is exact.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "api/blas/made_up_blas.hpp"
#include "citizen/child.hpp"

namespace {

constexpr int kSize = 4096;

/// Asked without CUDA, which children could not use afterwards.
#define HEPTAD_NEEDS_NVIDIA()                         \
    if (!std::filesystem::exists("/dev/nvidiactl")) { \
        GTEST_SKIP() << "there is no NVIDIA device";  \
    }                                                 \
    static_assert(true)

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

/// What the log says after this was done by a process of its own: settings are read at the first call, and the log is
/// written at exit.
std::string logged(const std::function<int()>& work) {
    const auto file = std::filesystem::temp_directory_path() / ("heptad_device_log_" + std::to_string(getpid()));
    EXPECT_EQ(heptad::citizen::in_child([&] {
                  setenv("HEPTAD_DEVICE", "cuda", 1);
                  setenv("HEPTAD_LOG", file.c_str(), 1);
                  made_up_calls.threads = 1;
                  return work();
              }),
              "exit 0");
    std::ostringstream said;
    said << std::ifstream(file).rdbuf();
    std::filesystem::remove(file);
    return said.str();
}

/// By residues or with levels, as its figures say; in any case with a leaf that has a name.
bool says_cuda(const std::string& said, const std::string& entry) {
    const std::regex line(entry +
                          " 4096x4096x4096: 1 call, cuda( arithmetic=residues:[0-9]+)? levels=[a-z0-9,-]+ "
                          "leaf=(cublas|heptad)[a-z0-9-]*, ");
    return std::regex_search(said, line);
}

}  // namespace

TEST(device, an_sgemm_of_host_matrices_is_made_on_the_device_and_exact) {
    HEPTAD_NEEDS_NVIDIA();
    const std::string said = logged(multiply_on_device<float>);
    EXPECT_TRUE(says_cuda(said, "sgemm_")) << said;
}

TEST(device, a_dgemm_of_host_matrices_is_made_on_the_device_and_exact) {
    HEPTAD_NEEDS_NVIDIA();
    const std::string said = logged(multiply_on_device<double>);
    EXPECT_TRUE(says_cuda(said, "dgemm_")) << said;
}

TEST(device, a_child_of_a_process_that_has_used_it_multiplies_on_the_processor_and_the_log_says_why) {
    HEPTAD_NEEDS_NVIDIA();
    const std::string said = logged([] {
        const int here = multiply_on_device<float>();
        return heptad::citizen::in_child(multiply_on_device<float>) == "exit 0" ? here : 3;
    });
    // The child ends first.
    const auto of_parent = said.find("sgemm_ 4096x4096x4096: 1 call, cuda");
    const auto of_child = said.find("sgemm_ 4096x4096x4096: 1 call, cpu");
    EXPECT_LT(of_child, of_parent) << said;
    EXPECT_NE(of_parent, std::string::npos) << said;
    EXPECT_EQ(said.find("heptad: HEPTAD_DEVICE=cuda has no effect: CUDA cannot be used in the child of a fork"), 0U)
        << said;
}
