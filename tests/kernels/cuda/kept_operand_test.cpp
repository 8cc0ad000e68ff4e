// Where residues lie that are kept from product to product: nothing on anything else, and nothing outside.
#include "kernels/cuda/residue/kept_operand.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace heptad::cuda {
namespace {

KeptOperand kept_in(std::vector<std::uint8_t>& memory, std::int64_t lines, std::int64_t depth, int moduli) {
    KeptOperand kept{{nullptr, lines, depth, moduli}};
    memory.assign(static_cast<std::size_t>(kept.bytes()), 0);
    kept.memory = memory.data();
    return kept;
}

TEST(kept_operand, parts_of_its_memory_are_apart) {
    for (const auto& [lines, depth] : {std::pair{1, 1}, {33, 41}, {64, 900}, {257, 16}}) {
        constexpr int kModuliKept = 9;
        std::vector<std::uint8_t> memory;
        const KeptOperand kept = kept_in(memory, lines, depth, kModuliKept);
        std::int64_t noted = 0;
        const auto note = [&](const void* at, std::int64_t bytes) {
            const std::int64_t first = static_cast<const std::uint8_t*>(at) - memory.data();
            ASSERT_GE(first, 0);
            ASSERT_LE(first + bytes, kept.bytes());
            for (std::int64_t i = first; i < first + bytes; ++i) {
                ASSERT_EQ(memory[static_cast<std::size_t>(i)]++, 0) << i;
            }
            noted += bytes;
        };
        for (std::int64_t line = 0; line < lines; ++line) {
            KeptOperand here = kept;
            here.first = line;
            note(here.made(line).before, sizeof(std::int32_t));
            note(here.made(line).after, sizeof(std::int32_t));
            const MeasuredLines measured = here.measured_lines(1);
            const BytePlanes planes = here.planes(line, {nullptr, 1, here.line_bytes(), 0});
            for (int part = 0; part < kNormParts; ++part) {
                note(static_cast<std::uint8_t*>(measured.parts) + part * measured.stride * kNormPartBytes,
                     kNormPartBytes);
            }
            for (int t = 0; t < kModuliKept; ++t) {
                note(planes.data + t * planes.plane_bytes, planes.line_bytes);
            }
        }
        EXPECT_EQ(noted, lines * (8 + kNormParts * kNormPartBytes + kModuliKept * kept.line_bytes()));
        EXPECT_EQ(kept.notes_bytes() % kGuardBytes, 0);
        EXPECT_EQ(kept.plane_bytes() % 16, 0);
    }
}

TEST(kept_operand, lines_are_known_as_far_as_they_were_measured) {
    std::vector<std::uint8_t> memory;
    KeptOperand kept = kept_in(memory, 100, 50, 7);
    kept.measured = 60;
    kept.first = 40;
    EXPECT_EQ(kept.measured_lines(30).known, 20);
    EXPECT_EQ(kept.measured_lines(10).known, 10);
    kept.first = 60;
    EXPECT_EQ(kept.measured_lines(40).known, 0);
    kept.first = 70;
    EXPECT_EQ(kept.measured_lines(30).known, 0);
}

TEST(kept_operand, planes_in_place_of_others_are_found_until_these_are_used) {
    std::uint8_t workspace[2] = {}, memory[2] = {};
    const BytePlanes first{&workspace[0], 3, 16, 48}, second{&workspace[1], 5, 16, 80};
    PlanesInPlace places;
    EXPECT_EQ(places.found({}).data, nullptr);
    places.put(0, first.data, {&memory[0], 3, 16, 1600});
    places.put(1, second.data, {&memory[1], 5, 16, 1600});
    EXPECT_EQ(places.found(first).data, &memory[0]);
    EXPECT_EQ(places.found(first).plane_bytes, 1600);
    EXPECT_EQ(places.found(second).data, &memory[1]);
    places.forget(second.data);
    EXPECT_EQ(places.found(first).data, &memory[0]);
    EXPECT_EQ(places.found(second).data, second.data);
    EXPECT_EQ(places.found(second).plane_bytes, 80);
}

}  // namespace
}  // namespace heptad::cuda
