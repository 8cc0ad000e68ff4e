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

#include "io/checksum.hpp"
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

/// Which pieces of C are finished, of every rank: those that an earlier job left when this one began, and the own ones
/// since. What all ranks know alike decides who sends what to whom.
class FinishedUnits {
public:
    /// Nothing is finished, and nothing is noted.
    FinishedUnits() = default;
    /// `at_start[rank][unit]`; `journal` outlives this.
    FinishedUnits(std::vector<std::vector<bool>> at_start, RankJournal& journal)
        : at_start_(std::move(at_start)), journal_(&journal) {}

    /// Was it finished when this job began?
    bool contains(std::int64_t rank, std::int64_t unit) const {
        return !at_start_.empty() && at_start_.at(static_cast<std::size_t>(rank)).at(static_cast<std::size_t>(unit));
    }
    /// Were all of the rank's?
    bool contains_all(std::int64_t rank) const {
        if (at_start_.empty()) {
            return false;
        }
        for (const bool finished : at_start_.at(static_cast<std::size_t>(rank))) {
            if (!finished) {
                return false;
            }
        }
        return true;
    }
    /// The own unit is written.
    void add(std::int64_t unit, const void* elements, std::int64_t bytes) const {
        if (journal_ != nullptr) {
            journal_->add_unit(unit, checksum(elements, bytes));
        }
    }

private:
    std::vector<std::vector<bool>> at_start_;
    RankJournal* journal_ = nullptr;
};

}  // namespace heptad
