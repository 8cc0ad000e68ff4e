// A machine without any BLAS, or with a broken one: products go on by our own kernel.
#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/cpu_info.hpp"
#include "kernels/cpu/vendor_blas.hpp"
#include "kernels/guarded_matrix.hpp"
#include "kernels/reference/reference_backend.hpp"

namespace heptad::cpu {
namespace {

/// Libraries are looked for once per process, so the environment is made before the first test.
const bool environment_is_set = [] {
    setenv("HEPTAD_OPENBLAS", "none", 1);
    setenv("HEPTAD_BLIS", "/nonexistent/libblis.so.4", 1);
    setenv("HEPTAD_MKL", "NONE", 1);
    return true;
}();

TEST(vendor_blas_absent, no_library_is_found_and_reports_say_why) {
    ASSERT_TRUE(environment_is_set);
    for (const Vendor vendor : {Vendor::openblas, Vendor::blis, Vendor::mkl}) {
        EXPECT_EQ(vendor_library(vendor), nullptr) << vendor_name(vendor);
    }
    const std::vector<VendorReport> reports = vendor_reports();
    EXPECT_NE(reports[0].problem.find("HEPTAD_OPENBLAS"), std::string::npos);
    EXPECT_NE(reports[1].problem.find("/nonexistent/libblis.so.4"), std::string::npos);
    EXPECT_NE(describe_machine_text().find("HEPTAD_MKL"), std::string::npos);
}

TEST(vendor_blas_absent, products_go_on_by_our_own_kernel) {
    CpuBackend backend(shared_pool(3));
    std::mt19937 random(1);
    for (const Type type : {Type::f32, Type::f64, Type::i32}) {
        EXPECT_EQ(backend.leaves(type), std::vector<std::string>{"heptad"});
        for (const std::int64_t side : {1, 20, 333}) {
            test::GuardedMatrix a(type, side, 40, test::Layout::rows), b(type, 40, side, test::Layout::columns);
            test::GuardedMatrix c(type, side, side, test::Layout::rows), expected = c;
            a.fill_random(random);
            b.fill_random(random);
            const Product product{1, a.view(), b.view(), 0, c.view()};
            const Product reference{1, a.view(), b.view(), 0, expected.view()};
            backend.multiply({&product, 1}, "");
            ReferenceBackend().multiply({&reference, 1}, "");
            EXPECT_TRUE(c.equals(expected)) << type_name(type) << " " << side;
        }
    }
}

TEST(vendor_blas_absent, vendor_leaf_is_a_usage_error_that_names_the_way_out) {
    try {
        CpuBackend::leaf_id("openblas");
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        EXPECT_NE(std::string(error.what()).find("'heptad' is always there"), std::string::npos);
    }
}

}  // namespace
}  // namespace heptad::cpu
