#include "io/journal.hpp"

#include <cstdlib>

#include "base/fail_if.hpp"
#include "base/text_stream.hpp"

namespace heptad {
namespace {

constexpr const char* kAnyTitle = "heptad-journal ";
constexpr const char* kTitle = "heptad-journal 4";
constexpr const char* kVerified = "verified";
constexpr const char* kSeen = "seen";
constexpr const char* kWayOut = "choose another place for the result";

/// The rest of a line after its first word.
std::string after_word(const std::string& text) {
    const auto blank = text.find(' ');
    return blank == std::string::npos ? "" : text.substr(blank + 1);
}

/// A name may hold anything, and a line must not end in its middle.
std::string escaped(const std::string& name) {
    std::string text;
    for (const char c : name) {
        text += c == '\\' ? "\\\\" : c == '\n' ? "\\n" : std::string(1, c);
    }
    return text;
}

std::string unescaped(const std::string& text) {
    std::string name;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool escape = text[i] == '\\' && i + 1 < text.size();
        i += escape ? 1 : 0;
        name += escape && text[i] == 'n' ? '\n' : text[i];
    }
    return name;
}

/// Takes one line of the header. False: it makes no sense.
bool take_header_line(const std::string& text, JournalHeader& header) {
    std::istringstream words = stream_of(text);
    std::string kind;
    words >> kind;
    if (kind == "plan") {
        header.plan = parse_plan(text);
    } else if (kind == "product") {
        header.products.push_back(parse_plan(after_word(text)));
    } else if (kind == "how") {
        header.how.push_back(after_word(text));
    } else if (kind == "scalars") {
        std::string alpha, beta, of_alpha, of_beta;
        words >> alpha >> beta >> of_alpha >> of_beta;
        words.clear();  // the last two are not there where factors are real
        header.alpha = {std::strtod(alpha.c_str(), nullptr), std::strtod(of_alpha.c_str(), nullptr)};
        header.beta = {std::strtod(beta.c_str(), nullptr), std::strtod(of_beta.c_str(), nullptr)};
    } else if (kind == "input") {
        JournalInput input;
        words >> input.identity.bytes >> input.identity.changed_ns >> input.identity.samples >> input.touched_ns;
        words.get();
        std::getline(words, input.name);
        input.name = unescaped(input.name);
        header.inputs.push_back(input);
        return !words.fail();
    } else {
        return false;
    }
    return true;
}

/// What may follow the checksum of a tile.
void take_tile_words(std::istringstream& words, JournalTile& tile) {
    std::string word, a, b;
    while (words >> word) {
        if (word == kVerified) {
            tile.verified = true;
        } else if (word == kSeen && words >> a >> b) {
            tile.seen = LargestValues{std::strtod(a.c_str(), nullptr), std::strtod(b.c_str(), nullptr), 0};
        }
    }
}

/// Takes a line after the header: a tile, or a window that was read. False: it makes no sense.
bool take_line(const std::string& text, JournalContents& contents) {
    std::istringstream words = stream_of(text);
    std::string kind, of;
    words >> kind;
    if (kind == "tile") {
        std::int64_t index = 0;
        JournalTile tile;
        if (!(words >> index >> tile.sum)) {
            return false;
        }
        take_tile_words(words, tile);
        contents.tiles[index] = tile;
        return true;
    }
    std::int64_t number = 0;
    std::uint64_t sum = 0;
    if (kind != "read" || !(words >> of >> number >> sum) || !kReadNames.find(of)) {
        return false;
    }
    contents.reads[{*kReadNames.find(of), number}] = sum;
    return true;
}

std::string header_text(const JournalHeader& header) {
    std::string text = sealed(kTitle) + sealed(to_string(header.plan));
    for (const ProductPlan& product : header.products) {
        text += sealed("product " + to_string(product));
    }
    for (const std::string& how : header.how) {
        text += sealed("how " + how);
    }
    const std::string imaginary = header.alpha.imag() != 0 || header.beta.imag() != 0
                                      ? fmt::format(" {:a} {:a}", header.alpha.imag(), header.beta.imag())
                                      : "";
    text += sealed(fmt::format("scalars {:a} {:a}{}", header.alpha.real(), header.beta.real(), imaginary));
    for (const JournalInput& input : header.inputs) {
        text += sealed(fmt::format("input {} {} {} {} {}", input.identity.bytes, input.identity.changed_ns,
                                   input.identity.samples, input.touched_ns, escaped(input.name)));
    }
    return text + sealed("begin");
}

[[noreturn]] void fail_damaged(const std::string& path, std::int64_t line) {
    fail(ErrorCode::input,
         "the journal '{}' is damaged at line {}, so it is unknown what is finished; start over without --resume", path,
         line);
}

/// Takes a whole line of the header. True: it was the last one.
bool take_whole_line(const std::string& path, const std::string& text, std::int64_t number, JournalHeader& header) {
    if (number == 1) {
        fail_if(text != kTitle, ErrorCode::input,
                "'{}' {}, so this version of Heptad cannot resume it; start over without --resume", path,
                text.starts_with(kAnyTitle) ? "was written by another version" : "is not a journal");
        return false;
    }
    if (text == "begin") {
        return true;
    }
    try {
        if (take_header_line(text, header)) {
            return false;
        }
    } catch (const Error&) {  // a line whose words mean nothing
    }
    fail_damaged(path, number);
}

}  // namespace

std::optional<JournalContents> read_journal(const std::string& path) {
    JournalContents contents;
    bool has_begun = false;
    const std::optional<SealedLines> lines =
        read_sealed_lines(path, [&](std::int64_t number, const std::optional<std::string>& text) {
            if (!has_begun) {
                if (!text) {
                    fail_damaged(path, number);
                }
                has_begun = take_whole_line(path, *text, number, contents.header);
            } else if (!text || !take_line(*text, contents)) {
                ++contents.damaged_lines;
            }
            return true;
        });
    if (!lines) {
        return std::nullopt;
    }
    if (!has_begun) {
        fail_damaged(path, lines->count + 1);
    }
    contents.believed_bytes = lines->believed_bytes;
    return contents;
}

JournalWriter::JournalWriter(const OutputNames& names, const JournalHeader& header)
    : file_(names.journal(), names.new_journal(), kWayOut) {
    file_.append(header_text(header));
    file_.sync();
    file_.publish(names.new_journal());
}

JournalWriter::JournalWriter(const OutputNames& names, const JournalContents& contents)
    : file_(names.journal(), contents.believed_bytes, kWayOut) {}

void JournalWriter::add_tile(std::int64_t index, const JournalTile& tile, const WindowSums& reads) {
    std::string lines;
    for (const auto& [window, sum] : reads) {
        lines += sealed(fmt::format("read {} {} {}", kReadNames.of(window.of), window.number, sum));
    }
    std::string text = fmt::format("tile {} {}", index, tile.sum);
    if (tile.verified) {
        text += fmt::format(" {}", kVerified);
    }
    if (tile.seen) {
        text += fmt::format(" {} {:a} {:a}", kSeen, tile.seen->a, tile.seen->b);
    }
    file_.append(lines + sealed(text));
}

}  // namespace heptad
