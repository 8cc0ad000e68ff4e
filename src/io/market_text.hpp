// The text of a Matrix Market file: its lines, and the words and numbers in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fail_if.hpp"
#include "io/open_file.hpp"

namespace heptad {

/// A file by lines, which knows where it is.
class MarketLines {
public:
    explicit MarketLines(const std::string& path) : path_(path), open_(open_to_read(path, "a file")) {}

    std::int64_t file_bytes() const { return open_.bytes; }
    double fraction() const {
        return open_.bytes > 0 ? static_cast<double>(offset_) / static_cast<double>(open_.bytes) : 1.0;
    }

    /// False at the end of the file.
    bool next(std::string& line);
    /// The next line that says something.
    bool next_but_comments(std::string& line);
    [[noreturn]] void refuse(const std::string& why) const {
        fail(ErrorCode::input, "'{}', line {}: {}", path_, number_, why);
    }
    void refuse_if(bool wrong, std::string_view why) const {
        fail_if(wrong, ErrorCode::input, "'{}', line {}: {}", path_, number_, why);
    }

private:
    bool fill();

    std::string path_;
    OpenFile open_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;
    std::int64_t offset_ = 0, number_ = 0;
};

bool is_blank(std::string_view text);
/// The first word of `text`, which is cut off.
std::string_view take_word(std::string_view& text);
/// A whole number at the start of `text`, which is cut off.
bool take_number(std::string_view& text, std::int64_t& number);
/// Without the blanks around it and a plus sign.
std::string_view number_text(std::string_view text);
/// The finite number that `text` is.
bool is_number(std::string_view text, double& number);
/// The integer that a number is: by its text, since not every one is a double, or else by its double.
std::optional<std::int64_t> whole_number(std::string_view text, double number);
/// Is `text` an integer, and its double another one?
bool is_rounded(std::string_view text, double number);

}  // namespace heptad
