// The known word that somebody may have meant who typed another.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heptad {

/// How many letters have to be put in, taken out or changed.
inline std::size_t edit_distance(std::string_view from, std::string_view to) {
    std::vector<std::size_t> row(to.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < from.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < to.size(); ++j) {
            const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
            diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, changed}));
        }
    }
    return row.back();
}

/// " (did you mean 'mul'?)", or "" where no known word is near: up to a third of the letters are wrong, or the first
/// one is right and letters are missing or too many, as in "stras" and "float32".
inline std::string nearest_hint(std::string_view word, const std::vector<std::string>& known) {
    std::string nearest;
    std::size_t least = std::string::npos;
    for (const std::string& one : known) {
        const std::size_t distance = edit_distance(word, one);
        const std::size_t longer = std::max(word.size(), one.size()), shorter = std::min(word.size(), one.size());
        const bool part = shorter > 0 && word.front() == one.front() && distance == longer - shorter;
        if (distance < least && (part || distance <= std::max<std::size_t>(1, word.size() / 3))) {
            least = distance;
            nearest = one;
        }
    }
    return nearest.empty() ? "" : " (did you mean '" + nearest + "'?)";
}

}  // namespace heptad
