// What one rank of a job has finished, line by line, so that a later job can go on after any end:
//
//   heptad-cluster-journal 1
//   job <line>              what must be the same for its parts to be parts of another job
//   begin
//   held <a or b> <sum>     its windows of an operand are all in the scratch file
//   unit <index> <sum>      a piece of its part of C (plan/search/cluster_plan.hpp, result_units) is written
//
// Nothing is believed whose bytes are others than its checksum says.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/sealed_journal.hpp"

namespace heptad {

struct RankJournalContents {
    std::vector<std::string> job;
    std::map<std::string, std::uint64_t> held;    ///< by operand
    std::map<std::int64_t, std::uint64_t> units;  ///< by index
    std::int64_t believed_bytes = 0;
};

/// Nothing where there is none or the job before ended while it wrote the head. Throws Error(input) for one that cannot
/// be read or whose head is damaged.
std::optional<RankJournalContents> read_rank_journal(const std::string& path);

/// Any thread may add.
class RankJournal {
public:
    /// A new one. Throws Error(input) or Error(resource).
    RankJournal(const std::string& path, const std::vector<std::string>& job);
    /// Goes on with one that was read.
    RankJournal(const std::string& path, const RankJournalContents& contents);
    void add_held(const std::string& operand, std::uint64_t sum);
    void add_unit(std::int64_t index, std::uint64_t sum);
    /// After the end of the job, or where it is not worth going on with.
    void remove() const { file_.remove(); }

private:
    SealedJournal file_;
};

}  // namespace heptad
