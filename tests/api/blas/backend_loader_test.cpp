// Loaders that take a BLAS by its symbols, as libblastrampoline (Julia) and FlexiBLAS do, given one library that has
// the drop-in and a BLAS as its dependencies, in this order (docs/drop-in.md). Neither of the two is in Debian 12, so
// this one probes the same symbols in the same way: dlopen() privately, dlsym() by handle, with each suffix.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace {

std::string file_of(void* symbol) {
    Dl_info info;
    return symbol != nullptr && dladdr(symbol, &info) != 0 ? info.dli_fname : "";
}

class backend_loader : public ::testing::Test {
protected:
    void SetUp() override {
        setenv("HEPTAD_MIN_SIZE", "16", 1);
        setenv("HEPTAD_LEVELS", "1", 1);
        handle_ = dlopen(HEPTAD_BACKEND, RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(handle_, nullptr) << dlerror();
    }
    void* handle_ = nullptr;
};

}  // namespace

TEST_F(backend_loader, symbols_that_tell_the_interface_are_the_librarys_and_products_are_ours) {
    // libblastrampoline: which suffix there is by isamax, the width of integers by calling it, how complex numbers are
    // returned by zdotc, how floats are by sdot. FlexiBLAS looks for the products themselves.
    std::string suffix = "none";
    for (const char* candidate : {"", "_", "64_", "_64_"}) {
        if (dlsym(handle_, (std::string("isamax") + candidate).c_str()) != nullptr) {
            suffix = candidate;
            break;
        }
    }
    ASSERT_EQ(suffix, "_");
    const auto isamax = reinterpret_cast<int (*)(const int*, const float*, const int*)>(dlsym(handle_, "isamax_"));
    const std::vector<float> values = {1, 2, 1};
    const int count = 3, step = 1;
    EXPECT_EQ(isamax(&count, values.data(), &step), 2);
    for (const char* name : {"isamax_", "zdotc_", "sdot_", "ddot_", "dsymm_", "dtrsm_", "xerbla_", "cblas_ddot"}) {
        EXPECT_EQ(file_of(dlsym(handle_, name)).find("heptad"), std::string::npos) << name;
        EXPECT_NE(dlsym(handle_, name), nullptr) << name;
    }
    for (const char* name : {"sgemm_", "dgemm_", "cgemm_", "zgemm_", "cblas_dgemm", "dsyrk_", "zherk_"}) {
        EXPECT_NE(file_of(dlsym(handle_, name)).find("libheptad_blas"), std::string::npos) << name;
    }
}

TEST_F(backend_loader, products_of_every_size_are_right) {
    using Gemm =
        void (*)(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
                 const double*, const int*, const double*, double*, const int*, std::size_t, std::size_t);
    const auto gemm = reinterpret_cast<Gemm>(dlsym(handle_, "dgemm_"));
    for (const int n : {1, 8, 16, 50}) {
        const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
        const std::vector<double> a(size, 2), b(size, 3);
        std::vector<double> c(size, 5);
        const double alpha = 1, beta = -1;
        gemm("N", "T", &n, &n, &n, &alpha, a.data(), &n, b.data(), &n, &beta, c.data(), &n, 1, 1);
        EXPECT_EQ(c, std::vector<double>(size, 6.0 * n - 5)) << n;
    }
}

TEST(prefixed, entries_with_names_of_their_own_stand_beside_a_blas) {
    setenv("HEPTAD_MIN_SIZE", "16", 1);
    void* const handle = dlopen(HEPTAD_PREFIXED, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();
    EXPECT_EQ(dlsym(handle, "dgemm_"), nullptr);
    using Gemm =
        void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
    const auto gemm = reinterpret_cast<Gemm>(dlsym(handle, "heptad_cblas_sgemm"));
    ASSERT_NE(gemm, nullptr);
    for (const int n : {3, 40}) {
        const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
        const std::vector<float> a(size, 2), b(size, 3);
        std::vector<float> c(size, 5);
        gemm(101, 111, 111, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
        EXPECT_EQ(c, std::vector<float>(size, 6.0F * static_cast<float>(n))) << n;
    }
}
