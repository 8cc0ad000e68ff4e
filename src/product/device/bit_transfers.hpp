// A product of bit matrices on a device whose operands arrive, and whose result leaves, while it runs: every matrix is
// cut into the pieces that the walk through the levels reads and writes, a piece is brought just before the first
// launch that reads it, and put away right after the last one that writes it.
#pragma once

#include "product/device/bit_device_product.hpp"

namespace heptad {

/// A window of a matrix, in rows and 64-bit words.
struct BitRectangle {
    std::int64_t row = 0, word = 0, rows = 0, words = 0;
};

enum class BitOperand : std::uint8_t { a, b };

/// Moves pieces between the host and the device. Called from one thread, in the order of the launches.
class BitMover {
public:
    virtual ~BitMover() = default;
    virtual void bring(BitOperand operand, const BitRectangle& piece) = 0;
    /// What is launched from now on reads what was brought so far.
    virtual void wait_for_brought() = 0;
    /// The piece of C is complete with what was launched so far.
    virtual void put_away(const BitRectangle& piece) = 0;
    /// Leaf product `number` (from 1) of `count` was launched.
    virtual void launched(std::int64_t number, std::int64_t count) = 0;
};

/// A plan with transfers in between. Every piece of A and B that the plan reads is brought once, every
/// piece of C is put away once. Counts are not put away: their matrix is not made of bits.
void run_with_transfers(const ProductPlan& plan, cuda::BitVerbs& verbs, const BitDeviceOperands& operands,
                        BitMover& mover);

}  // namespace heptad
