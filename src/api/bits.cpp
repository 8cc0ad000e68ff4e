// The C++ interface of packed bit matrices: thin shells over src/bits.
#include <heptad/bits.hpp>

#include "api/context.hpp"
#include "bits/bit_product.hpp"

namespace heptad::bits {
namespace {

BitContext bit_context(const Context& context) {
    const ProductContext given = product_context(context);
    return {effective_threads(given), given.hooks.cancel};
}

}  // namespace

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

std::string plan(Type algebra, ProblemSize size, const BitOptions& options, const Context& context) {
    return make_bit_plan(algebra, size, options, bit_context(context).threads).to_string();
}

}  // namespace heptad::bits
