#include "product/file/resumed_run.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/fail_if.hpp"

namespace heptad {
namespace {

std::string way_out_of(const OutputNames& names) {
    return fmt::format("; without --resume the product starts over ('{}' is replaced)", names.partial());
}

std::string levels_of(const ProductPlan& plan) {
    return plan.disk->levels == 0 ? "without outer levels"
                                  : fmt::format("with the outer levels {} {} of {}x{}x{}", plan.disk->algorithm,
                                                plan.disk->levels, plan.m, plan.k, plan.n);
}

}  // namespace

std::vector<std::int64_t> tiles_of(const std::map<std::int64_t, JournalTile>& finished) {
    std::vector<std::int64_t> tiles;
    for (const auto& [index, tile] : finished) {
        tiles.push_back(index);
    }
    return tiles;
}

std::vector<std::int64_t> missing_tiles(const FileSchedule& schedule,
                                        const std::map<std::int64_t, JournalTile>& finished) {
    std::vector<std::int64_t> missing;
    for (std::int64_t tile = 0; tile < schedule.tiles(); ++tile) {
        if (!finished.contains(tile)) {
            missing.push_back(tile);
        }
    }
    return missing;
}

void require_same_run(const JournalHeader& before, const JournalHeader& now, const OutputNames& names) {
    const ProductPlan &x = before.plan, &y = now.plan;
    const std::string way_out = way_out_of(names);
    fail_if(!x.disk, ErrorCode::input, "'{}' holds no plan of a product from file to file{}", names.journal(), way_out);
    fail_if(levels_of(x) != levels_of(y), ErrorCode::input,
            "'{}' was begun {}, but would continue {}; give the same --host-levels and --host-algorithm again{}",
            names.partial(), levels_of(x), levels_of(y), way_out);
    fail_if(x.m != y.m || x.k != y.k || x.n != y.n || x.type != y.type || before.alpha != now.alpha ||
                before.beta != now.beta || before.inputs.size() != now.inputs.size(),
            ErrorCode::input, "'{}' belongs to another product{}", names.journal(), way_out);
    for (std::size_t i = 0; i < now.inputs.size(); ++i) {
        fail_if(before.inputs[i].identity != now.inputs[i].identity, ErrorCode::input,
                "'{}' has changed since '{}' was begun, or is read differently{}", now.inputs[i].name, names.partial(),
                way_out);
    }
}

void require_memory_as_begun(const FileTraffic& begun, std::int64_t memory_bytes, const OutputNames& names) {
    if (begun.used_bytes() > memory_bytes) {
        fail(ErrorCode::resource,
             "'{}' was begun with cuts that take {} bytes{}, and {} are allowed; give a larger --memory{}",
             names.partial(), begun.used_bytes(),
             begun.check_bytes > 0 ? fmt::format(" ({} of them for --verify)", begun.check_bytes) : "", memory_bytes,
             way_out_of(names));
    }
}

void require_memory_of_plan(std::int64_t used_bytes, std::int64_t memory_bytes) {
    fail_if(used_bytes > memory_bytes, ErrorCode::resource,
            "the plan takes {} bytes of memory, and {} are allowed; give a larger --memory, or plan with a smaller one",
            used_bytes, memory_bytes);
}

bool was_touched(const JournalHeader& before, const JournalHeader& now) {
    return !std::equal(before.inputs.begin(), before.inputs.end(), now.inputs.begin(), now.inputs.end(),
                       [](const JournalInput& x, const JournalInput& y) { return x.touched_ns == y.touched_ns; });
}

void tell_of_earlier_run(const std::map<std::int64_t, JournalTile>& finished, VerifyResult& result) {
    const auto unchecked =
        std::count_if(finished.begin(), finished.end(), [](const auto& entry) { return !entry.second.verified; });
    if (unchecked > 0) {
        if (result.passed()) {
            result.verdict = Verdict::not_verifiable;
        }
        result.explanation += fmt::format(
            "; {} tiles come from an earlier run that did not verify them: check the result with 'heptad verify'",
            unchecked);
    } else if (!finished.empty()) {
        result.explanation += fmt::format("; {} tiles were verified by an earlier run", finished.size());
    }
}

void Leftovers::remove_of_others() const {
    remove_beside(names_.journal());  // first: it must never describe another partial file
    remove_beside(names_.products().partial());
}

void Leftovers::publish(PartialFile& result) {
    committing_ = true;
    result.commit();
    remove_beside(names_.journal());
    if (are_parts_of_sums) {
        remove_beside(names_.products().partial());
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
