#include "io/hdf5_dataset.hpp"

#include "base/error.hpp"
#include "io/hdf5_handle.hpp"
#include "io/matrix_source.hpp"

#ifdef HEPTAD_HAS_HDF5
#include <array>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>
#endif

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

#ifdef HEPTAD_HAS_HDF5
namespace {

/// For chunks that windows cut, which would be unpacked again for the next window.
constexpr std::size_t kChunkCache_bytes = std::size_t{16} << 20;

Type element_type(hid_t stored, const std::string& name, std::optional<Type> as) {
    struct Entry {
        hid_t native;
        Type type;
    };
    const std::array<Entry, 3> known{
        {{H5T_IEEE_F64LE, Type::f64}, {H5T_IEEE_F32LE, Type::f32}, {H5T_STD_I32LE, Type::i32}}};
    for (const Entry& entry : known) {
        if (H5Tequal(stored, entry.native) > 0) {
            const bool tf32 = entry.type == Type::f32 && as == Type::tf32;
            if (as && *as != entry.type && !tf32) {
                fail(ErrorCode::input, "'{}' holds {}, which cannot be read as {}; convert it or leave --type out",
                     name, type_name(entry.type), type_name(*as));
            }
            return as.value_or(entry.type);
        }
    }
    fail(ErrorCode::input,
         "'{}' holds elements that are neither little-endian f64, f32 nor i32; write the dataset as one of those",
         name);
}

Hdf5Handle open_file(const Hdf5Name& parts) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // the library would print
    Hdf5Handle file(H5Fopen(parts.file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (file.get() < 0) {
        fail(ErrorCode::input, "'{}' is missing, unreadable or no HDF5 file", parts.file);
    }
    return file;
}

Hdf5Handle open_dataset(const Hdf5Handle& file, const Hdf5Name& parts, hid_t access = H5P_DEFAULT) {
    Hdf5Handle dataset(H5Dopen2(file.get(), parts.dataset.c_str(), access), H5Dclose);
    if (dataset.get() < 0) {
        fail(ErrorCode::input, "'{}' has no dataset '{}'; 'h5ls -r' lists what there is", parts.file, parts.dataset);
    }
    return dataset;
}

std::array<hsize_t, 2> matrix_sizes(const Hdf5Handle& dataset, const std::string& name) {
    const Hdf5Handle space(H5Dget_space(dataset.get()), H5Sclose);
    std::array<hsize_t, 2> sizes{};
    if (H5Sget_simple_extent_ndims(space.get()) != 2 ||
        H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr) != 2) {
        fail(ErrorCode::input, "'{}' does not have 2 dimensions, and a matrix has; write it as one", name);
    }
    return sizes;
}

/// Refuses chunks that this library cannot unpack, before a long run finds out.
void describe_chunks(const Hdf5Handle& creation, const std::string& name, Hdf5Dataset& found) {
    std::array<hsize_t, 2> chunk{};
    H5Pget_chunk(creation.get(), 2, chunk.data());  // the library allows no chunk of 4 GiB or more
    found.chunk_bytes = static_cast<std::int64_t>(chunk[0] * chunk[1] * element_bytes(found.type));
    found.storage = fmt::format("chunks of {} x {}", chunk[0], chunk[1]);
    for (int i = 0; i < H5Pget_nfilters(creation.get()); ++i) {
        std::array<char, 64> filter{};
        unsigned flags = 0;
        std::size_t values = 0;
        const H5Z_filter_t id = H5Pget_filter2(creation.get(), static_cast<unsigned>(i), &flags, &values, nullptr,
                                               filter.size() - 1, filter.data(), nullptr);
        if (H5Zfilter_avail(id) <= 0) {
            fail(
                ErrorCode::input,
                "'{}' is packed by the filter {} ('{}'), which this HDF5 library does not have; install it, or rewrite "
                "the dataset with 'h5repack -f NONE'",
                name, id, filter.data());
        }
        found.storage += fmt::format(", {}", filter.data());
    }
}

}  // namespace

