#include "io/market_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/text_stream.hpp"

namespace heptad {
namespace {

/// A line is a few numbers or a comment.
constexpr std::size_t kMostLineBytes = 65536;

}  // namespace

bool MarketLines::next(std::string& line) {
    line.clear();
    ++number_;
    for (;;) {
        if (begin_ == buffer_.size() && !fill()) {
            return !line.empty();
        }
        const auto* const found =
            static_cast<const char*>(std::memchr(buffer_.data() + begin_, '\n', buffer_.size() - begin_));
        const std::size_t end = found == nullptr ? buffer_.size() : static_cast<std::size_t>(found - buffer_.data());
        line.append(buffer_.data() + begin_, end - begin_);
        begin_ = std::min(end + 1, buffer_.size());
        refuse_if(line.size() > kMostLineBytes, "has a line of more than 65536 characters");
        if (found != nullptr) {
            return true;
        }
    }
}

bool MarketLines::next_but_comments(std::string& line) {
    do {
        if (!next(line)) {
            return false;
        }
    } while (line.starts_with('%') || is_blank(line));
    return true;
}

bool MarketLines::fill() {
    buffer_.resize(static_cast<std::size_t>(std::min<std::int64_t>(open_.bytes - offset_, 1 << 20)));
    begin_ = 0;
    read_exactly(read_from(open_.file.get()), buffer_.data(), static_cast<std::int64_t>(buffer_.size()), offset_,
                 path_);
    offset_ += static_cast<std::int64_t>(buffer_.size());
    return !buffer_.empty();
}

bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

std::string_view take_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(" \t\r"));
    text.remove_prefix(word.size());
    return word;
}

bool take_number(std::string_view& text, std::int64_t& number) {
    const std::string_view word = take_word(text);
    const auto [stopped, why] = std::from_chars(word.data(), word.data() + word.size(), number);
    return why == std::errc() && stopped == word.data() + word.size() && !word.starts_with('-');
}

std::string_view number_text(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
    text.remove_suffix(text.size() - std::min(text.find_last_not_of(" \t\r") + 1, text.size()));
    text.remove_prefix(text.starts_with('+') && !text.starts_with("+-") ? 1 : 0);
    return text;
}

bool is_number(std::string_view text, double& number) {
    text = number_text(text);
    const char* const end = text.data() + text.size();
    const auto [stopped, why] = std::from_chars(text.data(), end, number);
    if (why == std::errc::result_out_of_range && stopped == end) {  // too large, or so small that it is zero
        stream_of(std::string(text)) >> number;
        return std::abs(number) < 1;
    }
    return why == std::errc() && stopped == end && std::isfinite(number);
}

std::optional<std::int64_t> whole_number(std::string_view text, double number) {
    text = number_text(text);
    std::int64_t whole = 0;
    const auto [stopped, why] = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (why == std::errc() && stopped == text.data() + text.size()) {
        return whole;
    }
    return std::abs(number) < 0x1p53 && number == std::trunc(number) ? std::optional(static_cast<std::int64_t>(number))
                                                                     : std::nullopt;
}

bool is_rounded(std::string_view text, double number) {
    if (std::abs(number) < 0x1p53) {
        return false;
    }
    text.remove_prefix(std::min(text.find_first_not_of("-0"), text.size()));
    return text.find_first_not_of("0123456789") == std::string_view::npos &&
           text != fmt::format("{:.0f}", std::abs(number));
}

}  // namespace heptad
