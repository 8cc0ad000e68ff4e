// Where a contiguous dataset of an HDF5 file lies. Chunked and compressed ones are refused: their elements lie nowhere
// in one piece. The same header serves builds without the library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <heptad/heptad.hpp>

namespace heptad {

struct Hdf5Dataset {
    std::string path;  ///< of the file
    Type type = Type::f32;
    std::int64_t rows = 0, cols = 0;
    std::int64_t offset = 0;  ///< of the first element in the file
};

/// `name` is "file.h5:/path/of/dataset". Throws Error(input).
Hdf5Dataset find_hdf5_dataset(const std::string& name, std::optional<Type> as);

}  // namespace heptad
