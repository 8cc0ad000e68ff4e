#include "move/block_turns.hpp"

#include "base/error.hpp"

namespace heptad {

bool BlockTurns::enter(int block, int turn) {
    Block& wanted = blocks_[static_cast<std::size_t>(block)];
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || (!wanted.held && (!in_order_ || wanted.updates == turn)); });
    if (stopped_) {
        fail(ErrorCode::cancelled, "block {} of C will not be updated any more: the product has ended", block);
    }
    wanted.held = true;
    return wanted.updates == 0;
}

void BlockTurns::leave(int block) {
    const std::lock_guard lock(mutex_);
    Block& held = blocks_[static_cast<std::size_t>(block)];
    held.held = false;
    ++held.updates;
    changed_.notify_all();
}

void BlockTurns::stop() noexcept {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
}

}  // namespace heptad
