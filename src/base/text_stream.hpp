// Streams that words of a text are read from, and parts.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace heptad {

/// A stream usually takes std::bad_alloc for the end of its text, so that a part of it would be read as if it were all;
/// this one lets it through.
inline std::istringstream stream_of(const std::string& text) {
    std::istringstream stream(text);
    stream.exceptions(std::ios::badbit);
    return stream;
}

/// An empty part at the end is left out.
inline std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream = stream_of(text);
    for (std::string part; std::getline(stream, part, separator);) {
        parts.push_back(part);
    }
    return parts;
}

}  // namespace heptad
