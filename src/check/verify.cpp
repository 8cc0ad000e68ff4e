#include "check/verify.hpp"

#include <cmath>
#include <random>

#include "base/fail_if.hpp"
#include "base/types.hpp"
#include "check/verify_kinds.hpp"

namespace heptad {
namespace {

void require_shapes(const ConstView& a, const ConstView& b, const ConstView& c, const VerifyOptions& options) {
    fail_if(a.rows < 0 || a.cols < 0 || b.cols < 0 || a.cols != b.rows || c.rows != a.rows || c.cols != b.cols,
            ErrorCode::input, "C of {} x {} cannot be the product of A, {} x {}, and B, {} x {}; give matching shapes",
            c.rows, c.cols, a.rows, a.cols, b.rows, b.cols);
    fail_if(a.type != b.type || a.type != c.type, ErrorCode::input,
            "A, B and C have types {}, {} and {}; give matrices of one type", type_name(a.type), type_name(b.type),
            type_name(c.type));
    if (!options.adds()) {
        return;
    }
    fail_if(!options.c0, ErrorCode::usage,
            "beta is {}, so the matrix that it multiplied is needed to verify C; give c0", options.beta);
    if (options.c0->rows != c.rows || options.c0->cols != c.cols || options.c0->type != c.type) {
        fail(ErrorCode::input, "C0 is {} x {} of {} and C is {} x {} of {}; give matching ones", options.c0->rows,
             options.c0->cols, type_name(options.c0->type), c.rows, c.cols, type_name(c.type));
    }
}

void require_options(Type type, const VerifyOptions& options) {
    fail_if((options.alpha_imaginary != 0 || options.beta_imaginary != 0) && !is_complex(type), ErrorCode::usage,
            "complex factors are for matrices of c64 and c128, not of {}", type_name(type));
    for (const double scalar : {options.alpha, options.beta, options.alpha_imaginary, options.beta_imaginary}) {
        fail_if(!std::isfinite(scalar), ErrorCode::usage,
                "a product with alpha or beta = {} cannot be verified; give finite ones", scalar);
        fail_if((is_integer(type) || type == Type::gf2) && scalar != std::trunc(scalar), ErrorCode::usage,
                "alpha or beta = {} is not an element of {}; give integers", scalar, type_name(type));
    }
    fail_if(!(options.by.planned_growth == 0 || options.by.planned_growth >= 1), ErrorCode::usage,
            "an expected error growth of {} is not possible; give 1 or more, or 0 if it is not known",
            options.by.planned_growth);
    fail_if(options.rounds < 1 || options.rounds > 64, ErrorCode::usage, "{} rounds are not possible; choose 1 to 64",
            options.rounds);
    fail_if(options.sampled_rows < 0, ErrorCode::usage, "{} rows cannot be sampled; choose 0 (automatic) or more",
            options.sampled_rows);
}

}  // namespace

std::uint64_t check::seed_from_system() {
    std::random_device device;
    return static_cast<std::uint64_t>(device()) << 32 | device();
}

void check::VerifyProblem::stop_if_cancelled() const {
    fail_if(options.cancel.cancelled(), ErrorCode::cancelled, "cancelled while a product of {} x {} x {} was verified",
            a.rows, a.cols, b.cols);
}

VerifyResult verify(const ConstView& a, const ConstView& b, const ConstView& c, const VerifyOptions& options) {
    require_shapes(a, b, c, options);
    require_options(a.type, options);
    const check::VerifyProblem problem{a,
                                       b,
                                       c,
                                       options,
                                       options.seed ? *options.seed : check::seed_from_system(),
                                       shared_pool(threads_or_default(options.threads))};
    VerifyResult result = is_complex(a.type)        ? check::verify_complex(problem)
                          : is_float(a.type)        ? check::verify_float(problem)
                          : a.type == Type::boolean ? check::verify_bool(problem)
                                                    : check::verify_ring(problem);
    result.seed = problem.seed;
    return result;
}

}  // namespace heptad
