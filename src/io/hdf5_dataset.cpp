#include "io/hdf5_dataset.hpp"

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/fail_if.hpp"
#include "io/hdf5_library.hpp"
#include "io/matrix_source.hpp"

namespace heptad {
namespace {

bool ends_in(const std::string& text, const std::string& suffix) {
    return text.size() > suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

}  // namespace

Hdf5Name split_hdf5_name(const std::string& name) {
    const auto colon = name.rfind(":/");
    return colon == std::string::npos ? Hdf5Name{name, ""} : Hdf5Name{name.substr(0, colon), name.substr(colon + 1)};
}

bool is_hdf5_name(const std::string& name) {
    const std::string file = split_hdf5_name(name).file;
    return ends_in(file, ".h5") || ends_in(file, ".hdf5");
}

namespace {

/// For chunks that windows cut, which would be unpacked again for the next window.
constexpr std::size_t kChunkCache_bytes = std::size_t{16} << 20;

Type element_type(const hdf5::Calls& h5, hdf5::Id stored, const std::string& name, std::optional<Type> as) {
    for (const Type type : {Type::f64, Type::f32, Type::i32, Type::i64, Type::c128, Type::c64}) {
        if (h5->Tequal(stored, hdf5::stored_type(h5, type).get()) > 0) {
            const bool tf32 = type == Type::f32 && as == Type::tf32;
            if (as && *as != type && !tf32) {
                fail(ErrorCode::input, "'{}' holds {}, which cannot be read as {}; convert it or leave --type out",
                     name, type_name(type), type_name(*as));
            }
            return as.value_or(type);
        }
    }
    fail(ErrorCode::input,
         "'{}' holds elements that are neither little-endian f64, f32, i32, i64 nor complex numbers of such floats; "
         "write "
         "the dataset as one of those",
         name);
}

hdf5::Handle open_file(const hdf5::Calls& h5, const Hdf5Name& parts) {
    hdf5::Handle file(h5->Fopen(parts.file.c_str(), hdf5::kReadOnly, hdf5::kDefault), h5->Fclose);
    fail_if(file.get() < 0, ErrorCode::input, "'{}' is missing, unreadable or not an HDF5 file", parts.file);
    return file;
}

hdf5::Handle open_dataset(const hdf5::Calls& h5, const hdf5::Handle& file, const Hdf5Name& parts,
                          hdf5::Id access = hdf5::kDefault) {
    hdf5::Handle dataset(h5->Dopen2(file.get(), parts.dataset.c_str(), access), h5->Dclose);
    fail_if(dataset.get() < 0, ErrorCode::input, "'{}' has no dataset '{}'; 'h5ls -r' lists what there is", parts.file,
            parts.dataset);
    return dataset;
}

std::array<hdf5::Size, 2> matrix_sizes(const hdf5::Calls& h5, const hdf5::Handle& dataset, const std::string& name) {
    const hdf5::Handle space(h5->Dget_space(dataset.get()), h5->Sclose);
    std::array<hdf5::Size, 2> sizes{};
    fail_if(h5->Sget_simple_extent_ndims(space.get()) != 2 ||
                h5->Sget_simple_extent_dims(space.get(), sizes.data(), nullptr) != 2,
            ErrorCode::input, "'{}' does not have 2 dimensions, and a matrix has; write it as one", name);
    return sizes;
}

/// Refuses chunks that this library cannot unpack, before a long run finds out.
void describe_chunks(const hdf5::Calls& h5, const hdf5::Handle& creation, const std::string& name, Hdf5Dataset& found) {
    std::array<hdf5::Size, 2> chunk{};
    h5->Pget_chunk(creation.get(), 2, chunk.data());  // the library allows no chunk of 4 GiB or more
    found.chunk_bytes = static_cast<std::int64_t>(chunk[0] * chunk[1] * element_bytes(found.type));
    found.storage = fmt::format("chunks of {} x {}", chunk[0], chunk[1]);
    for (int i = 0; i < h5->Pget_nfilters(creation.get()); ++i) {
        std::array<char, 64> filter{};
        unsigned flags = 0;
        std::size_t values = 0;
        const int id = h5->Pget_filter2(creation.get(), static_cast<unsigned>(i), &flags, &values, nullptr,
                                        filter.size() - 1, filter.data(), nullptr);
        fail_if(h5->Zfilter_avail(id) <= 0, ErrorCode::input,
                "'{}' is packed by the filter {} ('{}'), which this HDF5 library does not have; install it, or rewrite "
                "the dataset with 'h5repack -f NONE'",
                name, id, filter.data());
        found.storage += fmt::format(", {}", filter.data());
    }
}

}  // namespace

Hdf5Dataset find_hdf5_dataset(const std::string& name, std::optional<Type> as) {
    const Hdf5Name parts = split_hdf5_name(name);
    fail_if(parts.dataset.empty(), ErrorCode::input, "'{}' does not name a dataset; write it as {}:/path/of/dataset",
            name, name);
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(parts.file, unknown)) {  // the library would wait for a pipe's other end
        fail(ErrorCode::input, "'{}' is missing or not a regular file; give the name of an HDF5 file", parts.file);
    }
    const hdf5::Calls h5(name);
    const hdf5::Handle file = open_file(h5, parts);
    const hdf5::Handle dataset = open_dataset(h5, file, parts);
    const std::array<hdf5::Size, 2> sizes = matrix_sizes(h5, dataset, name);
    const hdf5::Handle stored(h5->Dget_type(dataset.get()), h5->Tclose);
    const Type type = element_type(h5, stored.get(), name, as);
    constexpr hdf5::Size kMost = hdf5::Size{1} << 62;
    const hdf5::Address offset = h5->Dget_offset(dataset.get());
    if (sizes[0] > kMost || sizes[1] > kMost || (offset > kMost && offset != hdf5::kNowhere)) {
        fail(ErrorCode::input, "'{}' claims {} x {} elements, which is more than 64 bits can count", name, sizes[0],
             sizes[1]);
    }
    Hdf5Dataset found{parts.file, type, static_cast<std::int64_t>(sizes[0]), static_cast<std::int64_t>(sizes[1])};
    matrix_bytes(type, found.rows, found.cols);
    const hdf5::Handle creation(h5->Dget_create_plist(dataset.get()), h5->Pclose);
    const int layout = h5->Pget_layout(creation.get());
    fail_if(layout == hdf5::kVirtual || h5->Pget_external_count(creation.get()) != 0, ErrorCode::input,
            "'{}' keeps its elements in other files; copy it into one with 'h5repack'", name);
    if (layout == hdf5::kChunked) {
        describe_chunks(h5, creation, name, found);
    } else if (sizes[0] == 0 || sizes[1] == 0) {
        found.storage = "no elements";
        found.offset = 0;  // such a dataset lies nowhere
    } else if (layout == hdf5::kContiguous && offset != hdf5::kNowhere) {
        found.storage = "one piece";
        found.offset = static_cast<std::int64_t>(offset);
    } else {
        found.storage = layout == hdf5::kCompact ? "inside its header" : "never written";
    }
    return found;
}

struct Hdf5Reader::Open {
    hdf5::Handle file, dataset, type;
};

Hdf5Reader::Hdf5Reader(const std::string& name) : name_(name) {
    const Hdf5Name parts = split_hdf5_name(name);
    const hdf5::Calls h5(name);
    hdf5::Handle file = open_file(h5, parts);
    const hdf5::Handle access(h5->Pcreate(h5->dataset_access), h5->Pclose);
    h5->Pset_chunk_cache(access.get(), hdf5::kDefaultSlots, kChunkCache_bytes, hdf5::kDefaultPreemption);
    hdf5::Handle dataset = open_dataset(h5, file, parts, access.get());
    hdf5::Handle type(h5->Dget_type(dataset.get()), h5->Tclose);
    open_ = std::make_unique<Open>(Open{std::move(file), std::move(dataset), std::move(type)});
}

Hdf5Reader::~Hdf5Reader() {
    const hdf5::Calls h5(name_);
    open_.reset();
}

void Hdf5Reader::read(std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols, std::byte* memory,
                      std::int64_t stride) const {
    if (rows == 0 || cols == 0) {
        return;
    }
    const auto sizes = [](std::int64_t x, std::int64_t y) {
        return std::array<hdf5::Size, 2>{static_cast<hdf5::Size>(x), static_cast<hdf5::Size>(y)};
    };
    const std::array<hdf5::Size, 2> from = sizes(row, col), count = sizes(rows, cols), lines = sizes(rows, stride),
                                    origin{};
    const hdf5::Calls h5(name_);
    const hdf5::Handle in_file(h5->Dget_space(open_->dataset.get()), h5->Sclose);
    const hdf5::Handle in_memory(h5->Screate_simple(2, lines.data(), nullptr), h5->Sclose);
    const auto select = [&](const hdf5::Handle& space, const std::array<hdf5::Size, 2>& start) {
        return h5->Sselect_hyperslab(space.get(), hdf5::kSelectSet, start.data(), nullptr, count.data(), nullptr) >= 0;
    };
    fail_if(!select(in_file, from) || !select(in_memory, origin) ||
                h5->Dread(open_->dataset.get(), open_->type.get(), in_memory.get(), in_file.get(), hdf5::kDefault,
                          memory) < 0,
            ErrorCode::input, "'{}' cannot be read by the HDF5 library from row {} on; a chunk is damaged or missing",
            name_, row);
}

}  // namespace heptad
