#include "algorithm/facts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "algorithm/linear_program.hpp"

namespace heptad {
namespace {

int non_zeros(const CoefficientMatrix& x, int row) {
    return static_cast<int>(terms_of_row(x, row).size());
}

std::vector<int> sorted_weights(const CoefficientMatrix& x) {
    std::vector<int> weights;
    for (int s = 0; s < x.rows; ++s) {
        weights.push_back(non_zeros(x, s));
    }
    std::ranges::sort(weights);
    return weights;
}

template <class Of>
double row_sum(const CoefficientMatrix& x, int row, Of&& of) {
    double sum = 0;
    for (const LinearTerm& term : terms_of_row(x, row)) {
        sum += of(term.coefficient.to_double());
    }
    return sum;
}
double absolute_sum(const CoefficientMatrix& x, int row) {
    return row_sum(x, row, [](double coefficient) { return std::abs(coefficient); });
}
double square_sum(const CoefficientMatrix& x, int row) {
    return row_sum(x, row, [](double coefficient) { return coefficient * coefficient; });
}

/// Of what is not zero. Multiplying by a power of two does not round (apart from underflow).
bool scaling_rounds(const Rational& x) {
    return !(std::has_single_bit(static_cast<std::uint64_t>(x.abs().numerator())) &&
             std::has_single_bit(static_cast<std::uint64_t>(x.denominator())));
}

/// Roundings on the way through the sum of one row.
int row_roundings(const CoefficientMatrix& x, int row) {
    const std::vector<LinearTerm> terms = terms_of_row(x, row);
    const bool rounds =
        std::ranges::any_of(terms, [](const LinearTerm& term) { return scaling_rounds(term.coefficient); });
    return std::max(static_cast<int>(terms.size()) - 1, 0) + (rounds ? 1 : 0);
}

void add_error_facts(AlgorithmFacts& facts, const Algorithm& x) {
    const CoefficientMatrix columns = transposed(x.w);
    double squares = 0;
    for (int l = 0; l < columns.rows; ++l) {
        double growth = 0;
        const int c_roundings = row_roundings(columns, l);
        for (int s = 0; s < x.rank(); ++s) {
            if (columns(l, s).is_zero()) {
                continue;
            }
            const double w = std::abs(columns(l, s).to_double());
            growth += w * absolute_sum(x.u, s) * absolute_sum(x.v, s);
            squares += w * w * square_sum(x.u, s) * square_sum(x.v, s);
            facts.roundings = std::max(facts.roundings, row_roundings(x.u, s) + row_roundings(x.v, s) + c_roundings);
        }
        facts.growth = std::max(facts.growth, growth);
        facts.largest_sum_c = std::max(facts.largest_sum_c, absolute_sum(columns, l));
    }
    facts.rms_growth = std::sqrt(squares / columns.rows / x.k);
    for (int s = 0; s < x.rank(); ++s) {
        facts.largest_sum_a = std::max(facts.largest_sum_a, absolute_sum(x.u, s));
        facts.largest_sum_b = std::max(facts.largest_sum_b, absolute_sum(x.v, s));
    }
}

CoefficientMatrix absolute(CoefficientMatrix x) {
    for (Rational& entry : x.entries) {
        entry = entry.abs();
    }
    return x;
}

int most_roundings(const CoefficientMatrix& x) {
    int most = 0;
    for (int i = 0; i < x.rows; ++i) {
        most = std::max(most, row_roundings(x, i));
    }
    return most;
}

void add_basis_facts(AlgorithmFacts& facts, const Algorithm& algorithm) {
    const BasisChange& basis = *algorithm.basis;
    const bool mod_2 = algorithm.ring == Ring::gf2;
    facts.basis_additions_a = share_subexpressions(basis.phi, mod_2).additions();
    facts.basis_additions_b = share_subexpressions(basis.psi, mod_2).additions();
    facts.basis_additions_c = share_subexpressions(basis.chi, mod_2).additions();
    const auto inverses = [&](const CoefficientMatrix& x, const CoefficientMatrix& y) {
        return x.rows == y.rows && (mod_2 ? reduced_mod_2(x * y) : x * y) == identity_matrix(x.rows);
    };
    facts.self_inverse =
        inverses(basis.phi, basis.phi) && inverses(basis.psi, basis.psi) && inverses(basis.chi, basis.chi);
    facts.chaining = basis.phi == basis.psi && inverses(basis.phi, basis.chi);
    Algorithm magnitudes = algorithm;
    magnitudes.u = absolute(algorithm.u) * absolute(basis.phi);
    magnitudes.v = absolute(algorithm.v) * absolute(basis.psi);
    magnitudes.w = absolute(algorithm.w) * absolute(transposed(basis.chi));
    AlgorithmFacts of_magnitudes;
    add_error_facts(of_magnitudes, magnitudes);
    facts.changed_growth = of_magnitudes.growth;
    facts.changed_roundings = most_roundings(algorithm.u) + most_roundings(basis.phi) + most_roundings(algorithm.v) +
                              most_roundings(basis.psi) + most_roundings(transposed(algorithm.w)) +
                              most_roundings(basis.chi);
}

}  // namespace

LevelSums shared_sums(const Algorithm& algorithm) {
    const bool mod_2 = algorithm.ring == Ring::gf2;
    return {share_subexpressions(algorithm.u, mod_2), share_subexpressions(algorithm.v, mod_2),
            share_subexpressions(transposed(algorithm.w), mod_2)};
}

AlgorithmFacts compute_facts(const Algorithm& algorithm) {
    return compute_facts(algorithm, shared_sums(algorithm));
}

AlgorithmFacts compute_facts(const Algorithm& algorithm, const LevelSums& sums) {
    AlgorithmFacts facts;
    facts.rank = algorithm.rank();
    facts.additions_plain = plain_program(algorithm.u).additions() + plain_program(algorithm.v).additions() +
                            plain_program(transposed(algorithm.w)).additions();
    facts.additions_a = sums.a.additions();
    facts.additions_b = sums.b.additions();
    facts.additions_c = sums.c.additions();
    facts.weights_a = sorted_weights(algorithm.u);
    facts.weights_b = sorted_weights(algorithm.v);
    facts.weights_c = sorted_weights(algorithm.w);
    const double volume = static_cast<double>(algorithm.m) * algorithm.k * algorithm.n;
    facts.exponent = volume > 1 ? 3 * std::log(facts.rank) / std::log(volume) : 3;
    const int blocks = algorithm.m * algorithm.m;
    if (algorithm.m == algorithm.k && algorithm.k == algorithm.n && facts.rank > blocks) {
        facts.leading_constant = 1 + static_cast<double>(facts.additions()) / (facts.rank - blocks);
    }
    add_error_facts(facts, flattened(algorithm));
    if (algorithm.basis) {
        add_basis_facts(facts, algorithm);
    }
    return facts;
}

}  // namespace heptad
