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

/// Throws Error(input) or Error(resource), with the way out, where the earlier run was of another product, of other
/// files, or has cuts that do not fit.
void require_same_run(const JournalHeader& before, const JournalHeader& now, const OutputNames& names);

/// May an input have been changed since, though its time says otherwise? Then what was read of it is to be read again.
bool was_touched(const JournalHeader& before, const JournalHeader& now);

std::vector<std::int64_t> tiles_of(const std::map<std::int64_t, JournalTile>& finished);
std::vector<std::int64_t> missing_tiles(const FileSchedule& schedule,
                                        const std::map<std::int64_t, JournalTile>& finished);

/// Tiles that an earlier run finished are not looked at again: what it did not check is not verified now.
void tell_of_earlier_run(const std::map<std::int64_t, JournalTile>& finished, VerifyResult& result);

}  // namespace heptad
