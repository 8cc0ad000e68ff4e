// Complex products, checked as the real ones they are (base/complex_as_real.hpp).
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
    RealRows(const ConstView& v, ThreadPool& pool) : view_(rows_as_reals(v)) {
        if (v.col_stride != 1 && v.rows > 0 && v.cols > 0) {
            copy_ = Matrix(part_type(v.type), v.rows, 2 * v.cols);
            copy_rows(v, copy_.data(), pool);
            view_ = std::as_const(copy_).view();
        }
    }
    const ConstView& view() const { return view_; }

private:
    Matrix copy_;
    ConstView view_;
};

}  // namespace

VerifyResult verify_complex(const VerifyProblem& problem) {
    ThreadPool& pool = problem.pool;
    Matrix right(part_type(problem.b.type), 2 * problem.b.rows, 2 * problem.b.cols);
    if (problem.uses_product()) {
        expand_right(problem.b, problem.a.conjugate, right.data(), pool);
    } else {
        right.clear();
    }
    VerifyOptions options = problem.options;
    options.seed = problem.seed;
    std::optional<RealRows> c0;
    if (problem.uses_c0()) {
        options.c0 = c0.emplace(*problem.options.c0, pool).view();
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
