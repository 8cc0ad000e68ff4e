#include "io/rank_journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "base/error.hpp"
#include "base/text_stream.hpp"
#include "io/sealed_line.hpp"

namespace heptad {
namespace {

constexpr const char* kTitle = "heptad-cluster-journal 1";
constexpr const char* kJob = "job ";

[[noreturn]] void fail_journal(const std::string& path, int why) {
    fail(write_error_code(why), "'{}' cannot be written: {}; choose another place or make room", path,
         system_error_text(why));
}

[[noreturn]] void fail_damaged(const std::string& path) {
    fail(ErrorCode::input,
         "the journal '{}' is damaged at its head, so that nobody knows what is finished; start over without --resume",
         path);
}

/// A line after "begin". False: it makes no sense.
bool take_line(const std::string& text, RankJournalContents& contents) {
    std::istringstream words = stream_of(text);
    std::string kind, operand;
    std::int64_t index = 0;
    std::uint64_t sum = 0;
    words >> kind;
    if (kind == "held" && words >> operand >> sum) {
        contents.held[operand] = sum;
        return true;
    }
    if (kind == "unit" && words >> index >> sum) {
        contents.units[index] = sum;
        return true;
    }
    return false;
}

}  // namespace

std::optional<RankJournalContents> read_rank_journal(const std::string& path) {
    if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) {
        return std::nullopt;
    }
    std::ifstream file(path, std::ios::binary);
    RankJournalContents contents;
    bool has_title = false, has_begun = false;
    std::string line;
    while (std::getline(file, line) && !file.eof()) {
        const std::optional<std::string> text = unsealed(line);
        if (!has_begun && !text) {
            fail_damaged(path);
        }
        if (!text) {
            break;
        }
        if (!has_title) {
            if (*text != kTitle) {
                fail_damaged(path);
            }
            has_title = true;
        } else if (!has_begun) {
            has_begun = *text == "begin";
            if (!has_begun && !text->starts_with(kJob)) {
                fail_damaged(path);
            }
            if (!has_begun) {
                contents.job.push_back(text->substr(std::string(kJob).size()));
            }
        } else if (!take_line(*text, contents)) {
            break;
        }
        contents.believed_bytes += static_cast<std::int64_t>(line.size()) + 1;
    }
    if (!file.eof() && file.fail()) {
        fail(ErrorCode::input, "'{}' cannot be read; make it readable, or start over without --resume", path);
    }
    return has_begun ? std::optional(contents) : std::nullopt;
}

RankJournal::RankJournal(const std::string& path, const std::vector<std::string>& job)
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666)) {
    if (file_.get() < 0) {
        fail_journal(path, errno);
    }
    std::string text = sealed(kTitle);
    for (const std::string& line : job) {
        text += sealed(kJob + line);
    }
    append(text + sealed("begin"));
}

RankJournal::RankJournal(const std::string& path, const RankJournalContents& contents)
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)) {
    if (file_.get() < 0 || ::ftruncate(file_.get(), contents.believed_bytes) != 0) {
        fail_journal(path, errno);
    }
}

void RankJournal::add_held(const std::string& operand, std::uint64_t sum) {
    append(sealed(fmt::format("held {} {}", operand, sum)));
}

void RankJournal::add_unit(std::int64_t index, std::uint64_t sum) {
    append(sealed(fmt::format("unit {} {}", index, sum)));
}

/// One write for a line: lines of two threads do not mix.
void RankJournal::append(const std::string& text) {
    write_exactly(write_to(file_.get()), text.data(), static_cast<std::int64_t>(text.size()), path_);
}

void RankJournal::remove() const {
    ::unlink(path_.c_str());
}

}  // namespace heptad
