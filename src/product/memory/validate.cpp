#include "product/memory/validate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "base/types.hpp"
#include "base/workspace.hpp"
#include "product/memory/packed_bits.hpp"

namespace heptad {
namespace {

[[noreturn]] void refuse_view(const char* name, const ConstView& v, const char* why) {
    fail(ErrorCode::input, "{} ({} x {}, strides {} and {}) {}", name, v.rows, v.cols, v.row_stride, v.col_stride, why);
}

/// Addresses of a view fit in 64 bits.
void validate_view(const char* name, const ConstView& v) {
    if (v.rows < 0 || v.cols < 0) {
        refuse_view(name, v, "has a negative size");
    }
    if (v.rows == 0 || v.cols == 0) {
        return;
    }
    if (v.data == nullptr) {
        refuse_view(name, v, "has no data");
    }
    // Lowest and highest element, each by itself: a negative and a positive reach must not hide one another.
    std::int64_t row_reach = 0;
    std::int64_t col_reach = 0;
    bool overflows = __builtin_mul_overflow(v.rows - 1, v.row_stride, &row_reach) ||
                     __builtin_mul_overflow(v.cols - 1, v.col_stride, &col_reach);
    if (!overflows) {
        const auto bytes = static_cast<std::int64_t>(element_bytes(v.type));
        std::int64_t lowest = 0;
        std::int64_t highest = 0;
        overflows = __builtin_add_overflow(std::min<std::int64_t>(row_reach, 0), std::min<std::int64_t>(col_reach, 0),
                                           &lowest) ||
                    __builtin_add_overflow(std::max<std::int64_t>(row_reach, 0), std::max<std::int64_t>(col_reach, 0),
                                           &highest) ||
                    __builtin_add_overflow(highest, 1, &highest) || __builtin_mul_overflow(lowest, bytes, &lowest) ||
                    __builtin_mul_overflow(highest, bytes, &highest);
        const auto base = reinterpret_cast<std::uintptr_t>(v.data);
        overflows = overflows || base < std::uintptr_t{0} - static_cast<std::uintptr_t>(lowest) ||
                    base + static_cast<std::uintptr_t>(highest) < base;
    }
    if (overflows) {
        refuse_view(name, v, "reaches beyond 64-bit addresses");
    }
}

/// Has every element a place of its own?
bool elements_lie_apart(const ConstView& c) {
    const bool one_row = c.rows <= 1;
    const bool one_col = c.cols <= 1;
    // The stride of a single row or column is never used, and may be anything.
    const std::int64_t row = one_row ? 1 : std::llabs(c.row_stride);
    const std::int64_t col = one_col ? 1 : std::llabs(c.col_stride);
    const bool rows_apart =
        one_row || (row > 0 && row >= checked_mul(one_col ? 1 : c.cols, one_col ? 1 : col) && (one_col || col > 0));
    const bool cols_apart =
        one_col || (col > 0 && col >= checked_mul(one_row ? 1 : c.rows, one_row ? 1 : row) && (one_row || row > 0));
    return (rows_apart && (one_col || col > 0)) || (cols_apart && (one_row || row > 0));
}

void validate_output(const View& c) {
    if (!elements_lie_apart(c)) {
        refuse_view("C", c, "stores several elements in one place; give it strides that keep them apart");
    }
}

void validate_scalar(const char* name, double value, Type type) {
    switch (type) {
        case Type::i32:
        case Type::gf2:
            fail_if(!(value == std::trunc(value)) || !(std::abs(value) <= 4294967295.0), ErrorCode::usage,
                    "{} must be an integer of 32 bits for {}, not {}", name, type_name(type), value);
            break;
        case Type::i64:
            fail_if(!(value == std::trunc(value)) || !(std::abs(value) < 0x1p64), ErrorCode::usage,
                    "{} must be an integer of 64 bits for i64, not {}", name, value);
            break;
        case Type::boolean:
            fail_if(value != 0 && value != 1, ErrorCode::usage, "{} must be 0 or 1 for bool, not {}", name, value);
            break;
        default:
            break;
    }
}

/// Rows of `count` elements that start `stride` apart: the same-lattice test described in may_overlap.
bool lattices_meet(std::int64_t difference, std::int64_t stride, const ConstView& x, const ConstView& y) {
    std::int64_t whole = difference / stride;
    std::int64_t rest = difference % stride;
    if (rest < 0) {
        rest += stride;
        whole -= 1;
    }
    const auto rows_meet = [&](std::int64_t shift) { return shift > -y.rows && shift < x.rows; };
    return (rest < x.cols && rows_meet(whole)) || (stride - rest < y.cols && rows_meet(whole + 1));
}

}  // namespace

bool is_plainly_valid(const ConstView& a, const ConstView& b, const View& c) {
    const bool shapes = a.type == b.type && a.type == c.type && is_float(a.type) && !is_complex(a.type) &&
                        a.cols == b.rows && c.rows == a.rows && c.cols == b.cols;
    // Sizes and strides so small that no address computed from them can overflow.
    constexpr std::int64_t kModerate = std::int64_t{1} << 24;
    const auto moderate = [](const ConstView& v) {
        return v.data != nullptr && v.rows > 0 && v.cols > 0 && v.rows < kModerate && v.cols < kModerate &&
               ((v.col_stride == 1 && v.row_stride >= v.cols && v.row_stride < kModerate) ||
                (v.row_stride == 1 && v.col_stride >= v.rows && v.col_stride < kModerate));
    };
    if (!shapes || !moderate(a) || !moderate(b) || !moderate(c)) {
        return false;
    }
    const auto bytes = static_cast<std::int64_t>(element_bytes(a.type));
    const auto begin = [](const ConstView& v) { return reinterpret_cast<std::uintptr_t>(v.data); };
    const auto end = [&](const ConstView& v) {
        const std::int64_t last = (v.rows - 1) * v.row_stride + (v.cols - 1) * v.col_stride;
        return begin(v) + static_cast<std::uintptr_t>((last + 1) * bytes);
    };
    return (end(a) <= begin(c) || end(c) <= begin(a)) && (end(b) <= begin(c) || end(c) <= begin(b));
}

bool may_overlap(const ConstView& x, const ConstView& y) {
    const ByteRange range_x = byte_range(x);
    const ByteRange range_y = byte_range(y);
    if (range_x.begin == range_x.end || range_y.begin == range_y.end || range_x.end <= range_y.begin ||
        range_y.end <= range_x.begin) {
        return false;
    }
    // Two windows of one array: x(i, j) is y(i', j') when i * S + j = d + i' * S + j'.
    const auto bytes = static_cast<std::int64_t>(element_bytes(x.type));
    const auto distance =
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(y.data) - reinterpret_cast<std::uintptr_t>(x.data));
    if (x.type != y.type || x.row_stride != y.row_stride || x.col_stride != y.col_stride || distance % bytes != 0) {
        return true;
    }
    const std::int64_t unit = std::gcd(x.row_stride, x.col_stride);
    if (unit == 0) {
        return true;
    }
    const std::int64_t row_stride = x.row_stride / unit, col_stride = x.col_stride / unit, d = distance / bytes / unit;
    if (distance / bytes % unit != 0) {
        return false;  // interleaved, as the matrices of a stack by columns are
    }
    if (col_stride == 1 && row_stride >= x.cols && row_stride >= y.cols) {
        return lattices_meet(d, row_stride, x, y);
    }
    if (row_stride == 1 && col_stride >= x.rows && col_stride >= y.rows) {
        return lattices_meet(d, col_stride, transposed(x), transposed(y));
    }
    return true;
}

