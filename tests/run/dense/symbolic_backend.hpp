// A backend whose elements are polynomials. Every 4-byte element of a view is a handle into a table of
//
//   linear forms in the entries of A or of B, and bilinear forms  sum c_ij a_i b_j + sum d_l c_l
//
// so that run_plan, unchanged, computes every cell of C as a polynomial that can be compared with its definition. The
// coefficients are residues modulo the prime 2^61 - 1 (halves and thirds are residues too) or modulo 2. Handle 0 is no
// value: reading memory that nobody wrote is an error.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/backend.hpp"

namespace heptad::test {

/// A monomial's number and its coefficient. Monomials: the entries of A, of B, products of the two, old entries of C.
struct SymbolicTerm {
    std::uint32_t monomial = 0;
    std::uint64_t coefficient = 0;
    bool operator==(const SymbolicTerm&) const = default;
};
using Polynomial = std::vector<SymbolicTerm>;

class SymbolicBackend final : public Backend {
public:
    static constexpr std::uint64_t large_prime = (std::uint64_t{1} << 61) - 1;

    /// For operands of `a_count` and `b_count` entries and a result of `c_count`.
    SymbolicBackend(std::uint64_t modulus, std::uint32_t a_count, std::uint32_t b_count, std::uint32_t c_count)
        : modulus_(modulus),
          a_count_(a_count),
          b_count_(b_count),
          sums_(std::size_t{a_count} + b_count + std::size_t{a_count} * b_count + c_count),
          table_(1) {}

    std::uint32_t a_monomial(std::uint32_t i) const { return i; }
    std::uint32_t b_monomial(std::uint32_t j) const { return a_count_ + j; }
    std::uint32_t product_monomial(std::uint32_t i, std::uint32_t j) const {
        return a_count_ + b_count_ + i * b_count_ + j;
    }
    std::uint32_t c_monomial(std::uint32_t l) const { return a_count_ + b_count_ + a_count_ * b_count_ + l; }

    /// The residue of an integer or a fraction with a small denominator.
    std::uint64_t residue(double x) const {
        const auto [known, added] = residues_.try_emplace(x, 0);
        if (added) {
            known->second = new_residue(x);
        }
        return known->second;
    }

    std::int32_t new_value(Polynomial polynomial) {
        table_.push_back(std::move(polynomial));
        return static_cast<std::int32_t>(table_.size() - 1);
    }
    const Polynomial& value(std::int32_t handle) const {
        if (handle <= 0 || static_cast<std::size_t>(handle) >= table_.size()) {
            throw std::runtime_error("memory was read that nobody had written");
        }
        return table_[static_cast<std::size_t>(handle)];
    }
    static std::int32_t handle(const ConstView& view, std::int64_t i, std::int64_t j) {
        std::int32_t result = 0;
        std::memcpy(&result, element_pointer(view, i, j), sizeof result);
        return result;
    }
    static void set_handle(const View& view, std::int64_t i, std::int64_t j, std::int32_t value) {
        std::memcpy(element_pointer(view, i, j), &value, sizeof value);
    }

    std::string name() const override { return "symbolic"; }

    void combine(const CombinePass& pass) override {
        const View& first = pass.slots.front();
        for (const View& slot : pass.slots) {
            if (slot.rows != first.rows || slot.cols != first.cols) {
                throw std::runtime_error("the blocks of a pass differ in shape");
            }
        }
        std::vector<std::int32_t> here(pass.slots.size());
        for (std::int64_t i = 0; i < first.rows; ++i) {
            for (std::int64_t j = 0; j < first.cols; ++j) {
                here.assign(here.size(), 0);
                for (const CombineStatement& statement : pass.statements) {
                    for (const CombineTerm& term : statement.terms) {
                        const auto source = static_cast<std::size_t>(term.source);
                        if (here[source] == 0 && pass.slots[source].data != nullptr) {
                            here[source] = handle(pass.slots[source], i, j);
                        }
                        add(value(here[source]), residue(term.coefficient));
                    }
                    const std::int32_t made = new_value(collect());
                    const auto target = static_cast<std::size_t>(statement.target);
                    for (std::size_t s = 0; s < here.size(); ++s) {  // equal views are one value
                        if (s == target ||
                            (pass.slots[s].data != nullptr && pass.slots[s].data == pass.slots[target].data)) {
                            here[s] = made;
                        }
                    }
                }
                for (const CombineStatement& statement : pass.statements) {
                    const auto target = static_cast<std::size_t>(statement.target);
                    if (pass.slots[target].data != nullptr) {
                        set_handle(pass.slots[target], i, j, here[target]);
                    }
                }
            }
        }
    }

    void multiply(std::span<const Product> batch, const std::string&) override {
        for (const Product& p : batch) {
            const std::uint64_t alpha = residue(p.alpha);
            for (std::int64_t i = 0; i < p.c.rows; ++i) {
                for (std::int64_t j = 0; j < p.c.cols; ++j) {
                    for (std::int64_t q = 0; q < p.a.cols && p.alpha != 0; ++q) {
                        add_product(value(handle(p.a, i, q)), value(handle(p.b, q, j)), alpha);
                    }
                    if (p.beta != 0) {
                        add(value(handle(p.c, i, j)), residue(p.beta));
                    }
                    set_handle(p.c, i, j, new_value(collect()));
                }
            }
        }
    }

