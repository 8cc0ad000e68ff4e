// Plans that were made, for problems that come again: the one cache of every place that plans.
//
// The last ones of a thread are found without a lock and without a copy, because a tiny product must not wait for
// either. New figures of the machine count from the next process on.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <heptad/heptad.hpp>

#include "base/shared_state.hpp"

namespace heptad {

/// What decides a plan.
struct PlanKey {
    std::int64_t m, k, n;
    Type type, result_type;
    int threads;
    Accuracy accuracy;
    int levels;
    bool accumulate;
    bool overwrite_inputs;
    std::int64_t workspace_bytes;
    std::string algorithm, device, leaf, mode;
    auto operator<=>(const PlanKey&) const = default;
};

/// The same as a caller has it.
struct PlanQuestion {
    std::int64_t m, k, n;
    Type type, result_type;
    int threads;
    bool accumulate;
    std::int64_t workspace_bytes;  ///< that counts, whatever limit the options have
    const Options& options;
    std::string_view device = options.device;

    PlanKey key() const {
        return {m,
                k,
                n,
                type,
                result_type,
                threads,
                options.accuracy,
                options.levels,
                accumulate,
                options.overwrite_inputs,
                workspace_bytes,
                options.algorithm,
                std::string(device),
                options.leaf,
                options.mode};
    }
    bool is(const PlanKey& key) const {
        return key.m == m && key.k == k && key.n == n && key.type == type && key.result_type == result_type &&
               key.threads == threads && key.accumulate == accumulate && key.accuracy == options.accuracy &&
               key.levels == options.levels && key.overwrite_inputs == options.overwrite_inputs &&
               key.workspace_bytes == workspace_bytes && same_word(key.algorithm, options.algorithm) &&
               same_word(key.device, device) && same_word(key.leaf, options.leaf) && same_word(key.mode, options.mode);
    }

private:
    /// Words of options are compared in every product, and nearly all of them are "auto".
    static bool same_word(std::string_view x, std::string_view y) {
        constexpr std::size_t kUsual = 4;
        return x.size() == y.size() && (x.size() == kUsual ? std::memcmp(x.data(), y.data(), kUsual) == 0 : x == y);
    }
};

/// `Kept`: a plan with what its place needs to carry it out at once; one cache for each. It starts over beyond `most`:
/// a loop over many shapes must not grow without end.
template <class Kept, std::size_t most = 4096>
class PlanCache {
public:
    constexpr PlanCache() = default;

    /// One of the last ones of this thread; null: it may still be among all. Valid until the thread asks for another.
    const Kept* recent(const PlanQuestion& question) {
        const Recent& slot = slot_of(question);
        return question.is(slot.key) ? slot.kept.get() : nullptr;
    }

    /// Null: none was kept.
    std::shared_ptr<const Kept> find(const PlanQuestion& question) {
        Recent& slot = slot_of(question);
        if (slot.kept && question.is(slot.key)) {
            return slot.kept;
        }
        PlanKey key = question.key();
        const auto all = all_.lock();
        const auto found = all->find(key);
        if (found == all->end()) {
            return nullptr;
        }
        slot = {std::move(key), found->second};
        return slot.kept;
    }

    std::shared_ptr<const Kept> keep(const PlanQuestion& question, Kept made) {
        auto kept = std::make_shared<const Kept>(std::move(made));
        PlanKey key = question.key();
        const auto all = all_.lock();
        if (all->size() >= most) {
            all->clear();
        }
        (*all)[key] = kept;
        slot_of(question) = {std::move(key), kept};
        return kept;
    }

private:
    struct Recent {
        PlanKey key{};
        std::shared_ptr<const Kept> kept{};
    };

    static Recent& slot_of(const PlanQuestion& question) {
        auto& recent = per_thread<PlanCache, std::array<Recent, 16>>();
        const auto hash = static_cast<std::uint64_t>(question.m) * 0x9e3779b97f4a7c15U ^
                          static_cast<std::uint64_t>(question.k) * 0xc2b2ae3d27d4eb4fU ^
                          static_cast<std::uint64_t>(question.n) * 0x165667b19e3779f9U ^
                          static_cast<std::uint64_t>(question.type);
        return recent[(hash >> 48) % recent.size()];
    }

    Guarded<std::map<PlanKey, std::shared_ptr<const Kept>>> all_{};
};

}  // namespace heptad
