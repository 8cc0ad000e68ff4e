// The words for the values of an enum, which stand in the order of the enum.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace heptad {

template <class Enum, std::size_t count>
struct Names {
    std::array<const char*, count> words;

    constexpr const char* of(Enum value) const { return words[static_cast<std::size_t>(value)]; }
    constexpr std::optional<Enum> find(std::string_view word) const {
        for (std::size_t i = 0; i < count; ++i) {
            if (word == words[i]) {
                return static_cast<Enum>(i);
            }
        }
        return std::nullopt;
    }
};

}  // namespace heptad
