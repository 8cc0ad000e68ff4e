// Complex numbers in the checks of windows: the real product of parts side by side,
//
//   [re C  im C] = [re A  im A] [ re B  im B]
//                               [-im B  re B],
//
// with random vectors X1 for the real parts of the columns and X2 for the imaginary ones. A factor alpha turns
// (Y1, Y2) = B X into (re alpha Y1 + im alpha Y2, re alpha Y2 - im alpha Y1), and beta does so with X itself for C0;
// the moduli are left to the residual. Real numbers have X1 and Y1 alone.
#pragma once

#include <complex>
#include <vector>

#include "base/complex_as_real.hpp"
#include "check/residual.hpp"

namespace heptad::check {

using Factor = std::complex<double>;

/// For real parts and, of complex numbers, for imaginary ones.
template <class T>
using PartLanes = std::vector<Lanes<T>>;

/// 1 where there is nothing to turn.
inline Factor direction_of(const Factor& factor) {
    return factor == Factor() ? Factor(1) : factor / std::abs(factor);
}

/// The real product that a complex one is.
inline JudgedProduct as_real(const JudgedProduct& product) {
    if (!is_complex(product.type)) {
        return product;
    }
    JudgedProduct real = product;
    real.alpha = std::abs(Factor(product.alpha, product.alpha_imaginary));
    real.beta = std::abs(Factor(product.beta, product.beta_imaginary));
    real.k = 2 * product.k;
    real.type = part_type(product.type);
    return real;
}

template <class T>
PartLanes<T> turned_by(const Factor& direction, PartLanes<T> y) {
    if (y.size() == 1 || direction == Factor(1)) {
        return y;
    }
    PartLanes<T> turned(2, Lanes<T>(y[0].rows, y[0].lanes));
    add_rows(turned[0], 0, y[0], direction.real());
    add_rows(turned[0], 0, y[1], direction.imag());
    add_rows(turned[1], 0, y[1], direction.real());
    add_rows(turned[1], 0, y[0], -direction.imag());
    return turned;
}

/// B X; conjugates are taken.
template <class T>
PartLanes<T> multiply_parts(const ConstView& b, const PartLanes<T>& x, ThreadPool& pool) {
    const std::vector<ConstView> parts = parts_of(b);
    PartLanes<T> y;
    for (const Lanes<T>& of_part : x) {
        y.push_back(multiply_lanes(parts[0], of_part, pool));
    }
    if (parts.size() > 1) {
        const double sign = b.conjugate ? -1 : 1;
        add_rows(y[0], 0, multiply_lanes(parts[1], x[1], pool), sign);
        add_rows(y[1], 0, multiply_lanes(parts[1], x[0], pool), -sign);
    }
    return y;
}

/// Y for the conjugate of A in place of A.
template <class T>
void turn_to_conjugate(PartLanes<T>& y) {
    if (y.size() > 1) {
        add_rows(y[1], 0, Lanes<T>(y[1]), -2);
    }
}

/// Of both parts of a column together.
inline std::vector<RowFacts> scan_columns(const ConstView& b, ThreadPool& pool) {
    std::vector<RowFacts> facts(static_cast<std::size_t>(b.cols));
    for (const ConstView& part : parts_of(b)) {
        merge_rows(facts, 0, scan_rows(transposed(part), pool));
    }
    return facts;
}

/// X for the columns from `first` on; `weights` are those of floats.
template <class T>
PartLanes<T> draw_parts(std::uint64_t seed, std::size_t parts, std::int64_t first, std::int64_t count, int lanes,
                        const std::vector<double>& weights) {
    PartLanes<T> x;
    for (std::size_t part = 0; part < parts; ++part) {
        x.push_back(
            draw_vectors<T>(splitmix_word(seed, static_cast<std::int64_t>(part)), first, count, lanes, weights.data()));
    }
    return x;
}

/// residual.take(row, ...) for the parts of some rows and their lanes.
template <class T, class Take, class... More>
void take_parts(Residual<T>& residual, Take take, std::int64_t row, const ConstView& rows, const PartLanes<T>& lanes,
                const More&... more) {
    const std::vector<ConstView> parts = parts_of(rows);
    for (std::size_t part = 0; part < parts.size(); ++part) {
        (residual.*take)(row, parts[part], lanes[part], more...);
    }
}

/// As many columns as the real product has.
template <class T>
std::vector<T> for_parts(const std::vector<T>& of_columns, std::size_t parts) {
    std::vector<T> all(of_columns);
    if (parts > 1) {
        all.insert(all.end(), of_columns.begin(), of_columns.end());
    }
    return all;
}

}  // namespace heptad::check
