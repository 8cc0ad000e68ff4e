// Every byte arrives, and none beside, at whatever place and length a copy begins and ends.
#include "move/streaming_copy.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace heptad {
namespace {

TEST(StreamingCopy, any_place_and_length_is_copied_and_nothing_beside) {
    constexpr std::int64_t kLongest = 200, kGuard = 64;
    constexpr auto kUntouched = std::byte{0xee};
    std::vector<std::byte> source(kLongest + kGuard);
    for (std::size_t i = 0; i < source.size(); ++i) {
        source[i] = static_cast<std::byte>(i % 200);
    }
    for (std::int64_t to = 0; to < 17; ++to) {
        for (const std::int64_t from : {0, 1, 4, 8, 15}) {
            for (std::int64_t bytes = 0; bytes <= kLongest; ++bytes) {
                std::vector<std::byte> target(kLongest + 2 * kGuard, kUntouched);
                copy_past_caches(target.data() + to, source.data() + from, bytes);
                for (std::int64_t i = 0; i < static_cast<std::int64_t>(target.size()); ++i) {
                    const bool inside = i >= to && i < to + bytes;
                    ASSERT_EQ(target[static_cast<std::size_t>(i)],
                              inside ? source[static_cast<std::size_t>(from + i - to)] : kUntouched)
                        << "byte " << i << " of " << bytes << " from " << from << " to " << to;
                }
            }
        }
    }
}

}  // namespace
}  // namespace heptad
