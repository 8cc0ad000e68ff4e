// The C++ interface of packed bit matrices: thin shells over src/bits.
#include <heptad/bits.hpp>

#include "api/context.hpp"
#include "bits/bit_chain.hpp"
#include "bits/bit_graph.hpp"

namespace heptad {
namespace {

bits::BitContext bit_context(const Context& context) {
    const ProductContext given = product_context(context);
    return {effective_threads(given), {given.hooks.cancel, given.hooks.progress}};
}

}  // namespace

namespace bits {

void multiply(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitView& c, const BitOptions& options,
              const Context& context) {
    multiply_bits(algebra, a, b, c, false, options, bit_context(context));
}

void multiply_add(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitView& c,
                  const BitOptions& options, const Context& context) {
    multiply_bits(algebra, a, b, c, true, options, bit_context(context));
}

BitMatrix product(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitOptions& options,
                  const Context& context) {
    BitMatrix c(a.rows, b.cols);
    multiply(algebra, a, b, c.view(), options, context);
    return c;
}

BitMatrix chain_product(Type algebra, const std::vector<ConstBitView>& factors, const BitOptions& options,
                        const Context& context) {
    return multiply_chain(algebra, factors, options, bit_context(context));
}

BitMatrix power(Type algebra, const ConstBitView& a, std::int64_t exponent, const BitOptions& options,
                const Context& context) {
    return raise(algebra, a, exponent, options, bit_context(context));
}

BitMatrix transitive_closure(const ConstBitView& graph, const Context& context) {
    BitMatrix result = BitMatrix::copy_of(graph);
    close_transitively(result.view(), bit_context(context));
    return result;
}

std::string plan(Type algebra, ProblemSize size, const BitOptions& options, const Context& context) {
    return make_bit_plan(algebra, size, options, bit_context(context).threads).to_string();
}

}  // namespace bits

std::int64_t count_triangles(const ConstBitView& graph, const Context& context) {
    return bits::triangles(graph, bit_context(context));
}

}  // namespace heptad
