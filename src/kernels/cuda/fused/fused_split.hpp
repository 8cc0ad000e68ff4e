// How the tiles of a launch are dealt out when they do not fill the device evenly.
#pragma once

#include <cstdint>

#include "kernels/cuda/fused/fused_arguments.hpp"

namespace heptad::cuda {

/// All tiles whole.
template <class T>
void keep_tiles_whole(FusedArguments<T>& args);

/// Cuts the tiles that remain when every one of `at_once` multiprocessors has had the same number of them into pieces
/// along k, if that is expected to be sooner done. (A multiprocessor that holds two blocks is as fast with one.)
/// `slabs`: steps along k. Updates of a tile wait for each other.
template <class T>
void split_last_tiles(FusedArguments<T>& args, std::int64_t at_once, int slabs);

/// Where updates may come in any order, and a multiprocessor has one block at a time: deals the slabs of the tiles that
/// remain when every block has had the same number of them out to all blocks in equal ranges, if that is expected to be
/// sooner done; of all tiles, where there are few.
template <class T>
void share_last_tiles(FusedArguments<T>& args, int multiprocessors, int slabs);

extern template void keep_tiles_whole(FusedArguments<float>&);
extern template void keep_tiles_whole(FusedArguments<double>&);
extern template void split_last_tiles(FusedArguments<float>&, std::int64_t, int);
extern template void split_last_tiles(FusedArguments<double>&, std::int64_t, int);
extern template void share_last_tiles(FusedArguments<float>&, int, int);
extern template void share_last_tiles(FusedArguments<double>&, int, int);

}  // namespace heptad::cuda
