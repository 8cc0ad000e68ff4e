// Complex matrices as real ones. A complex product c = a b is the real product C = A B of
//
//   A  m x 2k    the rows of a as they lie in memory: real and imaginary parts in turns
//   B  2k x 2n   two rows for each one of b: (re b, im b) and i times that, (-im b, re b), both interleaved alike
//   C  m x 2n    the rows of c as they lie in memory
//
// so whatever multiplies, checks or bounds real matrices does so for complex ones.
#pragma once

#include <complex>
#include <vector>

#include "base/types.hpp"
#include "base/view.hpp"

namespace heptad {

class ThreadPool;

/// Calls action.template operator()<T>() with the type of real and imaginary parts.
template <class Action>
decltype(auto) with_part_type(Type complex, Action&& action) {
    return complex == Type::c64 ? action.template operator()<float>() : action.template operator()<double>();
}

/// The transpose, conjugated where the view is.
inline ConstView turned(const ConstView& v) {
    ConstView result = transposed(v);
    result.conjugate = v.conjugate;
    return result;
}

/// As it is, or the conjugate of what lies there.
inline ConstView conjugated(ConstView v, bool conjugate) {
    v.conjugate = conjugate;
    return v;
}

/// Real or imaginary parts where they are, whatever the view says of conjugates.
inline View part_of(const View& v, bool imaginary) {
    const Type part = part_type(v.type);
    return {static_cast<std::byte*>(v.data) + (imaginary ? element_bytes(part) : 0),
            part,
            v.rows,
            v.cols,
            2 * v.row_stride,
            2 * v.col_stride};
}
inline ConstView part_of(const ConstView& v, bool imaginary) {
    return part_of(View(const_cast<void*>(v.data), v.type, v.rows, v.cols, v.row_stride, v.col_stride), imaginary);
}

/// Both; real matrices are their only part.
template <class AnyOrConst>
std::vector<AnyOrConst> parts_of(const AnyOrConst& v) {
    return is_complex(v.type) ? std::vector{part_of(v, false), part_of(v, true)} : std::vector{v};
}

/// The rows as they lie in memory; elements of a row lie side by side.
inline View rows_as_reals(const View& v) {
    return {v.data, part_type(v.type), v.rows, 2 * v.cols, 2 * v.row_stride, 1};
}
inline ConstView rows_as_reals(const ConstView& v) {
    return {v.data, part_type(v.type), v.rows, 2 * v.cols, 2 * v.row_stride, 1};
}

/// The same of columns that lie side by side, where rows do not. Real matrices stay what they are.
inline View lines_as_reals(const View& v, bool by_rows) {
    return !is_complex(v.type) ? v : by_rows ? rows_as_reals(v) : transposed(rows_as_reals(transposed(v)));
}
inline ConstView lines_as_reals(const ConstView& v, bool by_rows) {
    return lines_as_reals(View(const_cast<void*>(v.data), v.type, v.rows, v.cols, v.row_stride, v.col_stride), by_rows);
}

/// Dense, by rows, as stored: conjugates are not taken. Each element times the factor.
void copy_rows(const ConstView& from, void* to, ThreadPool& pool, const std::complex<double>& factor = 1);

/// B of the head of this file for b, conjugated where the view is: 4 k n numbers, dense, by rows. For the conjugate of
/// a, whose rows stay as they lie, the imaginary rows have the other sign. Each element of b times the factor.
void expand_right(const ConstView& b, bool left_is_conjugate, void* to, ThreadPool& pool,
                  const std::complex<double>& factor = 1);

}  // namespace heptad
