// A product of bit matrices on a device whose operands arrive, and whose result leaves, while it runs: every matrix is
// cut into the pieces that the walk through the levels reads and writes. One stage brings them in the order in which
// they are read, one launches what has its operands, and one fetches every piece of C after the last launch that writes
// it.
#pragma once

#include "product/device/bit_device_product.hpp"

namespace heptad {

/// A window of a matrix, in rows and 64-bit words.
struct BitRectangle {
    std::int64_t row = 0, word = 0, rows = 0, words = 0;
};

enum class BitOperand : std::uint8_t { a, b };

/// Moves pieces between the host and the device; those that are brought and those that are fetched are numbered from 0.
/// Called by three threads: one brings, one fetches, and the caller's does the rest.
class BitMover {
public:
    virtual ~BitMover() = default;
    /// So many there will be; called first.
    virtual void expect(std::size_t brought, std::size_t fetched) = 0;
    virtual void bring(std::size_t number, BitOperand operand, const BitRectangle& piece) = 0;
    /// What is launched from now on reads this piece, whose turn has come, and those before it.
    virtual void hold_back_for(std::size_t number) = 0;
    /// Leaf product `number` (from 1) of `count` was launched.
    virtual void launched(std::int64_t number, std::int64_t count) = 0;
    /// This piece of C is complete with what was launched so far.
    virtual void completed(std::size_t number) = 0;
    /// So is all of it.
    virtual void launched_all() = 0;
    virtual void fetch(std::size_t number, const BitRectangle& piece) = 0;
};

/// Carries a plan out. Every piece of A and B that it reads is brought once, every piece of C is fetched once. Counts
/// are not fetched: their matrix is not made of bits.
void run_with_transfers(const ProductPlan& plan, cuda::BitVerbs& verbs, const BitDeviceOperands& operands,
                        BitMover& mover);

}  // namespace heptad
