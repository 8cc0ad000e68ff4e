// How many rows of A and columns of B are multiplied at a time where they must be copied first, into little memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace heptad::cuda {

struct OperandLines {
    std::int64_t lines = 0;
    bool copied = false;  // otherwise all of them are there
};
struct LinesAtOnce {
    std::int64_t a = 0, b = 0;
    bool operator==(const LinesAtOnce&) const = default;
};

/// Nothing where there is room for so few that most of the time would go into copies and launches.
inline std::optional<LinesAtOnce> lines_at_once(const OperandLines& a, const OperandLines& b, std::int64_t line_bytes,
                                                std::int64_t room_bytes) {
    constexpr std::int64_t kWholeTiles = 768, kMostParts = 8;
    const std::int64_t room = room_bytes / line_bytes;
    const auto part = [](const OperandLines& x, std::int64_t most) {
        const std::int64_t lines = std::min(x.lines, most);
        return lines == x.lines ? lines : lines / kWholeTiles * kWholeTiles;
    };
    const auto copied = [](const OperandLines& x, std::int64_t lines) { return x.copied ? lines : 0; };
    LinesAtOnce some{a.lines, b.lines};
    if (a.copied) {
        // The smaller operand is copied once, if there is room for it.
        some.a = part(a, b.copied ? std::max(room / 2, room - b.lines) : room);
    }
    if (b.copied) {
        some.b = part(b, room - copied(a, some.a));
    }
    const auto enough = [](const OperandLines& x, std::int64_t lines) { return lines * kMostParts >= x.lines; };
    return enough(a, some.a) && enough(b, some.b) ? std::optional(some) : std::nullopt;
}

}  // namespace heptad::cuda
