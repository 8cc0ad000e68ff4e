#include "io/matrix_source.hpp"

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "io/bit_file.hpp"
#include "io/hdf5_dataset.hpp"
#include "io/matrix_market.hpp"
#include "io/npy.hpp"
#include "io/open_file.hpp"

namespace heptad {
namespace {

std::int64_t regular_file_bytes(const std::string& path) {
    return open_to_read(path, "a matrix file").bytes;
}

/// What the elements are taken for. tf32 is f32 data that is multiplied otherwise.
Type raw_type(const std::string& path, const RawShape& raw, std::optional<Type> as) {
    fail_if(raw.type == Type::gf2 || raw.type == Type::boolean, ErrorCode::input,
            "'{}' cannot be bits without a header; give them as .npy or .pbm", path);
    if (as && *as != raw.type && !(*as == Type::tf32 && raw.type == Type::f32)) {
        fail(ErrorCode::input, "'{}' is given as {}, but {} is requested; name one type", path, type_name(raw.type),
             type_name(*as));
    }
    return as.value_or(raw.type);
}

MatrixSource raw_matrix(const std::string& path, const RawShape& raw, std::optional<Type> as) {
    const Type type = raw_type(path, raw, as);
    const std::int64_t bytes = matrix_bytes(raw.type, raw.rows, raw.cols);
    const std::int64_t file_bytes = regular_file_bytes(path);
    fail_if(file_bytes != bytes, ErrorCode::input, "'{}' has {} bytes, and {} x {} of {} make {}; give its true shape",
            path, file_bytes, raw.rows, raw.cols, type_name(raw.type), bytes);
    const auto element = static_cast<std::int64_t>(element_bytes(raw.type));
    return {path, path, type, {raw.rows, raw.cols, element, false, 0, 1}, file_bytes};
}

MatrixSource packed_matrix(const MatrixName& name) {
    const BitFileHeader header = read_bit_header(name.path, name.columns);
    fail_if(header.format != BitFormat::pbm && header.format != BitFormat::npy_packed, ErrorCode::input,
            "'{}' ({}) can be multiplied in memory only; give more memory, or a PBM file or a packed .npy (--columns)",
            name.path, bit_format_name(header.format));
    FileLayout layout{header.rows, header.cols, 1, false, header.data_offset, 1};
    layout.packed = true;
    return {name.path, name.path, *name.bits, layout, header.data_offset + header.data_bytes};
}

MatrixSource dataset_matrix(const MatrixName& name) {
    constexpr std::int64_t kSmallChunk_bytes = std::int64_t{4} << 20;
    constexpr std::int64_t kCopiesOfChunk = 3;  // packed, unpacked, and kept for the next window
    const Hdf5Dataset dataset = find_hdf5_dataset(name.path, name.as);
    const auto element = static_cast<std::int64_t>(element_bytes(dataset.type));
    MatrixSource source{name.path,
                        dataset.path,
                        dataset.type,
                        {dataset.rows, dataset.cols, element, false, dataset.offset.value_or(0), 1},
                        regular_file_bytes(dataset.path)};
    source.by_library = !dataset.offset;
    source.storage = dataset.storage;
    source.beside_bytes = dataset.chunk_bytes > kSmallChunk_bytes ? kCopiesOfChunk * dataset.chunk_bytes : 0;
    return source;
}

}  // namespace

MatrixSource find_matrix(const MatrixName& name) {
    if (const std::optional<Type> stored = widened_from(name)) {
        fail(ErrorCode::input,
             "'{}' holds {}, which only products in memory read as {}; give more memory, or save it as {}", name.path,
             type_name(*stored), type_name(*name.as), type_name(*name.as));
    }
    if (name.bits) {
        return packed_matrix(name);
    }
    if (name.raw) {
        return raw_matrix(name.path, *name.raw, name.as);
    }
    fail_if(is_matrix_market_name(name.path), ErrorCode::input,
            "'{}' is a Matrix Market file, which only products in memory read; give more memory, or save it "
            "as .npy",
            name.path);
    if (is_hdf5_name(name.path)) {
        return dataset_matrix(name);
    }
    const NpyHeader header = read_npy_header(name.path, name.as);
    const auto element = static_cast<std::int64_t>(element_bytes(header.type));
    return {name.path,
            name.path,
            header.type,
            {header.rows, header.cols, element, header.fortran_order, header.data_offset, 1},
            header.data_offset + header.data_bytes};
}

MatrixFacts matrix_facts(const MatrixName& name) {
    if (widened_from(name)) {
        const MatrixFacts stored = matrix_facts({.path = name.path});
        return {*name.as, stored.rows, stored.cols,
                checked_add(stored.bytes, matrix_bytes(*name.as, stored.rows, stored.cols))};
    }
    if (!name.bits && !name.raw && is_matrix_market_name(name.path)) {
        const MarketHeader header = read_market_header(name.path);
        const Type type = market_type(header, name.path, name.as);
        return {type, header.rows, header.cols, matrix_bytes(type, header.rows, header.cols)};
    }
    const MatrixSource source = find_matrix(name);
    return {source.type, source.layout.rows, source.layout.cols, source.layout.total_bytes()};
}

}  // namespace heptad
