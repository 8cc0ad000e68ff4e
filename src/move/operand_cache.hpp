// Places on one device for operands that its pipelines share. An operand that is there already is not brought again: a
// block of A stays for the segments of its row, whichever pipeline makes them, and the last blocks of B are the first
// that the next row needs, because rows of segments run to and fro.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "move/compute_device.hpp"
#include "move/stages.hpp"
#include "plan/search/host_layer.hpp"

namespace heptad {

class OperandCache {
public:
    /// As many places as pipelines take operands from it at a time: then nobody waits for one to become free.
    OperandCache(std::vector<std::unique_ptr<OperandPlace>> places, StageFailure& failure);

    using Terms = std::vector<BlockTerm>;
    /// The place that holds this sum of blocks. Where none does, brings it to the place that has not been used for
    /// longest; where somebody else is bringing it, waits. It stays until it was given back as often as it was taken.
    /// `terms` outlive the cache. Throws what `bring` throws, and StageStopped once the run is over.
    OperandPlace& take(const Terms& terms, const std::function<void(OperandPlace&)>& bring);
    void give_back(const OperandPlace& place);

private:
    struct Spot {
        std::unique_ptr<OperandPlace> place;
        const Terms* terms = nullptr;  // what is there, or on its way
        bool arriving = false;
        int users = 0;
        std::uint64_t given_back = 0;  // by the clock below
    };
    Spot* find(const Terms& terms);
    Spot* free_longest();

    StageMonitor monitor_;
    std::vector<Spot> spots_;
    std::uint64_t clock_ = 0;
};

}  // namespace heptad
