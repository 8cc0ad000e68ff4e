#include "place/file/journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "place/file/sealed_line.hpp"

namespace heptad {
namespace {

constexpr const char* kTitle = "heptad-journal 1";
constexpr const char* kVerified = "verified";
constexpr const char* kSeen = "seen";

/// The rest of a line after its first word.
std::string after_word(const std::string& text) {
    const auto blank = text.find(' ');
    return blank == std::string::npos ? "" : text.substr(blank + 1);
}

/// Takes one line of the header. False: it makes no sense.
bool take_header_line(const std::string& text, JournalHeader& header) {
    std::istringstream words(text);
    std::string kind;
    words >> kind;
    if (kind == "plan") {
        header.plan = parse_file_plan(after_word(text));
    } else if (kind == "product") {
        header.products.push_back(parse_plan(after_word(text)));
    } else if (kind == "how") {
        header.how.push_back(after_word(text));
    } else if (kind == "layers") {
        header.layers = after_word(text);
    } else if (kind == "scalars") {
        std::string alpha, beta;
        words >> alpha >> beta;
        header.alpha = std::strtod(alpha.c_str(), nullptr);
        header.beta = std::strtod(beta.c_str(), nullptr);
    } else if (kind == "input") {
        JournalInput input;
        words >> input.identity.bytes >> input.identity.changed_ns >> input.identity.samples;
        words.get();
        std::getline(words, input.name);
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

std::string header_text(const JournalHeader& header) {
    std::string text = sealed(kTitle) + sealed("plan " + to_string(header.plan));
    for (const ProductPlan& product : header.products) {
        text += sealed("product " + to_string(product));
    }
    for (const std::string& how : header.how) {
        text += sealed("how " + how);
    }
    if (!header.layers.empty()) {
        text += sealed("layers " + header.layers);
    }
    text += sealed(fmt::format("scalars {:a} {:a}", header.alpha, header.beta));
    for (const JournalInput& input : header.inputs) {
        text += sealed(fmt::format("input {} {} {} {}", input.identity.bytes, input.identity.changed_ns,
                                   input.identity.samples, input.name));
    }
    return text + sealed("begin");
}

[[noreturn]] void fail_journal(const std::string& path, int why) {
    fail(write_error_code(why), "'{}' cannot be written: {}; choose another place for the result", path,
         system_error_text(why));
}

/// What is there but cannot be read must not pass for nothing: a run that starts over removes it.
[[noreturn]] void fail_unreadable(const std::string& path) {
    fail(ErrorCode::input, "'{}' cannot be read; make it readable, or start over without --resume", path);
}

}  // namespace

std::optional<JournalContents> read_journal(const std::string& path) {
    if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) {
        return std::nullopt;
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        fail_unreadable(path);
    }
    std::string line;
    JournalContents contents;
    bool has_title = false, has_begun = false;
    while (std::getline(file, line) && !file.eof()) {
        const std::optional<std::string> text = unsealed(line);
        if (!text) {
            break;
        }
        if (!has_title) {
            if (*text != kTitle) {
                return std::nullopt;
            }
            has_title = true;
        } else if (!has_begun) {
            has_begun = *text == "begin";
            try {
                if (!has_begun && !take_header_line(*text, contents.header)) {
                    return std::nullopt;
                }
            } catch (const Error&) {  // a whole line of another version
                return std::nullopt;
            }
        } else {
            std::istringstream words(*text);
            std::string kind;
            std::int64_t index = 0;
            JournalTile tile;
            if (!(words >> kind >> index >> tile.sum) || kind != "tile") {
                break;
            }
            take_tile_words(words, tile);
            contents.tiles[index] = tile;
        }
        contents.believed_bytes += static_cast<std::int64_t>(line.size()) + 1;
    }
    if (file.bad()) {
        fail_unreadable(path);
    }
    return has_begun ? std::optional(contents) : std::nullopt;
}

JournalWriter::JournalWriter(const std::string& path, const JournalHeader& header, IoWatch watch)
    : path_(path), watch_(std::move(watch)) {
    ask_watch(watch_, IoCall::open, path_, true);
    file_ = Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (file_.get() < 0) {
        fail_journal(path_, errno);
    }
    append(header_text(header));
}

JournalWriter::JournalWriter(const std::string& path, const JournalContents& contents, IoWatch watch)
    : path_(path), watch_(std::move(watch)) {
    ask_watch(watch_, IoCall::open, path_, true);
    file_ = Descriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
    if (file_.get() < 0 || ::ftruncate(file_.get(), contents.believed_bytes) != 0) {
        fail_journal(path_, errno);
    }
}

void JournalWriter::add_tile(std::int64_t index, const JournalTile& tile) {
    std::string text = fmt::format("tile {} {}", index, tile.sum);
    if (tile.verified) {
        text += fmt::format(" {}", kVerified);
    }
    if (tile.seen) {
        text += fmt::format(" {} {:a} {:a}", kSeen, tile.seen->a, tile.seen->b);
    }
    append(sealed(text));
}

void JournalWriter::append(const std::string& text) {
    ask_watch(watch_, IoCall::write, path_, true);
    write_exactly(write_to(file_.get()), text.data(), static_cast<std::int64_t>(text.size()), path_);
}

void JournalWriter::sync() {
    ask_watch(watch_, IoCall::sync, path_, true);
    if (::fdatasync(file_.get()) != 0) {
        fail_journal(path_, errno);
    }
}

}  // namespace heptad
