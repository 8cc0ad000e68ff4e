// How fast the disk of the current folder is.
#pragma once

#include "product/request/request_plan.hpp"

namespace heptad {

/// Writes and reads a file of 256 MiB there, past the cache where the file system allows it. Throws Error(input) where
/// the folder cannot be written.
DiskRates measure_disk();

}  // namespace heptad
