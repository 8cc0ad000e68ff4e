// Which kernels multiply bf16, and f32 by them, in this process.
//
// An element of a product must not depend on the numbers beside it, nor on how many threads there are. So a tile that
// reads tiny numbers as zero is used only where its stand-in for such numbers adds in the same order. The documents of
// processors say how they add; this one is asked, once.
#include <array>
#include <cstring>
#include <vector>

#include "base/shared_state.hpp"
#include "base/splitmix.hpp"
#include "kernels/cpu/cpu_features.hpp"

namespace heptad::cpu {
namespace {

const Bf16Kernels* compiled_kernels(InstructionSet set) {
    switch (set) {
#if defined(__x86_64__)
        case InstructionSet::amx:
            return &kernels_amx();
        case InstructionSet::avx512bf16:
            return &kernels_avx512bf16();
#endif
        default:
            return nullptr;
    }
}

/// bf16 between 2^-8 and 2^8, of either sign.
std::vector<std::uint16_t> some_numbers(std::int64_t count, std::uint64_t key) {
    std::vector<std::uint16_t> numbers;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint64_t random = splitmix_word(key, i);
        numbers.push_back(static_cast<std::uint16_t>((random & 0x807fU) | (119 + (random >> 32) % 16) << 7));
    }
    return numbers;
}

bool tiles_agree(const Bf16Kernels& kernels) {
    constexpr std::int64_t chunks = 3;
    const auto a = some_numbers(kernels.tile_rows * chunks * Bf16Kernels::chunk, 1);
    const auto b = some_numbers(kernels.tile_cols * chunks * Bf16Kernels::chunk, 2);
    const auto sums_of = [&](Bf16Kernels::Tile tile) {
        std::vector<float> sums(static_cast<std::size_t>(kernels.tile_rows) *
                                static_cast<std::size_t>(kernels.tile_cols));
        tile(chunks, a.data(), b.data(), false, sums.data(), kernels.tile_cols);
        tile(chunks, a.data(), b.data(), true, sums.data(), kernels.tile_cols);
        return sums;
    };
    const TileUse use(kernels);
    const std::vector<float> fast = sums_of(kernels.tile), careful = sums_of(kernels.tile_of_any_numbers);
    return std::memcmp(fast.data(), careful.data(), fast.size() * sizeof(float)) == 0;
}

bool can_be_used(const Bf16Kernels& kernels) {
    return (kernels.may_use == nullptr || kernels.may_use()) && tiles_agree(kernels);
}

}  // namespace

const Bf16Kernels* bf16_kernels_of(InstructionSet set) {
    static constinit std::array<Once<const Bf16Kernels*>, instruction_set_count> of_sets;
    return of_sets[static_cast<std::size_t>(set)].get([set] {
        const Bf16Kernels* const kernels = compiled_kernels(set);
        return kernels != nullptr && can_be_used(*kernels) ? kernels : nullptr;
    });
}

const GemmKernels<float>& f32_kernels_of(InstructionSet set) {
    const GemmKernels<float>& of_vectors = kernel_table_of(set).gemm_f32;
#if defined(__x86_64__)
    if (set == InstructionSet::amx && bf16_kernels_of(set) != nullptr) {
        static constinit Once<GemmKernels<float>> of_tiles;
        return of_tiles.get([&] { return kernels_amx_f32(of_vectors); });
    }
#endif
    return of_vectors;
}

bool multiplies_f32_by_bf16() {
    const InstructionSet set = best_instruction_set();
    return &f32_kernels_of(set) != &kernel_table_of(set).gemm_f32;
}

}  // namespace heptad::cpu
