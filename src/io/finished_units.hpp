// Which pieces of C are finished, of every rank: those that an earlier job left when this one began, and the own ones
// since. What all ranks know alike decides who sends what to whom.
#pragma once

#include <cstdint>
#include <vector>

#include "io/checksum.hpp"
#include "io/rank_journal.hpp"

namespace heptad {

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
