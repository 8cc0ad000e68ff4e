// The matrices of a product from file to file: found, compared with each other, and what the result will look like;
// open, how they are read, and what they must not be.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/matrix_file.hpp"
#include "io/partial_file.hpp"
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
/// Of operands that lie so.
FileProblem problem_of(const FileProductRequest& request, const ProductSources& sources, const FileLayout& a,
                       const FileLayout& b);

/// As an operand of the product. Transposed bits are turned on the way, in short spans that the cache is better at.
FileLayout as_operand(FileLayout layout, bool transpose);
FileLayout operand_layout(const MatrixFile& file, bool transpose);

/// Throws Error(input) where nothing of a run is left and its C0 is its output, too: a run that ended just after it
/// gave the result its name leaves exactly this.
void refuse_to_add_again(const std::string& c0, const std::string& output, const std::string& shown);

/// The same bytes read in another way (transposed, another dataset of the file) are another matrix.
FileIdentity identity_as_read(const MatrixFile& file, const FileLayout& layout, bool conjugate);

/// The files that are read.
struct OpenInputs {
    MatrixFile a, b;
    std::optional<MatrixFile> c0;

    std::vector<const MatrixFile*> all() const;
    /// Throws Error(input) if one was changed since it was opened.
    void require_unchanged() const;
};

/// Throws Error(input) where A or B is the output itself, or any input has a name that every run beside it writes,
/// replaces and removes.
void refuse_inputs_as_outputs(const ProductSources& sources, const OutputNames& names);

}  // namespace heptad
