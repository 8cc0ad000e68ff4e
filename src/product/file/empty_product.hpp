// C = beta C0 from file to file: what is left of a product whose A and B have no elements.
#pragma once

#include "io/hooks.hpp"
#include "io/io_queue.hpp"
#include "io/matrix_file.hpp"
#include "io/partial_file.hpp"
#include "product/memory/product.hpp"

namespace heptad {

/// Band by band of rows, in that memory or, where it is less, in what one row takes. Throws Error(cancelled).
void write_scaled(const MatrixFile& c0, Factor beta, Accuracy accuracy, std::int64_t memory_bytes,
                  const PartialFile& result, IoQueue& queue, const FileHooks& hooks);

}  // namespace heptad
