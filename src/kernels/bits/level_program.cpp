#include "kernels/bits/level_program.hpp"

#include <array>
#include <bit>

#include "base/error.hpp"
#include "base/shared_state.hpp"

namespace heptad::bits {
namespace {

constexpr int Q = kTemporaryQ, P = kTemporaryP;

/// P3 (2) to (4), in an order in which every sum but one comes from the one before.
LevelProgram winograd() {
    return {"winograd",
            {{0b1100, 0b1100, Q, false, {{1, Q}, {3, Q}}},          // Q0
             {0b1110, 0b1110, Q, false, {}},                        // Q3
             {0b1111, 0b0010, 1, true, {}},                         // Q4
             {0b0100, 0b1111, 2, true, {}},                         // Q5
             {0b0010, 0b0100, P, false, {{0, P}, {Q, P}, {1, Q}}},  // Q1; Q is U0 now
             {0b1010, 0b1010, Q, true, {{2, Q}, {3, Q}}},           // Q2; Q is U1 now
             {0b0001, 0b0001, 0, true, {}}},                        // Q6
            {},
            {},
            true};
}

/// P3 (6) to (10). Three products belong to two quarters of C; each goes to one of them first, alone, and is added to
/// quarter 3 from there, so that no temporary holds it.
LevelProgram self_inverse() {
    return {"self-inverse",
            {{0b0010, 0b0100, 0, true, {{3, 0}}},  // Q1
             {0b1010, 0b1010, 2, true, {{3, 2}}},  // Q5
             {0b1100, 0b1100, 1, true, {{3, 1}}},  // Q6
             {0b0001, 0b0001, 0, true, {}},        // Q0
             {0b0100, 0b1001, 2, true, {}},        // Q2
             {0b1001, 0b0010, 1, true, {}},        // Q4
             {0b1000, 0b1000, 3, true, {}}},       // Q3
            {{3, 1}, {3, 2}},
            {{1, 3}, {2, 3}},
            false,
            {3, 1, 2, 0, 4, 5, 6}};
}

/// P3 (11) to (15).
LevelProgram chaining() {
    return {"chaining",
            {{0b0010, 0b1100, Q, false, {{0, Q}}},                          // Q1
             {0b0100, 0b0100, Q, true, {}},                                 // Q2
             {0b0101, 0b0010, P, false, {{3, P}, {Q, P}, {1, Q}, {2, Q}}},  // Q4; Q is R now
             {0b0001, 0b0001, 0, true, {}},                                 // Q0
             {0b1000, 0b1000, 3, true, {}},                                 // Q3
             {0b0110, 0b0110, 1, true, {}},                                 // Q5
             {0b1100, 0b0101, 2, true, {}}},                                // Q6
            {{3, 1}, {2, 3}},
            {{2, 3}, {3, 1}},
            true};
}

const std::array<LevelProgram, 3>& programs() {
    static constinit Once<std::array<LevelProgram, 3>> all;
    return all.get([] { return std::array<LevelProgram, 3>{winograd(), self_inverse(), chaining()}; });
}

}  // namespace

std::span<const LevelProgram> level_programs() {
    return programs();
}

const LevelProgram& find_level_program(const std::string& name) {
    std::string names = "classical";
    for (const LevelProgram& program : programs()) {
        if (program.name == name) {
            return program;
        }
        names += " " + program.name;
    }
    fail(ErrorCode::usage, "'{}' is not an algorithm for packed bit matrices; take auto or one of: {}", name, names);
}

unsigned destinations(const LevelProgram& program, std::size_t step) {
    // Which targets hold the product, one bit each.
    unsigned holders = 0;
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
        const Step& now = program.steps[s];
        const unsigned bit = 1U << now.target;
        if (now.target >= kTemporaryQ && !now.adds) {
            holders &= ~bit;
        }
        holders ^= s == step ? bit : 0;
        for (const Addition& addition : now.additions) {
            holders ^= ((holders >> addition.from) & 1) << addition.to;
        }
    }
    return holders & 0b1111;
}

SumStep sum_step(unsigned wanted, unsigned held) {
    const int fresh = std::popcount(wanted) - 1;
    if (held != 0 && std::popcount(wanted ^ held) < fresh) {
        return {wanted ^ held, true};
    }
    return {wanted, false};
}

namespace {

/// Additions of one level, in quarters.
std::int64_t level_additions(const LevelProgram& program) {
    std::int64_t additions = 0;
    unsigned sum_a = 0, sum_b = 0, written = 0;
    const auto count_sum = [&](unsigned wanted, unsigned& held) {
        if (std::popcount(wanted) > 1) {
            const SumStep sum = sum_step(wanted, held);
            additions += std::popcount(sum.terms) - (sum.adds ? 0 : 1);
            held = wanted;
        }
    };
    const auto count_write = [&](int to) {
        additions += (written >> to) & 1;
        written |= 1U << to;
    };
    for (const Step& step : program.steps) {
        count_sum(step.a, sum_a);
        count_sum(step.b, sum_b);
        if (step.target >= kTemporaryQ && !step.adds) {
            written &= ~(1U << step.target);
        }
        count_write(step.target);
        for (const Addition& addition : step.additions) {
            count_write(addition.to);
        }
    }
    return additions;
}

}  // namespace

OperationCount count_operations(const LevelProgram& program, int levels) {
    OperationCount count{0, 1};
    std::int64_t quarter = 1;  // bits
    for (int level = 0; level < levels; ++level) {
        const auto products = static_cast<std::int64_t>(program.steps.size());
        count = {products * count.additions + level_additions(program) * quarter, products * count.multiplications};
        quarter *= 4;
    }
    return count;
}

std::int64_t count_change(std::span<const Change> change, int levels) {
    std::int64_t additions = 0, quarter = 1;
    for (int level = 0; level < levels; ++level) {
        additions = 4 * additions + static_cast<std::int64_t>(change.size()) * quarter;
        quarter *= 4;
    }
    return additions;
}

}  // namespace heptad::bits
