// Words of the text formats of this layer.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace heptad {

inline constexpr std::string_view kBlanks = " \t\r\v\f";

/// Without blanks at both ends.
inline std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

inline std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    for (text = trimmed(text); !text.empty();) {
        const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
        words.push_back(text.substr(0, end));
        text = trimmed(text.substr(end));
    }
    return words;
}

}  // namespace heptad
