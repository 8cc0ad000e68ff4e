// Complex products from file to file: small integers, so that every way and every cut gives the same bits as in memory.
#include <gtest/gtest.h>

#include "base/complex_as_real.hpp"
#include "product/file/file_product_fixture.hpp"

namespace heptad {
namespace {

class ComplexFiles : public FileProductTest {
protected:
    /// The request with these factors and conjugates, and what it gives in memory.
    void set(FileProductRequest& request, const Case& c, Factor alpha, Factor beta, bool conjugate_a,
             bool conjugate_b) {
        request.alpha = alpha;
        request.beta = beta;
        request.conjugate_a = conjugate_a;
        request.conjugate_b = conjugate_b;
        const Matrix a = integers(c.type, c.m, c.k, 1), b = integers(c.type, c.k, c.n, 2);
        Matrix expected = integers(c.type, c.m, c.n, 3);
        multiply_in_memory(alpha, conjugated(a.view(), conjugate_a), conjugated(b.view(), conjugate_b), beta,
                           expected.view(), {});
        expected_ = bytes_of(expected.view());
    }
};

constexpr Case kTiled{.m = 150, .k = 110, .n = 130, .type = Type::c64, .memory_bytes = 300 << 10};

TEST_F(ComplexFiles, layouts_factors_and_conjugates_give_the_bits_of_memory) {
    int round = 0;
    for (const Type type : {Type::c64, Type::c128}) {
        for (const int layout : {0, 1, 2, 3}) {
            Case c = kTiled;
            c.type = type;
            c.memory_bytes *= type == Type::c64 ? 1 : 2;
            c.a_fortran = c.transpose_b = layout % 2 == 1;
            c.b_fortran = c.c0_fortran = c.transpose_a = layout >= 2;
            c.adds = true;
            FileProductRequest request = prepare(c);
            request.verify = true;
            set(request, c, round % 3 == 0 ? Factor(2) : Factor(1, -2), round % 2 == 0 ? Factor(0, 1) : Factor(-1),
                round % 2 == 1, layout >= 2);
            const FileProductReport report = multiply(request);
            EXPECT_GT(report.tiles, 1);
            EXPECT_TRUE(report.verified && report.verified->passed());
            EXPECT_NE(report.plan.complex, ComplexWay::none);
            EXPECT_EQ(bytes_of(read_npy(request.output).view()), expected_) << "round " << round;
            ++round;
        }
    }
}

TEST_F(ComplexFiles, an_interrupted_run_is_resumed_with_the_same_factors_and_conjugates_only) {
    Case c = kTiled;
    c.adds = true;
    FileProductRequest request = prepare(c);
    set(request, c, {1, 2}, {0, -1}, true, false);
    request.verify = true;
    interrupt_after_writes(request, 3);
    for (const auto& change :
         std::initializer_list<void (*)(FileProductRequest&)>{[](FileProductRequest& r) {
                                                                  r.alpha = {1, -2};
                                                              },
                                                              [](FileProductRequest& r) {
                                                                  r.beta = {0, 1};
                                                              },
                                                              [](FileProductRequest& r) { r.conjugate_a = false; },
                                                              [](FileProductRequest& r) { r.conjugate_b = true; }}) {
        FileProductRequest other = request;
        change(other);
        EXPECT_THROW(multiply(other), Error);
    }
    const FileProductReport report = multiply(request);
    EXPECT_GT(report.resumed_tiles, 0);
    EXPECT_EQ(bytes_of(read_npy(request.output).view()), expected_);
}

TEST_F(ComplexFiles, a_wrong_real_or_imaginary_part_is_found) {
    for (const Type type : {Type::c64, Type::c128}) {
        for (const bool imaginary : {false, true}) {
            Case c = kTiled;
            c.type = type;
            FileProductRequest request = prepare(c);
            request.verify = true;
            request.conjugate_b = imaginary;
            StageProducts wrong = processor_stage({}, 2);
            wrong.multiply = [&, right = wrong.multiply](Factor alpha, const ConstView& a, const ConstView& b,
                                                         Factor beta, const View& out, const ProductPlan& plan,
                                                         void* workspace, std::int64_t bytes) {
                const RunReport done = right(alpha, a, b, beta, out, plan, workspace, bytes);
                std::byte* const part = element_pointer(part_of(out, imaginary), out.rows / 2, out.cols / 3);
                part[element_bytes(part_type(type)) - 1] ^= std::byte{0x40};  // an exponent
                return done;
            };
            StageTrace trace(false);
            EXPECT_THROW(multiply_files(request, wrong, {}, trace), Error);
            EXPECT_FALSE(std::filesystem::exists(request.output));
        }
    }
}

TEST_F(ComplexFiles, without_an_inner_dimension_c0_is_scaled) {
    Case c{.m = 30, .k = 0, .n = 20, .type = Type::c128, .memory_bytes = 100 << 10};
    c.adds = true;
    FileProductRequest request = prepare(c);
    set(request, c, 1, {2, 3}, false, false);
    multiply(request);
    EXPECT_EQ(bytes_of(read_npy(request.output).view()), expected_);
}

}  // namespace
}  // namespace heptad
