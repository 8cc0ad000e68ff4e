#include "product/file/leftovers.hpp"

#include <unistd.h>

namespace heptad {

void Leftovers::remove_of_others() const {
    remove_beside(names_.journal(), watch_);  // first: it must never describe another partial file
    remove_beside(names_.products().partial(), watch_);
}

void Leftovers::publish(PartialFile& result) {
    committing_ = true;
    result.commit();
    remove_beside(names_.journal(), watch_);
    if (are_parts_of_sums) {
        remove_beside(names_.products().partial(), watch_);
    }
}

/// The end of the sentence that tells so.
std::string Leftovers::tidy_up(ErrorCode code) const {
    if (committing_ && ::access(names_.partial().c_str(), F_OK) != 0) {
        ::unlink(names_.products().partial().c_str());
        return fmt::format("; '{}' itself is complete", names_.shown);
    }
    // Products of outer levels are not looked at one by one: where C is wrong, none of them can be believed.
    const bool is_of_use = code != ErrorCode::verification || !are_parts_of_sums;
    if (finished_tiles > 0 && is_of_use) {
        return fmt::format("; {} finished tiles are kept in '{}': go on with --resume", finished_tiles.load(),
                           names_.partial());
    }
    ::unlink(names_.partial().c_str());
    ::unlink(names_.journal().c_str());
    ::unlink(names_.new_journal().c_str());
    ::unlink(names_.products().partial().c_str());
    return code == ErrorCode::cancelled ? "; no tile was finished, so nothing is kept" : "";
}

}  // namespace heptad
