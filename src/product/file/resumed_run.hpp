// A run that goes on with what an earlier one left: whether it is the same product, and what is still missing.
#pragma once

#include <map>
#include <vector>

#include "check/verify.hpp"
#include "io/journal.hpp"
#include "plan/search/file_schedule.hpp"

namespace heptad {

/// What an earlier run left.
struct EarlierRun {
    std::map<std::int64_t, JournalTile> finished = {};
    WindowSums reads = {};
    bool inputs_touched = false;
};

/// Throws Error(input), with the way out, where the earlier run was of another product or of other files.
void require_same_run(const JournalHeader& before, const JournalHeader& now, const OutputNames& names);
/// Throws Error(resource), with the way out, where its cuts take more than is allowed now.
void require_memory_as_begun(const FileTraffic& begun, std::int64_t memory_bytes, const OutputNames& names);
/// The same of a plan that was given.
void require_memory_of_plan(std::int64_t used_bytes, std::int64_t memory_bytes);

/// May an input have been changed since, though its time says otherwise? Then what was read of it is to be read again.
bool was_touched(const JournalHeader& before, const JournalHeader& now);

std::vector<std::int64_t> tiles_of(const std::map<std::int64_t, JournalTile>& finished);
std::vector<std::int64_t> missing_tiles(const FileSchedule& schedule,
                                        const std::map<std::int64_t, JournalTile>& finished);

/// Tiles that an earlier run finished are not looked at again: what it did not check is not verified now.
void tell_of_earlier_run(const std::map<std::int64_t, JournalTile>& finished, VerifyResult& result);

}  // namespace heptad
