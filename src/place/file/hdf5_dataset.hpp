// Contiguous datasets of HDF5 files: where one lies, and writing one. Chunked and compressed ones are refused: their
// elements lie nowhere in one piece. The same header serves builds without the library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/view.hpp"
#include "place/file/hooks.hpp"

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
    std::int64_t offset = 0;  ///< of the first element in the file
};

/// `name` is "file.h5:/path/of/dataset". Throws Error(input).
Hdf5Dataset find_hdf5_dataset(const std::string& name, std::optional<Type> as);

/// Writes a matrix of f64, f32 or i32 under such a name. Other datasets of a file that exists stay, one of the same
/// name is replaced. The file is copied, and takes its name when the copy is complete and synced: a kill leaves the old
/// one. Throws Error(input), Error(resource) and Error(cancelled).
void write_hdf5_dataset(const std::string& name, const ConstView& matrix, const FileHooks& hooks = {});

/// Throws Error(input) now, before a long computation, where the name or the type rule that out. Leaves nothing.
void check_hdf5_writable(const std::string& name, Type type);

}  // namespace heptad
