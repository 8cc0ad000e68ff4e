// Calls that are not ours to take.
#pragma once

namespace heptad::drop_in {

/// While one lives, calls of this thread go straight to the real function: those that a library makes of its own
/// entries, and those of a product that is under way.
class PassOn {
public:
    PassOn() { ++depth_; }
    ~PassOn() { --depth_; }
    PassOn(const PassOn&) = delete;
    PassOn& operator=(const PassOn&) = delete;

    static bool is_on() { return depth_ > 0; }

private:
    static thread_local constinit int depth_;
};

}  // namespace heptad::drop_in
