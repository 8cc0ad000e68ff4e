// What a caller may hand to a long file operation.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include <heptad/heptad.hpp>

namespace heptad {

/// Calls of the operating system that a watch is told of.
enum class IoCall : std::uint8_t { open, lock, reserve, read, write, sync, rename, remove };

/// What a watch makes of a call: nothing, an error (an errno that is reported instead of calling), or fewer bytes.
struct IoVerdict {
    int error = 0;
    std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();
};
/// Sees every call as it is issued, with its bytes; from any thread.
using IoWatch = std::function<IoVerdict(IoCall call, std::int64_t bytes)>;

struct FileHooks {
    int threads = 0;            ///< 0: all cores this process may use
    ProgressCallback progress;  ///< called from the calling thread, between chunks
    CancelToken cancel;         ///< looked at between chunks; ends the operation with Error(cancelled)
    IoWatch watch = {};         ///< products from file to file: counts calls and bytes, or lets a call fail (tests)
};

}  // namespace heptad
