#include "product/file/product_inputs.hpp"

#include <array>
#include <filesystem>

#include "base/fail_if.hpp"
#include "check/streamed_check.hpp"
#include "io/bit_file.hpp"
#include "io/checksum.hpp"
#include "io/npy.hpp"

namespace heptad {
namespace {

bool same_file(const std::string& x, const std::string& y) {
    std::error_code ignored;
    return std::filesystem::equivalent(x, y, ignored);
}

}  // namespace

ProductSources find_product_sources(const FileProductRequest& request) {
    ProductSources sources{find_matrix(request.a), find_matrix(request.b), {}, 0, 0, 0};
    const bool packed = sources.a.layout.packed;
    fail_if(!packed && (sources.a.type == Type::gf2 || sources.a.type == Type::boolean), ErrorCode::input,
            "'{}' holds one bit in each byte, which only products in memory read; give more memory, or pack them",
            sources.a.name);
    const FileLayout a = request.transpose_a ? transposed(sources.a.layout) : sources.a.layout;
    const FileLayout b = request.transpose_b ? transposed(sources.b.layout) : sources.b.layout;
    fail_if(sources.a.type != sources.b.type, ErrorCode::input,
            "'{}' holds {} and '{}' holds {}; all matrices of a product must have the same type", sources.a.name,
            type_name(sources.a.type), sources.b.name, type_name(sources.b.type));
    fail_if(a.cols != b.rows, ErrorCode::input,
            "'{}' is {} x {} and '{}' is {} x {}, but the columns of the first must equal the rows of "
            "the second; check the files or the transposes",
            sources.a.name, a.rows, a.cols, sources.b.name, b.rows, b.cols);
    sources.m = a.rows;
    sources.k = a.cols;
    sources.n = b.cols;
    if (request.beta != 0.0) {
        fail_if(!request.c0, ErrorCode::usage, "beta is {}, so the matrix that it multiplies is needed",
                std::abs(request.beta));
        sources.c0 = find_matrix(*request.c0);
        fail_if(sources.c0->type != sources.a.type || sources.c0->layout.rows != a.rows ||
                    sources.c0->layout.cols != b.cols,
                ErrorCode::input, "'{}' is {} x {} of {}, but the product it is added to is {} x {} of {}",
                sources.c0->name, sources.c0->layout.rows, sources.c0->layout.cols, type_name(sources.c0->type), a.rows,
                b.cols, type_name(sources.a.type));
    }
    matrix_bytes(sources.a.type, sources.m, sources.n);  // refuses what 64 bits cannot count
    return sources;
}

std::int64_t memory_for_product(const FileProductRequest& request, const ProductSources& sources) {
    const std::int64_t besides =
        sources.a.beside_bytes + sources.b.beside_bytes + (sources.c0 ? sources.c0->beside_bytes : 0);
    fail_if(besides > 0 && besides >= request.memory_bytes, ErrorCode::resource,
            "unpacking the chunks of the datasets takes {} bytes, and {} are allowed; give a larger --memory, or "
            "rewrite them in smaller chunks with 'h5repack -l CHUNK=256x256'",
            besides, request.memory_bytes);
    return request.memory_bytes - besides;
}

std::string result_header(const FileProductRequest& request, const ProductSources& sources) {
    return sources.a.layout.packed ? packed_header_text(request.output, sources.m, sources.n)
                                   : npy_header_text(sources.a.type, sources.m, sources.n);
}

FileLayout result_layout(const FileProductRequest& request, const ProductSources& sources) {
    FileLayout layout = sources.a.layout;  // the elements are of the same kind
    layout.rows = sources.m;
    layout.cols = sources.n;
    layout.by_columns = false;
    layout.data_offset = static_cast<std::int64_t>(result_header(request, sources).size());
    layout.block_bytes = kUsualBlockBytes;
    return layout;
}

FileProblem problem_of(const FileProductRequest& request, const ProductSources& sources, const FileLayout& a,
                       const FileLayout& b) {
    return {.m = sources.m,
            .k = sources.k,
            .n = sources.n,
            .type = sources.a.type,
            .adds = sources.c0.has_value(),
            .memory_bytes = memory_for_product(request, sources),
            .a = a,
            .b = b,
            .c = result_layout(request, sources),
            .line_bytes = request.verify ? StreamedCheck::line_bytes(sources.a.type) : 0,
            .whole_k = takes_whole_k(request.accuracy, sources.a.type)};
}

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
    fail_if(same_file(c0, output), ErrorCode::input,
            "there is nothing to resume for '{}', which may already hold the sum; check it, and run without "
            "--resume to add again",
            shown);
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
        fail_if(same_file(input->path, names.target), ErrorCode::input,
                "'{}' is an input, and a product from file to file cannot be resumed over it; choose another "
                "output",
                names.shown);
    }
    if (sources.c0) {
        inputs.push_back(&*sources.c0);
    }
    for (const std::string& own : names.beside()) {
        for (const MatrixSource* input : inputs) {
            fail_if(same_file(input->path, own), ErrorCode::input,
                    "'{}' is an input, and a product into '{}' uses that name for itself; rename the input or choose "
                    "another output",
                    input->name, names.shown);
        }
    }
}

}  // namespace heptad
