// What a large call leaves of floating-point exceptions: the caller's own, as NumPy and gfortran's -ffpe-trap need it.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <vector>

#include "api/blas/made_up_blas.hpp"
#include "citizen/child.hpp"

namespace {

constexpr int kLoud = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW;  // NumPy tells of these
constexpr int kSide = 64;

using Square = std::vector<double>;

Square filled(double (*entry)(int row, int column)) {
    Square square;
    for (int i = 0; i < kSide * kSide; ++i) {
        square.push_back(entry(i % kSide, i / kSide));
    }
    return square;
}
const Square kPlain = filled([](int i, int j) { return (i * 7 + j * 3) % 9 - 4.5; });
const Square kIdentity = filled([](int i, int j) { return i == j ? 1.0 : 0.0; });
const Square kGraded =
    filled([](int i, int j) { return i == 7 ? 0 : std::ldexp((i * 7 + j * 3) % 9 - 4.5, i * 8 - 256); });
const Square kWithNan = filled([](int i, int j) { return i == j ? std::numeric_limits<double>::quiet_NaN() : 1; });
const Square kHuge = filled([](int, int) { return 1e200; });

/// By one thread, which is the calling one.
void multiply(const Square& a, const Square& b) {
    setenv("HEPTAD_MIN_SIZE", "16", 1);
    setenv("HEPTAD_LEVELS", "1", 1);
    made_up_calls.threads = 1;
    Square c(a.size());
    const double one = 1, zero = 0;
    dgemm_("N", "N", &kSide, &kSide, &kSide, &one, a.data(), &kSide, b.data(), &kSide, &zero, c.data(), &kSide, 1, 1);
}
void multiply_complex(const Square& a, const Square& b) {
    setenv("HEPTAD_MIN_SIZE", "16", 1);
    made_up_calls.threads = 1;
    const std::vector<std::complex<double>> left(a.begin(), a.end()), right(b.begin(), b.end());
    std::vector<std::complex<double>> c(a.size());
    const std::complex<double> one = 1, zero = 0;
    zgemm_("N", "N", &kSide, &kSide, &kSide, &one, left.data(), &kSide, right.data(), &kSide, &zero, c.data(), &kSide,
           1, 1);
}

int raised_by(void (*multiplied)(const Square&, const Square&), const Square& a, const Square& b, int before = 0) {
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(before);
    multiplied(a, b);
    const int raised = std::fetestexcept(kLoud);
    std::feclearexcept(FE_ALL_EXCEPT);
    return raised;
}

}  // namespace

TEST(float_exceptions, are_the_callers_after_a_product_that_is_ours) {
    for (const Square* a : {&kPlain, &kIdentity, &kGraded, &kWithNan}) {
        for (const Square* b : {&kPlain, &kIdentity, &kGraded}) {
            EXPECT_EQ(raised_by(multiply, *a, *b), 0);
            EXPECT_EQ(raised_by(multiply, *a, *b, FE_INVALID), FE_INVALID);
            EXPECT_EQ(raised_by(multiply_complex, *a, *b), 0);
        }
    }
    EXPECT_EQ(made_up_calls.dgemm + made_up_calls.zgemm, 0);
}

TEST(float_exceptions, a_result_that_overflows_is_told_as_a_library_tells_it) {
    EXPECT_EQ(raised_by(multiply, kHuge, kHuge), FE_OVERFLOW);
    EXPECT_EQ(raised_by(multiply_complex, kHuge, kHuge) & FE_OVERFLOW, FE_OVERFLOW);
}

TEST(float_exceptions, traps_of_the_program_do_not_meet_our_own_arithmetic) {
    constexpr int kTrapped = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW;
    EXPECT_EQ(heptad::citizen::in_child([] {
                  feenableexcept(kTrapped);
                  multiply(kWithNan, kIdentity);
                  multiply_complex(kWithNan, kIdentity);
                  return fegetexcept() == kTrapped ? 0 : 1;
              }),
              "exit 0");
}
