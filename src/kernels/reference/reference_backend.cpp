// c_ij = alpha * sum_p a_ip b_pj + beta * c_ij, summed in the order of p in the arithmetic type of the element type.
#include "kernels/reference/reference_backend.hpp"

#include <cmath>
#include <cstring>

#include "base/error.hpp"
#include "kernels/equal_slots.hpp"
#include "kernels/reference/element.hpp"

namespace heptad {
namespace {

using reference::load;
using reference::store;

/// Result is Element, or another element with the same arithmetic.
template <class Element, class Result = Element>
void multiply_one(const Product& p) {
    using Value = typename Element::Value;
    const Value alpha = Element::coefficient(p.alpha);
    const Value beta = Element::coefficient(p.beta);
    const bool uses_product = alpha != Element::zero() && p.a.cols > 0;
    for (std::int64_t i = 0; i < p.c.rows; ++i) {
        for (std::int64_t j = 0; j < p.c.cols; ++j) {
            Value result = Element::zero();
            if (uses_product) {
                Value sum = Element::zero();
                for (std::int64_t q = 0; q < p.a.cols; ++q) {
                    const Value a = Element::factor(load<Element>(p.a, i, q));
                    const Value b = Element::factor(load<Element>(p.b, q, j));
                    sum = Element::plus(sum, Element::times(a, b));
                }
                result = Element::times(alpha, sum);
            }
            if (beta != Element::zero()) {
                result = Element::plus(result, Element::times(beta, load<Result>(p.c, i, j)));
            }
            store<Result>(p.c, i, j, result);
        }
    }
}

/// Sums and M stay in the arithmetic type; a target is rounded when it is written.
template <class Element>
typename Element::Value sum_of_terms(const std::vector<FusedTerm>& terms, std::int64_t i, std::int64_t j) {
    typename Element::Value sum = Element::zero();
    bool is_first = true;
    for (const FusedTerm& term : terms) {
        if (i < term.block.rows && j < term.block.cols) {
            const auto x = Element::times(Element::coefficient(term.coefficient), load<Element>(term.block, i, j));
            sum = is_first ? x : Element::plus(sum, x);
            is_first = false;
        }
    }
    return Element::factor(sum);
}

template <class Element>
void multiply_fused_one(const FusedProduct& p) {
    using Value = typename Element::Value;
    std::vector<Value> right(static_cast<std::size_t>(p.k * p.n));
    for (std::int64_t q = 0; q < p.k; ++q) {
        for (std::int64_t j = 0; j < p.n; ++j) {
            right[static_cast<std::size_t>(q * p.n + j)] = sum_of_terms<Element>(p.right, q, j);
        }
    }
    std::vector<Value> row(static_cast<std::size_t>(p.n));
    for (std::int64_t i = 0; i < p.m; ++i) {
        row.assign(row.size(), Element::zero());
        for (std::int64_t q = 0; q < p.k; ++q) {
            const Value left = sum_of_terms<Element>(p.left, i, q);
            for (std::int64_t j = 0; j < p.n; ++j) {
                const Value product = Element::times(left, right[static_cast<std::size_t>(q * p.n + j)]);
                row[static_cast<std::size_t>(j)] = Element::plus(row[static_cast<std::size_t>(j)], product);
            }
        }
        for (const FusedTarget& target : p.targets) {
            const Value coefficient = Element::coefficient(target.coefficient);
            const Value beta = Element::coefficient(target.beta);
            const Value addend = Element::coefficient(target.addend_coefficient);
            for (std::int64_t j = 0; i < target.block.rows && j < target.block.cols; ++j) {
                Value result = coefficient != Element::zero()
                                   ? Element::times(coefficient, row[static_cast<std::size_t>(j)])
                                   : Element::zero();
                if (beta != Element::zero()) {
                    result = Element::plus(result, Element::times(beta, load<Element>(target.block, i, j)));
                }
                if (addend != Element::zero()) {
                    result = Element::plus(result, Element::times(addend, load<Element>(target.addend, i, j)));
                }
                store<Element>(target.block, i, j, result);
            }
        }
    }
}

/// Values stay in the arithmetic type through the pass, and are rounded once, when a slot is written back.
int exponent_at(const std::vector<LineExponents>& lines, std::size_t slot, std::int64_t i, std::int64_t j) {
    if (lines.empty()) {
        return 0;
    }
    const auto& [rows, cols] = lines[slot];
    return (rows == nullptr ? 0 : rows[i]) + (cols == nullptr ? 0 : cols[j]);
}

/// Is the slot added to what is written to it, as it lies in memory?
bool is_kept(const CombinePass& pass, std::size_t slot) {
    return !pass.exponents.empty() && pass.exponents[slot] == pass.written_exponents[slot] &&
           pass.exponents[slot] != LineExponents{};
}

template <class Element>
void combine_pass(const CombinePass& pass) {
    using Value = typename Element::Value;
    struct SlotValue {
        Value value = Element::zero();
        bool loaded = false;
        bool written = false;
        double keep = 0;
    };
    const std::vector<std::size_t> first = first_equal_slots(pass.slots);
    std::vector<SlotValue> values(pass.slots.size());
    for (std::int64_t i = 0; i < pass.slots.front().rows; ++i) {
        for (std::int64_t j = 0; j < pass.slots.front().cols; ++j) {
            values.assign(values.size(), SlotValue{});
            for (const CombineStatement& statement : pass.statements) {
                Value sum = Element::zero();
                bool is_first = true;
                for (const CombineTerm& term : statement.terms) {
                    const std::size_t source = first[static_cast<std::size_t>(term.source)];
                    SlotValue& slot = values[source];
                    if (source == first[static_cast<std::size_t>(statement.target)] && !slot.written &&
                        is_kept(pass, source)) {
                        slot.keep = term.coefficient;
                        continue;
                    }
                    if (!slot.loaded && !slot.written && pass.slots[source].data != nullptr) {
                        slot.value = load<Element>(pass.slots[source], i, j);
                        if constexpr (std::is_floating_point_v<Value>) {
                            slot.value = std::ldexp(slot.value, exponent_at(pass.exponents, source, i, j));
                        }
                        slot.loaded = true;
                    }
                    const Value x = Element::times(Element::coefficient(term.coefficient), slot.value);
                    sum = is_first ? x : Element::plus(sum, x);
                    is_first = false;
                }
                SlotValue& target = values[first[static_cast<std::size_t>(statement.target)]];
                target.value = sum;
                target.written = true;
            }
            for (std::size_t s = 0; s < values.size(); ++s) {
                if (values[s].written && pass.slots[s].data != nullptr) {
                    if constexpr (std::is_floating_point_v<Value>) {
                        values[s].value = std::ldexp(values[s].value, -exponent_at(pass.written_exponents, s, i, j));
                        if (values[s].keep != 0) {
                            values[s].value += static_cast<Value>(values[s].keep) * load<Element>(pass.slots[s], i, j);
                        }
                    }
                    store<Element>(pass.slots[s], i, j, values[s].value);
                }
            }
        }
    }
}

}  // namespace

void ReferenceBackend::combine(const CombinePass& pass) {
    if (pass.slots.empty()) {
        return;
    }
    reference::with_element(pass.slots.front().type, [&]<class Element>() { combine_pass<Element>(pass); });
}

void ReferenceBackend::multiply(std::span<const Product> batch, const std::string& leaf) {
    if (!leaf.empty() && leaf != "reference") {
        fail(ErrorCode::usage, "the reference backend has no leaf '{}'; its only one is 'reference'", leaf);
    }
    for (const Product& product : batch) {
        reference::with_element(product.a.type, [&]<class Element>() {
            if constexpr (std::is_same_v<typename Element::Value, float>) {
                if (product.c.type != product.a.type) {
                    multiply_one<Element, reference::F32>(product);
                    return;
                }
            }
            multiply_one<Element>(product);
        });
    }
}

void ReferenceBackend::multiply_fused(std::span<const FusedProduct> instances, FusedOrder, FusedTile) {
    for (const FusedProduct& instance : instances) {
        reference::with_element(instance.left.front().block.type,
                                [&]<class Element>() { multiply_fused_one<Element>(instance); });
    }
}

ScanResult ReferenceBackend::scan(const ConstView& view) {
    ScanResult result;
    const auto raise = [](double& largest, double x) { largest = std::isnan(largest) || x <= largest ? largest : x; };
    reference::with_element(view.type, [&]<class Element>() {
        if constexpr (std::is_floating_point_v<typename Element::Value>) {
            result.rows.resize(static_cast<std::size_t>(view.rows));
            result.cols.resize(static_cast<std::size_t>(view.cols));
            result.row_sums.resize(result.rows.size());
            result.col_sums.resize(result.cols.size());
            for (std::int64_t i = 0; i < view.rows; ++i) {
                for (std::int64_t j = 0; j < view.cols; ++j) {
                    const double x = std::abs(static_cast<double>(load<Element>(view, i, j)));
                    raise(result.max_abs, x);
                    raise(result.rows[static_cast<std::size_t>(i)], x);
                    raise(result.cols[static_cast<std::size_t>(j)], x);
                    result.row_sums[static_cast<std::size_t>(i)] += x;
                    result.col_sums[static_cast<std::size_t>(j)] += x;
                }
            }
        }
    });
    return result;
}

void ReferenceBackend::copy(const ConstView& from, const View& to) {
    const std::size_t bytes = element_bytes(from.type);
    for (std::int64_t i = 0; i < from.rows; ++i) {
        for (std::int64_t j = 0; j < from.cols; ++j) {
            std::memcpy(element_pointer(to, i, j), element_pointer(from, i, j), bytes);
        }
    }
}

std::vector<std::string> ReferenceBackend::leaves(Type) const {
    return {"reference"};
}

}  // namespace heptad
