#include "kernels/cpu/vendor_blas_correction.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace heptad::cpu {
namespace {

/// How wide the vector kernels of a configuration are: 0 SSE or plain C, 1 AVX, 2 AVX2 with FMA, 3 AVX-512.
int vector_class(std::string core) {
    struct Known {
        const char* name;
        int width;
    };
    static constexpr std::array<Known, 16> known{{{"skylakex", 3},
                                                  {"cooperlake", 3},
                                                  {"sapphirerapids", 3},
                                                  {"skx", 3},
                                                  {"knl", 3},
                                                  {"zen4", 3},
                                                  {"zen5", 3},
                                                  {"haswell", 2},
                                                  {"zen", 2},
                                                  {"zen2", 2},
                                                  {"zen3", 2},
                                                  {"excavator", 2},
                                                  {"sandybridge", 1},
                                                  {"bulldozer", 1},
                                                  {"piledriver", 1},
                                                  {"steamroller", 1}}};
    std::transform(core.begin(), core.end(), core.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto* const found = std::ranges::find_if(known, [&](const Known& k) { return core == k.name; });
    return found == known.end() ? 0 : found->width;
}

bool is_amd(const CpuInfo& cpu) {
    return cpu.vendor == "AuthenticAMD" || cpu.vendor == "HygonGenuine";
}

/// Zen 4 splits 512-bit operations in halves: its AVX2 kernels are as good, so AMD processors want no more than those.
int wanted_class(const CpuInfo& cpu) {
    if (cpu.has_avx512() && !is_amd(cpu)) {
        return 3;
    }
    return cpu.has_avx2_fma() ? 2 : 0;
}

bool contains(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

/// Some Intel models have one 512-bit unit only and run the AVX2 kernel faster; BLIS knows which from the brand. Where
/// the brand says nothing, or for servers from Ice Lake on (all have two units, BLIS 0.9 knows it of few), AVX-512 it
/// is.
bool has_two_wide_units(const CpuInfo& cpu) {
    bool named = false;
    for (const char* family : {"Platinum", "Gold", "Silver", "Bronze", " W-", " D-", "Core"}) {
        named = named || contains(cpu.brand, family);
    }
    return !named || (contains(cpu.brand, "Xeon") && cpu.has("avx512_vbmi2"));
}

}  // namespace

std::string better_openblas_core(const CpuInfo& cpu, const std::string& picked) {
    const int wanted = wanted_class(cpu);
    if (wanted < 2 || vector_class(picked) >= wanted) {
        return "";
    }
    // SkylakeX is in every version since 0.3.0; the f32 and f64 kernels of its successors are the same.
    return wanted == 3 ? "SkylakeX" : is_amd(cpu) ? "Zen" : "Haswell";
}

std::string better_blis_core(const CpuInfo& cpu, const std::string& picked) {
    int wanted = wanted_class(cpu);
    if (wanted == 3 && !has_two_wide_units(cpu)) {
        wanted = 2;
    }
    if (wanted < 2 || vector_class(picked) >= wanted) {
        return "";
    }
    return wanted == 3 ? "skx" : is_amd(cpu) ? "zen2" : "haswell";
}

}  // namespace heptad::cpu
