#include "bench/suites/poison.hpp"

#include <algorithm>

#include "base/size.hpp"
#include "base/thread_pool.hpp"

namespace heptad::cli {

void poison_bytes(void* memory, std::int64_t bytes) {
    constexpr std::int64_t kPerTask_bytes = std::int64_t{16} << 20;
    shared_pool(threads_or_default()).run(ceil_div(bytes, kPerTask_bytes), [&](std::int64_t task) {
        const std::int64_t first = task * kPerTask_bytes;
        std::fill_n(static_cast<std::byte*>(memory) + first, std::min(kPerTask_bytes, bytes - first), std::byte{0x55});
    });
}

}  // namespace heptad::cli
