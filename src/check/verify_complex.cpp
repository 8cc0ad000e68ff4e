// Complex products, checked as the real ones they are (base/complex_as_real.hpp).
#include <cmath>
#include <complex>
#include <optional>
#include <utility>

#include "base/complex_as_real.hpp"
#include "base/matrix.hpp"
#include "check/verify_kinds.hpp"

namespace heptad::check {
namespace {

/// The rows of a complex matrix as real numbers: where they lie, or copied.
class RealRows {
public:
    RealRows(const ConstView& v, ThreadPool& pool, const std::complex<double>& factor = 1) : view_(rows_as_reals(v)) {
        if ((v.col_stride != 1 || factor != 1.0) && v.rows > 0 && v.cols > 0) {
            copy_ = Matrix(part_type(v.type), v.rows, 2 * v.cols);
            copy_rows(v, copy_.data(), pool, factor);
            view_ = std::as_const(copy_).view();
        }
    }
    const ConstView& view() const { return view_; }

private:
    Matrix copy_;
    ConstView view_;
};

/// factor = real * rest. A complex factor has a rest of modulus 1/4 to 1/2, which B or C0 is multiplied with first: no
/// element overflows, and each rounds once, which is little beside the errors that a product is allowed.
struct SplitFactor {
    double real = 1;
    std::complex<double> rest = 1;
    SplitFactor(double re, double im) : real(re) {
        if (im != 0) {
            const std::complex<double> factor(re, im);
            real = std::exp2(std::ilogb(std::abs(factor)) + 2);
            rest = factor / real;
        }
    }
};

}  // namespace

VerifyResult verify_complex(const VerifyProblem& problem) {
    ThreadPool& pool = problem.pool;
    const SplitFactor alpha(problem.options.alpha, problem.options.alpha_imaginary);
    const SplitFactor beta(problem.options.beta, problem.options.beta_imaginary);
    Matrix right(part_type(problem.b.type), 2 * problem.b.rows, 2 * problem.b.cols);
    if (problem.uses_product()) {
        expand_right(problem.b, problem.a.conjugate, right.data(), pool, alpha.rest);
    } else {
        right.clear();
    }
    VerifyOptions options = problem.options;
    options.seed = problem.seed;
    options.set_factors(alpha.real, beta.real);
    std::optional<RealRows> c0;
    if (problem.uses_c0()) {
        options.c0 = c0.emplace(*problem.options.c0, pool, beta.rest).view();
    }
    const RealRows a(problem.a, pool), c(problem.c, pool);
    VerifyResult result = verify(a.view(), std::as_const(right).view(), c.view(), options);
    if (result.bad_col >= 0) {
        result.explanation += " (columns counted as real and imaginary parts in turns)";
    }
    result.bad_col = result.bad_col >= 0 ? result.bad_col / 2 : result.bad_col;
    return result;
}

}  // namespace heptad::check
