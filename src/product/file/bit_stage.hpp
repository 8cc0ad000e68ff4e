// The products of a product of packed bits from file to file, on the processor.
#pragma once

#include <heptad/bits.hpp>

#include "product/file/file_product.hpp"

namespace heptad {

/// gf2 or boolean. Fewer levels than pay are taken where the workspace leaves no room for their copies.
StageProducts packed_bits_stage(Type algebra, const bits::BitOptions& options, int threads);

}  // namespace heptad
