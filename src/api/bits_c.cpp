// The C interface of packed bit matrices: the C++ one behind statuses.
#include <heptad/heptad.h>

#include <heptad/bits.hpp>
#include <memory>

#include "api/c_shell.hpp"
#include "base/error.hpp"
#include "run/bits/bit_product.hpp"

using namespace heptad::c;

struct heptad_bit_matrix {
    heptad::BitMatrix matrix;
};

namespace {

/// Checked, because the simple operations trust their views.
heptad::ConstBitView view_of(const heptad_const_bits& x, const char* name) {
    const heptad::ConstBitView view{x.words, x.rows, x.cols, x.stride, x.offset};
    heptad::bits::require_view(view, name);
    return view;
}
heptad::BitView view_of(const heptad_bits& x, const char* name) {
    const heptad::BitView view{x.words, x.rows, x.cols, x.stride, x.offset};
    heptad::bits::require_view(view, name);
    return view;
}

heptad::bits::BitOptions bit_options_of(const heptad_options* options) {
    const heptad::Options given = options_of(options);
    return {given.algorithm, given.levels, given.leaf, given.device, given.host};
}

/// result = compute(operand), a matrix of the operand's shape that is made apart: a failure leaves the result as it
/// was, and both may be the same memory.
template <class Compute>
void replace(const heptad_const_bits& operand, const heptad_bits& result, const Compute& compute) {
    const heptad::ConstBitView from = view_of(operand, "the operand");
    const heptad::BitView to = view_of(result, "the result");
    if (from.rows != to.rows || from.cols != to.cols) {
        heptad::fail(heptad::ErrorCode::input, "the operand is {} x {} and the result {} x {}; they must be equal",
                     from.rows, from.cols, to.rows, to.cols);
    }
    heptad::bits::copy(compute(from), to);
}

}  // namespace

heptad_status heptad_bit_matrix_create(heptad_bit_matrix** matrix, int64_t rows, int64_t cols) {
    return guarded([&] {
        require(matrix, "matrix");
        *matrix = std::make_unique<heptad_bit_matrix>(heptad_bit_matrix{heptad::BitMatrix(rows, cols)}).release();
    });
}

void heptad_bit_matrix_destroy(heptad_bit_matrix* matrix) {
    delete matrix;
}

heptad_bits heptad_bit_matrix_view(heptad_bit_matrix* matrix) {
    if (matrix == nullptr) {
        return {};
    }
    const heptad::BitView view = matrix->matrix.view();
    return {view.words, view.rows, view.cols, view.stride, view.offset};
}

heptad_const_bits heptad_bit_matrix_const_view(const heptad_bit_matrix* matrix) {
    if (matrix == nullptr) {
        return {};
    }
    const heptad::ConstBitView view = matrix->matrix.view();
    return {view.words, view.rows, view.cols, view.stride, view.offset};
}

heptad_status heptad_bits_copy(heptad_const_bits from, heptad_bits to) {
    return guarded([&] { heptad::bits::copy(view_of(from, "from"), view_of(to, "to")); });
}

heptad_status heptad_bits_transpose(heptad_const_bits from, heptad_bits to) {
    return guarded([&] { heptad::bits::transpose(view_of(from, "from"), view_of(to, "to")); });
}

heptad_status heptad_bits_count_ones(heptad_const_bits a, int64_t* ones) {
    return guarded([&] {
        require(ones, "ones");
        *ones = heptad::bits::count_ones(view_of(a, "A"));
    });
}

heptad_status heptad_bits_multiply(heptad_type algebra, heptad_const_bits a, heptad_const_bits b, heptad_bits c,
                                   int accumulate, const heptad_options* options, const heptad_context* context) {
    return guarded([&] {
        const auto multiply = accumulate != 0 ? heptad::bits::multiply_add : heptad::bits::multiply;
        multiply(type_of(algebra), view_of(a, "A"), view_of(b, "B"), view_of(c, "C"), bit_options_of(options),
                 context_of(context));
    });
}

heptad_status heptad_bits_power(heptad_type algebra, heptad_const_bits a, int64_t exponent, heptad_bits power,
                                const heptad_options* options, const heptad_context* context) {
    return guarded([&] {
        replace(a, power, [&](const heptad::ConstBitView& from) {
            return heptad::bits::power(type_of(algebra), from, exponent, bit_options_of(options), context_of(context));
        });
    });
}

heptad_status heptad_bits_closure(heptad_const_bits graph, heptad_bits closure, const heptad_context* context) {
    return heptad_bits_closure_with(graph, closure, nullptr, context);
}

heptad_status heptad_bits_closure_with(heptad_const_bits graph, heptad_bits closure, const heptad_options* options,
                                       const heptad_context* context) {
    return guarded([&] {
        replace(graph, closure, [&](const heptad::ConstBitView& from) {
            return heptad::bits::transitive_closure(from, bit_options_of(options), context_of(context));
        });
    });
}
