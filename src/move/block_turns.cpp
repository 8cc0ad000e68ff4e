#include "move/block_turns.hpp"

namespace heptad {

bool BlockTurns::enter(int block, int turn) {
    Block& wanted = blocks_[static_cast<std::size_t>(block)];
    std::unique_lock lock(monitor_.mutex);
    monitor_.wait(lock, [&] { return !wanted.held && (!in_order_ || wanted.updates == turn); });
    wanted.held = true;
    return wanted.updates == 0;
}

void BlockTurns::leave(int block) {
    monitor_.change([&] {
        Block& held = blocks_[static_cast<std::size_t>(block)];
        held.held = false;
        ++held.updates;
    });
}

}  // namespace heptad