bool may_serve_as_scratch(const ConstView& a, const ConstView& b) {
    return elements_lie_apart(a) && elements_lie_apart(b) && !may_overlap(a, b);
}

void validate_factors(std::complex<double> alpha, std::complex<double> beta, Type type) {
    fail_if((alpha.imag() != 0 || beta.imag() != 0) && !is_complex(type), ErrorCode::usage,
            "complex factors are for matrices of c64 and c128, not of {}", type_name(type));
    validate_scalar("alpha", alpha.real(), type);
    validate_scalar("beta", beta.real(), type);
}

void validate_product(std::complex<double> alpha, const ConstView& a, const ConstView& b, std::complex<double> beta,
                      const View& c) {
    validate_factors(alpha, beta, c.type);
    fail_if(a.type != b.type || !is_result_type(a.type, c.type), ErrorCode::input,
            "A is {}, B is {} and C is {}; A and B have one element type, and C has it too (or f32, where that is bf16 "
            "or f16)",
            type_name(a.type), type_name(b.type), type_name(c.type));
    validate_view("A", a);
    validate_view("B", b);
    validate_view("C", c);
    fail_if(a.cols != b.rows, ErrorCode::input, "A is {} x {} and B is {} x {}: the inner sizes {} and {} differ",
            a.rows, a.cols, b.rows, b.cols, a.cols, b.rows);
    fail_if(c.rows != a.rows || c.cols != b.cols, ErrorCode::input, "C is {} x {} where A * B is {} x {}", c.rows,
            c.cols, a.rows, b.cols);
    if (c.rows == 0 || c.cols == 0) {
        return;
    }
    validate_output(c);
    if (may_overlap(a, c) || may_overlap(b, c)) {
        fail(ErrorCode::input, "C overlaps {}; give it memory of its own", may_overlap(a, c) ? "A" : "B");
    }
}

void validate_plan_of(const ProductPlan& plan, const ConstView& a, const ConstView& b, double beta) {
    fail_if(plan.m != a.rows || plan.k != a.cols || plan.n != b.cols || plan.type != a.type, ErrorCode::usage,
            "the plan is for {}x{}x{} {} and the product is {}x{}x{} {}", plan.m, plan.k, plan.n, type_name(plan.type),
            a.rows, a.cols, b.cols, type_name(a.type));
    fail_if(beta != 0 && !plan.accumulate, ErrorCode::usage,
            "the plan is for beta = 0 and beta is {}; plan with accumulate set", beta);
}

void validate_plan(const ProductPlan& plan, const ConstView& a, const ConstView& b, double beta, const View& c) {
    validate_plan_of(plan, a, b, beta);
    fail_if(c.type != plan.type && (!plan.levels.empty() || plan.padded), ErrorCode::usage,
            "products of {} into {} have no levels; plan with levels = 0", type_name(plan.type), type_name(c.type));
    fail_if(plan.overwrite_inputs && !may_serve_as_scratch(a, b), ErrorCode::input,
            "the plan overwrites A and B, which overlap here or store several elements in one place; plan without "
            "overwrite_inputs");
    check_plan_in_memory(plan);
}

void validate_workspace(const void* memory, std::int64_t bytes, const ConstView& a, const ConstView& b, const View& c) {
    require_workspace_apart(memory, bytes, byte_range(a), byte_range(b), byte_range(c));
}

}  // namespace heptad