    bool fuses(Type, int, int, int) const override { return true; }
    void multiply_fused(std::span<const FusedProduct> instances, FusedOrder, FusedTile) override {
        for (const FusedProduct& p : instances) {
            if (p.left.empty() || p.right.empty() || p.targets.empty()) {
                throw std::runtime_error("a fused product has an empty side");
            }
            const std::vector<Polynomial> left = sums_of_terms(p.left, p.m, p.k);
            const std::vector<Polynomial> right = sums_of_terms(p.right, p.k, p.n);
            for (std::int64_t i = 0; i < p.m; ++i) {
                for (std::int64_t j = 0; j < p.n; ++j) {
                    for (std::int64_t q = 0; q < p.k; ++q) {
                        add_product(left[static_cast<std::size_t>(i * p.k + q)],
                                    right[static_cast<std::size_t>(q * p.n + j)], 1);
                    }
                    const Polynomial product = collect();
                    for (const FusedTarget& target : p.targets) {
                        if (i < target.block.rows && j < target.block.cols) {
                            add(product, residue(target.coefficient));
                            if (target.beta != 0) {
                                add(value(handle(target.block, i, j)), residue(target.beta));
                            }
                            set_handle(target.block, i, j, new_value(collect()));
                        }
                    }
                }
            }
        }
    }
    ScanResult scan(const ConstView&) override { return {1.0, {}, {}}; }
    void copy(const ConstView& from, const View& to) override {
        for (std::int64_t i = 0; i < from.rows; ++i) {
            for (std::int64_t j = 0; j < from.cols; ++j) {
                set_handle(to, i, j, handle(from, i, j));
            }
        }
    }
    std::vector<std::string> leaves(Type) const override { return {"symbolic"}; }

private:
    /// Of blocks that may be smaller than rows x cols.
    std::vector<Polynomial> sums_of_terms(const std::vector<FusedTerm>& terms, std::int64_t rows, std::int64_t cols) {
        std::vector<Polynomial> sums;
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < cols; ++j) {
                for (const FusedTerm& term : terms) {
                    if (i < term.block.rows && j < term.block.cols) {
                        add(value(handle(term.block, i, j)), residue(term.coefficient));
                    }
                }
                sums.push_back(collect());
            }
        }
        return sums;
    }
    std::uint64_t new_residue(double x) const {
        for (int denominator = 1; denominator <= 1024; ++denominator) {
            const double numerator = std::nearbyint(x * denominator);
            if (std::abs(numerator / denominator - x) < 1e-12 * (1 + std::abs(x))) {
                const auto whole = static_cast<std::int64_t>(numerator);
                const auto size = static_cast<std::uint64_t>(std::llabs(whole)) % modulus_;
                const std::uint64_t positive = times(size, inverse(static_cast<std::uint64_t>(denominator) % modulus_));
                return whole < 0 ? (modulus_ - positive) % modulus_ : positive;
            }
        }
        throw std::runtime_error("a coefficient is not a small fraction: " + std::to_string(x));
    }
    std::uint64_t times(std::uint64_t x, std::uint64_t y) const {
        if (modulus_ == 2) {
            return x & y;
        }
        __extension__ using Wide = unsigned __int128;
        const Wide product = static_cast<Wide>(x) * y;  // 2^61 is 1 mod the prime: add the halves
        const std::uint64_t sum =
            static_cast<std::uint64_t>(product & large_prime) + static_cast<std::uint64_t>(product >> 61);
        return sum >= large_prime ? sum - large_prime : sum;
    }
    std::uint64_t inverse(std::uint64_t x) const {
        if (x == 0) {
            throw std::runtime_error("a coefficient has a denominator that is zero in this ring");
        }
        std::uint64_t result = 1;
        for (std::uint64_t exponent = modulus_ - 2; exponent > 0; exponent >>= 1) {
            result = (exponent & 1) != 0 ? times(result, x) : result;
            x = times(x, x);
        }
        return result;
    }

    void add_term(std::uint32_t monomial, std::uint64_t coefficient) {
        std::uint64_t& sum = sums_[monomial];
        touched_.push_back(monomial);
        sum += coefficient;
        sum = sum >= modulus_ ? sum - modulus_ : sum;
    }
    void add(const Polynomial& x, std::uint64_t factor) {
        for (const SymbolicTerm& term : x) {
            add_term(term.monomial, factor == 1 ? term.coefficient : times(term.coefficient, factor));
        }
    }
    void add_product(const Polynomial& a, const Polynomial& b, std::uint64_t factor) {
        for (const SymbolicTerm& left : a) {
            if (left.monomial >= a_count_) {
                throw std::runtime_error("the left operand of a product is not a linear form in A");
            }
            const std::uint64_t scaled = times(left.coefficient, factor);
            for (const SymbolicTerm& right : b) {
                if (right.monomial < a_count_ || right.monomial >= a_count_ + b_count_) {
                    throw std::runtime_error("the right operand of a product is not a linear form in B");
                }
                add_term(product_monomial(left.monomial, right.monomial - a_count_),
                         right.coefficient == 1 ? scaled : times(scaled, right.coefficient));
            }
        }
    }
    /// Takes what was added, without zeros.
    Polynomial collect() {
        Polynomial result;
        for (const std::uint32_t monomial : touched_) {
            if (sums_[monomial] != 0) {
                result.push_back({monomial, sums_[monomial]});
                sums_[monomial] = 0;
            }
        }
        touched_.clear();
        return result;
    }

    std::uint64_t modulus_;
    std::uint32_t a_count_, b_count_;
    std::vector<std::uint64_t> sums_;
    std::vector<std::uint32_t> touched_;
    std::vector<Polynomial> table_;
    mutable std::map<double, std::uint64_t> residues_;
};

}  // namespace heptad::test
