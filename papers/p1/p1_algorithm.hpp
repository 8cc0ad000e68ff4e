// P1's algorithm 1, line by line, with the steps of its ablation as switches:
//
//   naive        every addition of two matrices is a call of its own; a product in place is made in a third temporary
//                and copied back, seven times a level; the four blocks of the result are copied to C
//   double_add   sums of three matrices in one call (lines 3, 4 and 27 with 28)
//   swaps        six of the seven copies become an exchange of pointers
//   hoisted      lines 3, 4, 30 and 31 (the changes of basis) are made once for all levels, before and after
//
// A and B are overwritten; `keeps_inputs` copies them first. Square matrices whose side is a multiple of 2^levels.
#pragma once

#include <cstdint>
#include <string>

#include "base/view.hpp"

namespace heptad::cli {

struct P1Variant {
    std::string name;
    bool double_add = false, swaps = false, hoisted = false, keeps_inputs = false;
};

/// What a call is for; shares of time are told by this.
enum class P1Part : std::uint8_t { addition, product, copy, basis };

/// target = x * a + y * b + keep * target. y = 0: there is no b; keep = 0: target is not read.
struct P1Addition {
    View target;
    ConstView a, b;
    double x = 1, y = 0, keep = 0;
};

/// Who carries the lines out.
class P1Device {
public:
    virtual ~P1Device() = default;
    virtual void add(const P1Addition& addition, P1Part part) = 0;
    virtual void multiply(const ConstView& a, const ConstView& b, const View& c) = 0;  // c = a * b
    virtual void copy(const ConstView& from, const View& to) = 0;
};

/// Three temporaries a level, and A and B where they are kept.
std::int64_t p1_workspace_bytes(const P1Variant& variant, Type type, std::int64_t n, int levels);

/// c = a * b. `workspace` is p1_workspace_bytes() on a 256-byte boundary.
void run_p1(const P1Variant& variant, int levels, P1Device& device, const View& a, const View& b, const View& c,
            void* workspace);

}  // namespace heptad::cli
