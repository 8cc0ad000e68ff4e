#include "io/rank_journal.hpp"

#include "base/error.hpp"
#include "base/text_stream.hpp"

namespace heptad {
namespace {

constexpr const char* kRankTitle = "heptad-cluster-journal 1";
constexpr const char* kJob = "job ";
constexpr const char* kRankWayOut = "choose another place or make room";

[[noreturn]] void fail_damaged(const std::string& path) {
    fail(ErrorCode::input,
         "the journal '{}' is damaged at its head, so it is unknown what is finished; start over without --resume",
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
    RankJournalContents contents;
    bool has_begun = false;
    const std::optional<SealedLines> lines =
        read_sealed_lines(path, [&](std::int64_t number, const std::optional<std::string>& text) {
            if (has_begun) {
                return text && take_line(*text, contents);
            }
            if (!text || (number == 1 && *text != kRankTitle)) {
                fail_damaged(path);
            }
            has_begun = number > 1 && *text == "begin";
            if (number > 1 && !has_begun) {
                if (!text->starts_with(kJob)) {
                    fail_damaged(path);
                }
                contents.job.push_back(text->substr(std::string(kJob).size()));
            }
            return true;
        });
    if (!lines || !has_begun) {
        return std::nullopt;
    }
    contents.believed_bytes = lines->believed_bytes;
    return contents;
}

RankJournal::RankJournal(const std::string& path, const std::vector<std::string>& job)
    : file_(path, path, kRankWayOut) {
    std::string text = sealed(kRankTitle);
    for (const std::string& line : job) {
        text += sealed(kJob + line);
    }
    file_.append(text + sealed("begin"));
}

RankJournal::RankJournal(const std::string& path, const RankJournalContents& contents)
    : file_(path, contents.believed_bytes, kRankWayOut) {}

void RankJournal::add_held(const std::string& operand, std::uint64_t sum) {
    file_.append(sealed(fmt::format("held {} {}", operand, sum)));
}

void RankJournal::add_unit(std::int64_t index, std::uint64_t sum) {
    file_.append(sealed(fmt::format("unit {} {}", index, sum)));
}

}  // namespace heptad
