// A journal: a file to which lines are only ever added, each of which ends in a checksum of itself. A torn or damaged
// one is known, so nothing needs to be synced to be believed later. What the lines say is journal.hpp's and
// rank_journal.hpp's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "io/transfer.hpp"

namespace heptad {

/// With the seal and the end of the line.
std::string sealed(const std::string& text);
/// A line, without its end, without its seal; nothing if it does not fit.
std::optional<std::string> unsealed(const std::string& line);

/// How far a journal was read.
struct SealedLines {
    std::int64_t count = 0;
    std::int64_t believed_bytes = 0;  ///< of the file
};
/// Takes a line by its number, from 1, and what is sealed, nothing where it is damaged. False: from here on nothing is
/// believed.
using TakeSealedLine = std::function<bool(std::int64_t number, const std::optional<std::string>& text)>;
/// Nothing where there is no journal. A last line without an end was torn by a kill and does not count. Throws
/// Error(input) where it cannot be read: what is there must not pass for nothing, a run that starts over removes it.
std::optional<SealedLines> read_sealed_lines(const std::string& path, const TakeSealedLine& take);

class SealedJournal {
public:
    /// A new one under its name, or under another one until publish(). `way_out` ends the sentence of what goes wrong.
    SealedJournal(std::string path, const std::string& made_as, const char* way_out);
    /// Goes on with one that was read.
    SealedJournal(std::string path, std::int64_t believed_bytes, const char* way_out);
    /// One write for all of the text: lines of two threads do not mix.
    void append(const std::string& sealed_lines) const;
    void sync() const;
    void publish(const std::string& made_as) const;
    void remove() const;

private:
    void open(const std::string& name, int how);
    [[noreturn]] void fail_to_write(int why) const;
    std::string path_;
    const char* way_out_;
    Descriptor file_;
};

}  // namespace heptad
