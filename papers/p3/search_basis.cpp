#include "papers/p3/search_basis.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

#include "algorithm/catalogue.hpp"
#include "base/error.hpp"
#include "papers/p3/gf2_search_tables.hpp"

namespace heptad {
namespace {

constexpr int products = 7;
/// Turning a program for the 7 x 4 matrix W' round gives one for its transpose, which adds 7 products into 4 blocks,
/// with exactly 7 - 4 additions more; minima correspond (transposition principle).
constexpr int turned_round = products - 4;

using Core = std::array<Nibble, products>;  // one row per product

/// U, V and W over GF(2), row s of each a nibble: the coefficients of one 2 x 2 block matrix.
struct Form {
    Core u, v, w;
};

class Costs {
public:
    int core_additions(const Core& core) const {
        unsigned wanted = 0;
        for (const Nibble row : core) {
            wanted |= 1U << row;
        }
        return table_.least_additions(static_cast<std::uint16_t>(wanted));
    }
    int basis_additions(const NibbleMatrix& m) const {
        unsigned wanted = 0;
        for (const Nibble row : m) {
            wanted |= 1U << row;
        }
        return table_.least_additions(static_cast<std::uint16_t>(wanted));
    }

private:
    AdditionTable table_;
};

Core in_basis(const Core& matrix, const NibbleMatrix& basis_inverse) {
    Core core = {};
    std::transform(matrix.begin(), matrix.end(), core.begin(), [&](Nibble row) { return times(row, basis_inverse); });
    return core;
}

int total_weight(const Core& core) {
    int sum = 0;
    for (const Nibble row : core) {
        sum += std::popcount(static_cast<unsigned>(row));
    }
    return sum;
}

std::vector<int> sorted_weights(const Core& core) {
    std::vector<int> weights;
    for (const Nibble row : core) {
        weights.push_back(std::popcount(static_cast<unsigned>(row)));
    }
    std::sort(weights.begin(), weights.end());
    return weights;
}

// ---------------------------------------------------------------- one matrix at a time

/// `basis_of` gives the change of basis from the inverse that the core is multiplied by.
template <class BasisOf>
MatrixBases best_bases(const Core& matrix, const Costs& costs, int extra_additions, BasisOf basis_of) {
    MatrixBases best;
    std::tuple best_cost{1000, 1000, 1000};  // core additions, total weight, basis additions
    for (const NibbleMatrix& basis_inverse : invertible_matrices()) {
        ++best.examined;
        const Core core = in_basis(matrix, basis_inverse);
        const std::tuple cost{costs.core_additions(core) + extra_additions, total_weight(core),
                              costs.basis_additions(basis_of(basis_inverse))};
        const auto [additions, weight, basis_additions] = cost;
        const auto [best_additions, best_weight, best_basis_additions] = best_cost;
        const bool fewer = additions < best_additions;
        const bool lighter = additions == best_additions && weight < best_weight;
        if (fewer) {
            best.with_least_additions = 0;
        }
        best.with_least_additions += additions <= best_additions ? 1 : 0;
        if (fewer || lighter) {
            best.with_best_weights = 0;
            best.best_weights = sorted_weights(core);
        }
        best.with_best_weights += std::tuple{additions, weight} <= std::tuple{best_additions, best_weight} ? 1 : 0;
        if (cost < best_cost) {
            best.with_least_basis_additions = 0;
            best_cost = cost;
        }
        best.with_least_basis_additions += cost == best_cost ? 1 : 0;
    }
    std::tie(best.least_additions, std::ignore, best.least_basis_additions) = best_cost;
    return best;
}

// ---------------------------------------------------------------- equivalent forms

/// 2 x 2 block matrices as nibbles: bits 0 to 3 are entries 11, 12, 21, 22.
unsigned entry(Nibble x, unsigned i, unsigned j) {
    return (static_cast<unsigned>(x) >> (2 * i + j)) & 1U;
}

Nibble product_2x2(Nibble x, Nibble y) {
    unsigned result = 0;
    for (unsigned i = 0; i < 2; ++i) {
        for (unsigned j = 0; j < 2; ++j) {
            result |= ((entry(x, i, 0) & entry(y, 0, j)) ^ (entry(x, i, 1) & entry(y, 1, j))) << (2 * i + j);
        }
    }
    return static_cast<Nibble>(result);
}

Nibble transposed_2x2(Nibble x) {
    return static_cast<Nibble>(entry(x, 0, 0) | entry(x, 1, 0) << 1U | entry(x, 0, 1) << 2U | entry(x, 1, 1) << 3U);
}

/// Over GF(2) the adjugate is the inverse: the diagonal changes places.
Nibble inverse_2x2(Nibble x) {
    return static_cast<Nibble>(entry(x, 1, 1) | entry(x, 0, 1) << 1U | entry(x, 1, 0) << 2U | entry(x, 0, 0) << 3U);
}

std::vector<Nibble> invertible_2x2() {
    std::vector<Nibble> all;
    for (unsigned x = 0; x < 16; ++x) {
        const auto nibble = static_cast<Nibble>(x);
        if (((entry(nibble, 0, 0) & entry(nibble, 1, 1)) ^ (entry(nibble, 0, 1) & entry(nibble, 1, 0))) != 0) {
            all.push_back(nibble);
        }
    }
    return all;
}

/// The sums of the original over P A Q^-1 and Q B R^-1, written as sums over A and B; its result P C R^-1 turned into
/// C.
Form seen_through(const Form& x, Nibble p, Nibble q, Nibble r) {
    const auto sandwich = [](Nibble left, Nibble middle, Nibble right) {
        return product_2x2(product_2x2(left, middle), right);
    };
    Form y;
    for (std::size_t s = 0; s < products; ++s) {
        y.u[s] = sandwich(transposed_2x2(p), x.u[s], transposed_2x2(inverse_2x2(q)));
        y.v[s] = sandwich(transposed_2x2(q), x.v[s], transposed_2x2(inverse_2x2(r)));
        y.w[s] = sandwich(inverse_2x2(p), x.w[s], r);
    }
    return y;
}

/// Each set of products once, the original first.
std::vector<Form> equivalent_forms(const Form& original) {
    std::vector<Form> forms = {original};
    const auto key = [](const Form& form) {
        std::array<unsigned, products> rows = {};
        for (std::size_t s = 0; s < products; ++s) {
            rows[s] = form.u[s] | static_cast<unsigned>(form.v[s]) << 4U | static_cast<unsigned>(form.w[s]) << 8U;
        }
        std::sort(rows.begin(), rows.end());
        return rows;
    };
    std::set<std::array<unsigned, products>> seen = {key(original)};
    const std::vector<Nibble> group = invertible_2x2();
    for (const Nibble p : group) {
        for (const Nibble q : group) {
            for (const Nibble r : group) {
                const Form form = seen_through(original, p, q, r);
                if (seen.insert(key(form)).second) {
                    forms.push_back(form);
                }
            }
        }
    }
    return forms;
}

// ---------------------------------------------------------------- designs

struct DesignCost {
    int additions = 1000, basis_additions = 1000, weight = 1000;
    bool operator==(const DesignCost&) const = default;
    DesignCost operator+(const DesignCost& other) const {
        return {additions + other.additions, basis_additions + other.basis_additions, weight + other.weight};
    }
};

enum class Priority : std::uint8_t { light_core, cheap_bases };

bool better(const DesignCost& x, const DesignCost& y, Priority priority) {
    return priority == Priority::light_core
               ? std::tie(x.additions, x.weight, x.basis_additions) < std::tie(y.additions, y.weight, y.basis_additions)
               : std::tie(x.additions, x.basis_additions, x.weight) <
                     std::tie(y.additions, y.basis_additions, y.weight);
}

struct DesignBases {
    NibbleMatrix phi, psi, chi;
};

/// c' = (chi^-1) c: rows of W are multiplied by the transposed inverse of chi.
Core result_core(const Form& form, const NibbleMatrix& chi) {
    return in_basis(form.w, transposed(inverse(chi)));
}

void record(BasisDesign& design, const Form& form, const DesignBases& bases, const Costs& costs, const char* name,
            const char* source) {
    const Core u = in_basis(form.u, inverse(bases.phi));
    const Core v = in_basis(form.v, inverse(bases.psi));
    const Core w = result_core(form, bases.chi);
    design.additions_a = costs.core_additions(u);
    design.additions_b = costs.core_additions(v);
    design.additions_c = costs.core_additions(w) + turned_round;
    design.basis_additions_a = costs.basis_additions(bases.phi);
    design.basis_additions_b = costs.basis_additions(bases.psi);
    design.basis_additions_c = costs.basis_additions(bases.chi);
    design.weights_a = sorted_weights(u);
    design.weights_b = sorted_weights(v);
    design.weights_c = sorted_weights(w);
    const auto coefficients = [](const Core& core) {
        return to_coefficients(std::vector<Nibble>(core.begin(), core.end()));
    };
    Algorithm& x = design.example;
    x.name = name;
    x.m = x.k = x.n = 2;
    x.ring = Ring::gf2;
    x.source = source;
    x.u = coefficients(u);
    x.v = coefficients(v);
    x.w = coefficients(w);
    x.basis = BasisChange{to_coefficients(bases.phi), to_coefficients(bases.psi), to_coefficients(bases.chi)};
    if (const std::string sentence = prove(x); !sentence.empty()) {
        fail(ErrorCode::internal, "the basis search made a wrong algorithm: {}", sentence);
    }
}

/// The cheapest of the given bases for one matrix and how many are as cheap.
struct Cheapest {
    DesignCost cost;
    std::int64_t count = 0;
    NibbleMatrix basis = {};

