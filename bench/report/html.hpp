// Texts as parts of a page.
#pragma once

#include <string>
#include <string_view>

namespace heptad::cli {

/// For text inside of HTML and SVG, and for quoted values of attributes. Control characters, which HTML has no way to
/// write, become spaces.
inline std::string html_text(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        switch (c) {
            case '<':
                safe += "&lt;";
                break;
            case '>':
                safe += "&gt;";
                break;
            case '&':
                safe += "&amp;";
                break;
            case '"':
                safe += "&quot;";
                break;
            default:
                safe += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
        }
    }
    return safe;
}

}  // namespace heptad::cli
