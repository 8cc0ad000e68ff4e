// For tests: sees every call of the operating system that a product from file to file makes, or lets one fail.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace heptad {

enum class IoCall : std::uint8_t { open, lock, reserve, read, write, sync, rename, remove };

/// What a watch makes of a call: nothing, an error (an errno that is reported instead of calling), or fewer bytes.
struct IoVerdict {
    int error = 0;
    std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();
};
/// Sees a call as it is issued, with its bytes; from any thread.
using IoWatch = std::function<IoVerdict(IoCall call, std::int64_t bytes)>;

/// Of the process; null but in a test, which sets it while no product is under way.
inline constinit const IoWatch* io_watch = nullptr;

/// Throws what the watch wants thrown for a call that moves nothing; `name` is the file.
void ask_watch(IoCall call, const std::string& name, bool writing, std::int64_t bytes = 0);

}  // namespace heptad