    void offer(const DesignCost& other, const NibbleMatrix& its_basis, Priority priority) {
        if (better(other, cost, priority)) {
            *this = {other, 0, its_basis};
        }
        count += other == cost ? 1 : 0;
    }
};

BasisDesign best_self_inverse(const std::vector<Form>& forms, const Costs& costs, Priority priority) {
    std::vector<NibbleMatrix> candidates;
    for (const NibbleMatrix& m : invertible_matrices()) {
        if (m == inverse(m)) {
            candidates.push_back(m);
        }
    }
    BasisDesign design;
    DesignCost best;
    std::int64_t triples = 0;
    for (const Form& form : forms) {
        Cheapest a;
        Cheapest b;
        Cheapest c;
        for (const NibbleMatrix& m : candidates) {  // its own inverse
            const int basis_additions = costs.basis_additions(m);
            const Core u = in_basis(form.u, m);
            const Core v = in_basis(form.v, m);
            const Core w = result_core(form, m);
            a.offer({costs.core_additions(u), basis_additions, total_weight(u)}, m, priority);
            b.offer({costs.core_additions(v), basis_additions, total_weight(v)}, m, priority);
            c.offer({costs.core_additions(w) + turned_round, basis_additions, total_weight(w)}, m, priority);
        }
        // The three choices do not touch each other, so the best of each is the best of all triples.
        const auto count = static_cast<std::int64_t>(candidates.size());
        triples += count * count * count;
        const DesignCost cost = a.cost + b.cost + c.cost;
        if (better(cost, best, priority)) {
            best = cost;
            design = {};
            record(design, form, {a.basis, b.basis, c.basis}, costs, "found-self-inverse",
                   "search over all self-inverse bases of Strassen's algorithm");
        }
        if (cost == best) {
            design.attained += a.count * b.count * c.count;
            ++design.forms_with;
        }
    }
    design.examined = triples;
    return design;
}

BasisDesign best_chaining(const std::vector<Form>& forms, const Costs& costs, Priority priority) {
    BasisDesign design;
    DesignCost best;
    for (const Form& form : forms) {
        bool attained_here = false;
        for (const NibbleMatrix& chi : invertible_matrices()) {  // phi = psi = inverse of chi
            const Core u = in_basis(form.u, chi);
            const int additions_a = costs.core_additions(u);
            const Core v = in_basis(form.v, chi);
            const int additions_b = costs.core_additions(v);
            if (additions_a + additions_b + turned_round > best.additions) {
                continue;
            }
            const NibbleMatrix phi = inverse(chi);
            const Core w = in_basis(form.w, transposed(phi));
            const DesignCost cost = {additions_a + additions_b + costs.core_additions(w) + turned_round,
                                     2 * costs.basis_additions(phi) + costs.basis_additions(chi),
                                     total_weight(u) + total_weight(v) + total_weight(w)};
            if (better(cost, best, priority)) {
                best = cost;
                design = {};
                attained_here = false;
                record(design, form, {phi, phi, chi}, costs, "found-chaining",
                       "search over all chaining bases of Strassen's algorithm");
            }
            if (cost == best) {
                ++design.attained;
                design.forms_with += attained_here ? 0 : 1;
                attained_here = true;
            }
        }
    }
    design.examined = static_cast<std::int64_t>(forms.size() * invertible_matrices().size());
    return design;
}

Core core_of(const CoefficientMatrix& x) {
    const std::vector<Nibble> rows = to_nibbles(x);
    Core core = {};
    std::copy(rows.begin(), rows.end(), core.begin());
    return core;
}

}  // namespace

BasisSearch search_basis() {
    const Algorithm& strassen = find_algorithm("strassen").standard;
    const Form plain = {core_of(strassen.u), core_of(strassen.v), core_of(strassen.w)};
    const Costs costs;
    BasisSearch search;
    const auto operand_basis = [](const NibbleMatrix& basis_inverse) { return inverse(basis_inverse); };
    const auto result_basis = [](const NibbleMatrix& basis_inverse) { return transposed(inverse(basis_inverse)); };
    search.u = best_bases(plain.u, costs, 0, operand_basis);
    search.v = best_bases(plain.v, costs, 0, operand_basis);
    search.w = best_bases(plain.w, costs, turned_round, result_basis);
    const std::vector<Form> forms = equivalent_forms(plain);
    search.forms = static_cast<int>(forms.size());
    search.self_inverse = best_self_inverse(forms, costs, Priority::light_core);
    search.self_inverse_cheap_bases = best_self_inverse(forms, costs, Priority::cheap_bases);
    search.chaining_light = best_chaining(forms, costs, Priority::light_core);
    search.chaining = best_chaining(forms, costs, Priority::cheap_bases);
    return search;
}

}  // namespace heptad
