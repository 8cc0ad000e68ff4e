// A run that goes on with what an earlier one left: whether it is the same product, and what is still missing. And what
// lies beside the output of this one: after a failure finished tiles stay, to go on with, and an empty start does not;
// after a success nothing does.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "check/verify.hpp"
#include "io/journal.hpp"
#include "io/partial_file.hpp"
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

class Leftovers {
public:
    /// The names outlive this.
    explicit Leftovers(const OutputNames& names) : names_(names) {}

    std::atomic<std::int64_t> finished_tiles{0};
    bool are_parts_of_sums = false;  ///< tiles are those of the products of outer levels

    /// Those of another run, before this one writes anything.
    void remove_of_others() const;
    /// The result gets its name.
    void publish(PartialFile& result);

    /// Does the work; after a failure, the sentence says what is left.
    template <class Work>
    auto tidily(const Work& work) const {
        try {
            return work();
        } catch (const InputChanged&) {
            tidy_up(ErrorCode::input);  // what was made of the old input cannot go on: no word of --resume
            throw;
        } catch (const Error& error) {
            throw Error(error.code(), error.what() + tidy_up(error.code()));
        }
    }

private:
    std::string tidy_up(ErrorCode code) const;

    const OutputNames& names_;
    bool committing_ = false;  // all tiles are there, and the result gets its name
};

}  // namespace heptad
