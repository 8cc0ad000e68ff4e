// Who may update a block of C. Sums of exact types come out the same in any order, so there the first to come goes
// first; floats wait for their turn, so that bits repeat whatever the devices' speeds and number.
//
// Waiting for turns cannot lock up: pipelines take groups in increasing order, so the lowest group that is not finished
// waits for nobody.
#pragma once

#include <cstdint>
#include <vector>

#include "move/stages.hpp"

namespace heptad {

class BlockTurns {
public:
    BlockTurns(std::int64_t blocks, bool in_order, StageFailure& failure)
        : monitor_(failure), blocks_(static_cast<std::size_t>(blocks)), in_order_(in_order) {}

    /// A block held for an update. Waits for it; throws StageStopped once the run is over.
    class Hold {
    public:
        Hold(BlockTurns& turns, int block, int turn) : turns_(turns), block_(block), first_(turns.enter(block, turn)) {}
        ~Hold() { turns_.leave(block_); }
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;
        /// Nobody has updated the block before.
        bool first() const { return first_; }

    private:
        BlockTurns& turns_;
        int block_;
        bool first_;
    };

private:
    struct Block {
        int updates = 0;
        bool held = false;
    };
    bool enter(int block, int turn) {
        Block& wanted = blocks_[static_cast<std::size_t>(block)];
        std::unique_lock lock(monitor_.mutex);
        monitor_.wait(lock, [&] { return !wanted.held && (!in_order_ || wanted.updates == turn); });
        wanted.held = true;
        return wanted.updates == 0;
    }
    void leave(int block) {
        monitor_.change([&] {
            Block& held = blocks_[static_cast<std::size_t>(block)];
            held.held = false;
            ++held.updates;
        });
    }

    StageMonitor monitor_;
    std::vector<Block> blocks_;
    bool in_order_;
};

}  // namespace heptad
