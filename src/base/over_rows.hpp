// Passes over the rows of a matrix, dealt out to threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/size.hpp"
#include "base/thread_pool.hpp"

namespace heptad {

/// for_row(i), many rows to a task.
template <class ForRow>
void over_rows(std::int64_t rows, std::int64_t cols, ThreadPool& pool, ForRow&& for_row) {
    constexpr std::int64_t kElementsPerTask = std::int64_t{1} << 15;
    const std::int64_t of_task = std::max<std::int64_t>(1, kElementsPerTask / std::max<std::int64_t>(1, cols));
    pool.run(ceil_div(rows, of_task), [&](std::int64_t task) {
        const std::int64_t end = std::min(rows, (task + 1) * of_task);
        for (std::int64_t i = task * of_task; i < end; ++i) {
            for_row(i);
        }
    });
}

}  // namespace heptad