Hdf5Dataset find_hdf5_dataset(const std::string& name, std::optional<Type> as) {
    const Hdf5Name parts = split_hdf5_name(name);
    if (parts.dataset.empty()) {
        fail(ErrorCode::input, "'{}' does not name a dataset; write it as {}:/path/of/dataset", name, name);
    }
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(parts.file, unknown)) {  // the library would wait for a pipe's other end
        fail(ErrorCode::input, "'{}' is missing or no regular file; give the name of an HDF5 file", parts.file);
    }
    const auto lock = hdf5_calls().lock();
    const Hdf5Handle file = open_file(parts);
    const Hdf5Handle dataset = open_dataset(file, parts);
    const std::array<hsize_t, 2> sizes = matrix_sizes(dataset, name);
    const Hdf5Handle stored(H5Dget_type(dataset.get()), H5Tclose);
    const Type type = element_type(stored.get(), name, as);
    constexpr hsize_t kMost = hsize_t{1} << 62;
    const haddr_t offset = H5Dget_offset(dataset.get());
    if (sizes[0] > kMost || sizes[1] > kMost || (offset > kMost && offset != HADDR_UNDEF)) {
        fail(ErrorCode::input, "'{}' claims {} x {} elements, which is more than 64 bits can count", name, sizes[0],
             sizes[1]);
    }
    Hdf5Dataset found{parts.file, type, static_cast<std::int64_t>(sizes[0]), static_cast<std::int64_t>(sizes[1])};
    matrix_bytes(type, found.rows, found.cols);
    const Hdf5Handle creation(H5Dget_create_plist(dataset.get()), H5Pclose);
    const H5D_layout_t layout = H5Pget_layout(creation.get());
    if (layout == H5D_VIRTUAL || H5Pget_external_count(creation.get()) != 0) {
        fail(ErrorCode::input, "'{}' keeps its elements in other files; copy it into one with 'h5repack'", name);
    }
    if (layout == H5D_CHUNKED) {
        describe_chunks(creation, name, found);
    } else if (sizes[0] == 0 || sizes[1] == 0) {
        found.storage = "no elements";
        found.offset = 0;  // such a dataset lies nowhere
    } else if (layout == H5D_CONTIGUOUS && offset != HADDR_UNDEF) {
        found.storage = "one piece";
        found.offset = static_cast<std::int64_t>(offset);
    } else {
        found.storage = layout == H5D_COMPACT ? "inside its header" : "never written";
    }
    return found;
}

struct Hdf5Reader::Open {
    Hdf5Handle file, dataset, type;
};

Hdf5Reader::Hdf5Reader(const std::string& name) : name_(name) {
    const Hdf5Name parts = split_hdf5_name(name);
    const auto lock = hdf5_calls().lock();
    Hdf5Handle file = open_file(parts);
    const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    H5Pset_chunk_cache(access.get(), H5D_CHUNK_CACHE_NSLOTS_DEFAULT, kChunkCache_bytes, H5D_CHUNK_CACHE_W0_DEFAULT);
    Hdf5Handle dataset = open_dataset(file, parts, access.get());
    Hdf5Handle type(H5Dget_type(dataset.get()), H5Tclose);
    open_ = std::make_unique<Open>(Open{std::move(file), std::move(dataset), std::move(type)});
}

Hdf5Reader::~Hdf5Reader() {
    const auto lock = hdf5_calls().lock();
    open_.reset();
}

void Hdf5Reader::read(std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols, std::byte* memory,
                      std::int64_t stride) const {
    if (rows == 0 || cols == 0) {
        return;
    }
    const auto sizes = [](std::int64_t x, std::int64_t y) {
        return std::array<hsize_t, 2>{static_cast<hsize_t>(x), static_cast<hsize_t>(y)};
    };
    const std::array<hsize_t, 2> from = sizes(row, col), count = sizes(rows, cols), lines = sizes(rows, stride),
                                 origin{};
    const auto lock = hdf5_calls().lock();
    const Hdf5Handle in_file(H5Dget_space(open_->dataset.get()), H5Sclose);
    const Hdf5Handle in_memory(H5Screate_simple(2, lines.data(), nullptr), H5Sclose);
    const auto select = [&](const Hdf5Handle& space, const std::array<hsize_t, 2>& start) {
        return H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0;
    };
    if (!select(in_file, from) || !select(in_memory, origin) ||
        H5Dread(open_->dataset.get(), open_->type.get(), in_memory.get(), in_file.get(), H5P_DEFAULT, memory) < 0) {
        fail(ErrorCode::input, "'{}' cannot be read by the HDF5 library from row {} on; a chunk is damaged or missing",
             name_, row);
    }
}
#else
Hdf5Dataset find_hdf5_dataset(const std::string& name, std::optional<Type>) {
    fail(ErrorCode::input, "'{}' is an HDF5 file, and this build does not have the HDF5 library; convert it to .npy",
         name);
}

struct Hdf5Reader::Open {};
Hdf5Reader::Hdf5Reader(const std::string& name) : name_(name) {
    find_hdf5_dataset(name, {});  // refuses
}
Hdf5Reader::~Hdf5Reader() = default;
void Hdf5Reader::read(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::byte*, std::int64_t) const {}
#endif

}  // namespace heptad
