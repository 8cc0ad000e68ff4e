// The triple-product (Brent) equations: U, V, W multiply <m,k,n> exactly if and only if, for all blocks a_(p,q) of A,
// b_(q',t) of B and c_(p',t') of C,
//
//   sum over s of U[s][(p,q)] V[s][(q',t)] W[s][(p',t')]  =  1 if q = q', t = t' and p = p', and 0 otherwise.
//
// Denominators are cleared first, so the sums run over integers; over GF(2) only their parity counts.
#include <algorithm>
#include <numeric>

#include "algorithm/algorithm.hpp"
#include "base/fail_if.hpp"

namespace heptad {
namespace {

__extension__ using Wide = __int128;

struct SparseEntry {
    int column;
    std::int64_t value;
};

/// A coefficient matrix times its common denominator, row by row without zeros.
struct IntegerMatrix {
    std::vector<std::vector<SparseEntry>> rows;
    std::int64_t denominator = 1;
    std::int64_t largest = 0;
};

IntegerMatrix cleared_of_denominators(const CoefficientMatrix& x) {
    IntegerMatrix result;
    for (const Rational& entry : x.entries) {
        const std::int64_t factor = entry.denominator() / std::gcd(entry.denominator(), result.denominator);
        result.denominator = (Rational(result.denominator) * Rational(factor)).numerator();  // throws on overflow
    }
    result.rows.resize(static_cast<std::size_t>(x.rows));
    for (int s = 0; s < x.rows; ++s) {
        for (int i = 0; i < x.cols; ++i) {
            if (!x(s, i).is_zero()) {
                const std::int64_t value = (x(s, i) * Rational(result.denominator)).numerator();
                result.rows[static_cast<std::size_t>(s)].push_back({i, value});
                result.largest = std::max(result.largest, value < 0 ? -value : value);
            }
        }
    }
    return result;
}

/// Throws Error(input) if the sums of the equations could leave 128 bits.
void require_exact_sums(const IntegerMatrix& u, const IntegerMatrix& v, const IntegerMatrix& w) {
    const auto size = [](std::int64_t x) { return static_cast<long double>(x) + 1; };
    const long double largest_term = size(u.largest) * size(v.largest) * size(w.largest);
    const long double scale = size(u.denominator) * size(v.denominator) * size(w.denominator);
    fail_if(largest_term * static_cast<long double>(u.rows.size() + 1) > 1e37L || scale > 1e37L, ErrorCode::input,
            "the coefficients are too large to be proven exactly in 128 bits; use smaller ones");
}

std::string wrong_shape(const Algorithm& x) {
    const int r = x.rank();
    const auto is = [](const CoefficientMatrix& matrix, int rows, int cols) {
        return matrix.rows == rows && matrix.cols == cols;
    };
    if (x.m < 1 || x.k < 1 || x.n < 1 || !is(x.u, r, x.m * x.k) || !is(x.v, r, x.k * x.n) || !is(x.w, r, x.m * x.n)) {
        return fmt::format("{}: U, V and W do not have the shapes of {}", x.name, x.signature());
    }
    if (x.basis && (!is(x.basis->phi, x.m * x.k, x.m * x.k) || !is(x.basis->psi, x.k * x.n, x.k * x.n) ||
                    !is(x.basis->chi, x.m * x.n, x.m * x.n))) {
        return fmt::format("{}: phi, psi and chi do not have the shapes of {}", x.name, x.signature());
    }
    return {};
}

}  // namespace

std::string prove(const Algorithm& algorithm) {
    if (std::string sentence = wrong_shape(algorithm); !sentence.empty()) {
        return sentence;
    }
    const Algorithm x = flattened(algorithm);
    const bool mod_2 = x.ring == Ring::gf2;
    const IntegerMatrix u = cleared_of_denominators(mod_2 ? reduced_mod_2(x.u) : x.u);
    const IntegerMatrix v = cleared_of_denominators(mod_2 ? reduced_mod_2(x.v) : x.v);
    const IntegerMatrix w = cleared_of_denominators(mod_2 ? reduced_mod_2(x.w) : x.w);
    require_exact_sums(u, v, w);
    const Wide one = static_cast<Wide>(u.denominator) * v.denominator * w.denominator;

    // One slice of the tensor at a time: all (b, c) for one block of A.
    const int b_blocks = x.k * x.n;
    const int c_blocks = x.m * x.n;
    std::vector<Wide> slice(static_cast<std::size_t>(b_blocks) * static_cast<std::size_t>(c_blocks));
    const auto at = [&](int b, int c) -> Wide& {
        return slice[static_cast<std::size_t>(b) * static_cast<std::size_t>(c_blocks) + static_cast<std::size_t>(c)];
    };
    for (int a = 0; a < x.m * x.k; ++a) {
        std::ranges::fill(slice, Wide{0});
        for (std::size_t s = 0; s < u.rows.size(); ++s) {
            for (const SparseEntry& ue : u.rows[s]) {
                if (ue.column != a) {
                    continue;
                }
                for (const SparseEntry& ve : v.rows[s]) {
                    const Wide uv = static_cast<Wide>(ue.value) * ve.value;
                    for (const SparseEntry& we : w.rows[s]) {
                        at(ve.column, we.column) += uv * we.value;
                    }
                }
            }
        }
        const int p = a / x.k;
        const int q = a % x.k;
        for (int b = 0; b < b_blocks; ++b) {
            for (int c = 0; c < c_blocks; ++c) {
                const bool belongs = b / x.n == q && c / x.n == p && b % x.n == c % x.n;
                const Wide difference = at(b, c) - (belongs ? one : 0);
                if (mod_2 ? difference % 2 != 0 : difference != 0) {
                    return fmt::format(
                        "{} {} is wrong over {}: the coefficient of A{},{} * B{},{} in C{},{} is not {} (blocks from "
                        "1)",
                        x.name, x.signature(), ring_name(x.ring), p + 1, q + 1, b / x.n + 1, b % x.n + 1, c / x.n + 1,
                        c % x.n + 1, belongs ? 1 : 0);
                }
            }
        }
    }
    return {};
}

}  // namespace heptad
