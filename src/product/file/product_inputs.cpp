#include "product/file/product_inputs.hpp"

#include <array>
#include <filesystem>

#include "base/error.hpp"
#include "io/checksum.hpp"

namespace heptad {
namespace {

bool same_file(const std::string& x, const std::string& y) {
    std::error_code ignored;
    return std::filesystem::equivalent(x, y, ignored);
}

}  // namespace

FileLayout as_operand(FileLayout layout, bool transpose) {
    if (transpose) {
        layout = transposed(layout);
        layout.block_bytes = layout.packed ? 1 : layout.block_bytes;
    }
    return layout;
}

FileLayout operand_layout(const MatrixFile& file, bool transpose) {
    return as_operand(file.layout(), transpose);
}

void refuse_to_add_again(const std::string& c0, const std::string& output, const std::string& shown) {
    if (same_file(c0, output)) {
        fail(ErrorCode::input,
             "there is nothing to resume for '{}', which may hold the sum already; look at it, and run without "
             "--resume to add again",
             shown);
    }
}

FileIdentity identity_as_read(const MatrixFile& file, const FileLayout& layout, bool conjugate) {
    FileIdentity identity = file.identity();
    const std::array<std::int64_t, 4> way{layout.rows, layout.cols, (layout.by_columns ? 1 : 0) + (conjugate ? 2 : 0),
                                          layout.data_offset};
    identity.samples = checksum(way.data(), static_cast<std::int64_t>(sizeof way), identity.samples);
    return identity;
}

std::vector<const MatrixFile*> OpenInputs::all() const {
    std::vector<const MatrixFile*> files{&a, &b};
    if (c0) {
        files.push_back(&*c0);
    }
    return files;
}

void OpenInputs::require_unchanged() const {
    for (const MatrixFile* input : all()) {
        input->require_unchanged();
    }
}

void refuse_inputs_as_outputs(const ProductSources& sources, const OutputNames& names) {
    std::vector<const MatrixSource*> inputs{&sources.a, &sources.b};
    for (const MatrixSource* input : inputs) {
        if (same_file(input->path, names.target)) {
            fail(ErrorCode::input,
                 "'{}' is an input, and a product from file to file cannot be resumed over it; choose another "
                 "output",
                 names.shown);
        }
    }
    if (sources.c0) {
        inputs.push_back(&*sources.c0);
    }
    for (const std::string& own : names.beside()) {
        for (const MatrixSource* input : inputs) {
            if (same_file(input->path, own)) {
                fail(ErrorCode::input,
                     "'{}' is an input, and a product into '{}' uses that name for itself; rename the input or "
                     "choose another output",
                     input->name, names.shown);
            }
        }
    }
}

}  // namespace heptad
