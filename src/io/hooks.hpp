// What a caller may hand to a long file operation.
#pragma once

#include <heptad/heptad.hpp>

namespace heptad {

struct FileHooks {
    int threads = 0;            ///< 0: all cores this process may use
    ProgressCallback progress;  ///< called from the calling thread, between chunks
    CancelToken cancel;         ///< looked at between chunks; ends the operation with Error(cancelled)
};

}  // namespace heptad
