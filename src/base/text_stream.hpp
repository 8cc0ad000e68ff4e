// Streams that words of a text are read from.
#pragma once

#include <sstream>
#include <string>

namespace heptad {

/// A stream usually takes std::bad_alloc for the end of its text, so that a part of it would be read as if it were all;
/// this one lets it through.
inline std::istringstream stream_of(const std::string& text) {
    std::istringstream stream(text);
    stream.exceptions(std::ios::badbit);
    return stream;
}

}  // namespace heptad
