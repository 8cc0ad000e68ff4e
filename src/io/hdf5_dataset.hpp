// Datasets of HDF5 files: where one lies, reading one that lies nowhere in one piece (chunked, compressed), and writing
// one. The same header serves builds without the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/view.hpp"
#include "io/hooks.hpp"

namespace heptad {

/// "a/b.h5:/x/y" in two; no dataset where there is no ":/".
struct Hdf5Name {
    std::string file, dataset;
};
Hdf5Name split_hdf5_name(const std::string& name);

struct Hdf5Dataset {
    std::string path;  ///< of the file
    Type type = Type::f32;
    std::int64_t rows = 0, cols = 0;
    std::optional<std::int64_t> offset = {};  ///< of the first element in the file; nothing: only the library reads it
    std::string storage = {};                 ///< in words: "one piece", "chunks of 64 x 64, deflate"
    std::int64_t chunk_bytes = 0;             ///< of an unpacked one
};

/// `name` is "file.h5:/path/of/dataset". Throws Error(input).
Hdf5Dataset find_hdf5_dataset(const std::string& name, std::optional<Type> as);

/// An open dataset that the library reads, block by block. From any thread, one at a time.
class Hdf5Reader {
public:
    /// What find_hdf5_dataset() found. Throws Error(input).
    explicit Hdf5Reader(const std::string& name);
    ~Hdf5Reader();
    Hdf5Reader(const Hdf5Reader&) = delete;
    Hdf5Reader& operator=(const Hdf5Reader&) = delete;

    /// Rows that lie `stride` elements apart in memory. Throws Error(input) where a chunk is damaged.
    void read(std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols, std::byte* memory,
              std::int64_t stride) const;

private:
    struct Open;
    std::string name_;
    std::unique_ptr<Open> open_;
};

/// Writes a matrix of f64, f32, i32 or i64 under such a name. Other datasets of a file that exists stay, one of the
/// same name is replaced. The file is copied, and takes its name when the copy is complete and synced: a kill leaves
/// the old one. Throws Error(input), Error(resource) and Error(cancelled).
void write_hdf5_dataset(const std::string& name, const ConstView& matrix, const FileHooks& hooks = {});

/// Throws Error(input) now, before a long computation, where the name or the type rule that out. Leaves nothing.
void check_hdf5_writable(const std::string& name, Type type);

}  // namespace heptad
