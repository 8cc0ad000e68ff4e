// Products of complex matrices in memory, made of real ones. Three ways (C is by rows; else all are transposed):
//
//   three products   P = re A re B,  Q = im A im B,  R = (re A + im A)(re B + im B)
//                    C = (P - Q) + i (R - P - Q): three quarters of the arithmetic, with levels inside. Errors are
//                    relative to norms of rows and columns, so not for `strict`; needs finite A and B and sums that do
//                    not overflow.
//   one product      C = A B with B expanded to real numbers (base/complex_as_real.hpp): every word keeps its meaning.
//   in place         re A re B, im A im B, re A im B, im A re B where they lie: no memory at all.
#pragma once

#include <complex>

#include "product/memory/product.hpp"

namespace heptad {

enum class ComplexWay : std::uint8_t { automatic, three_products, one_product, in_place };

/// c = alpha * a * b + beta * c of c64 or c128. Validates everything; throws Error. A way that is named is taken where
/// the data and the memory allow it, or else the next one of the list. `carried_out` becomes the plan of the real
/// products.
RunReport multiply_complex(std::complex<double> alpha, const ConstView& a, const ConstView& b,
                           std::complex<double> beta, const View& c, const Options& options,
                           const ProductContext& context, ProductPlan* carried_out = nullptr,
                           ComplexWay way = ComplexWay::automatic);

/// The plan of the real products that a complex one of this size would be made of.
ProductPlan plan_complex(const ProblemSize& size, Type type, const Options& options, const ProductContext& context);

/// The most bytes that such a product takes beside the workspace of its real ones, which are made as the plan says.
std::int64_t bytes_beside_products(const ProblemSize& size, Type type, const ProductPlan& plan);

}  // namespace heptad
