// The matrices of a product from file to file: found, compared with each other, and what the result will look like.
#pragma once

#include <optional>
#include <string>

#include "product/file/file_product.hpp"

namespace heptad {

constexpr std::int64_t kUsualBlockBytes = 512;  // of a file that does not exist yet

struct ProductSources {
    MatrixSource a, b;
    std::optional<MatrixSource> c0;
    std::int64_t m, k, n;
};

/// Throws Error(input) where they do not belong together or cannot be read piece by piece, Error(usage) without the
/// matrix that beta multiplies.
ProductSources find_product_sources(const FileProductRequest& request);

/// Of what is allowed, all but what reading takes besides. Throws Error(resource) where nothing is left.
std::int64_t memory_for_product(const FileProductRequest& request, const ProductSources& sources);

std::string result_header(const FileProductRequest& request, const ProductSources& sources);
FileLayout result_layout(const FileProductRequest& request, const ProductSources& sources);

}  // namespace heptad
