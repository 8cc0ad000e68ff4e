#include "base/leaf_traits.hpp"

#include <algorithm>
#include <array>

#include "base/device_layout.hpp"

namespace heptad {
namespace {

template <class Traits>
struct Named {
    std::string_view name;
    Traits traits;
};

// Profiles of leaves do not know odd blocks: on two Neoverse cores a step of 8192 x 5504 x 16384 cut otherwise than in
// halves took 16 % longer than predicted, and one of 8192 x 4096 x 16384 in halves 3 %.
// Those of tools/generate_passes.cpp. Two levels of strassen took 2.0 ms (f32) and 3.6 ms (f64) longer than two of
// winograd on an H200 at n = 8192, with as many bytes to move, which take 1 and 2 ms at the speed of memory.
constexpr std::array<std::string_view, 2> kCompiledPasses = {"winograd", "winograd*winograd"};
constexpr std::array<Named<BackendTraits>, 3> kBackends = {
    {{kUsualBackend, {.multiplies_bytes = true, .odd_blocks = 1.12}},
     {"cuda",
      {.is_device = true,
       .has_levels_of_short_types = true,
       .has_levels_of_bits = false,
       .known_passes = kCompiledPasses,
       .other_passes = 3,
       .library = "cublas"}},
     {"reference", {.fuses_everything = true, .only_leaf = "reference"}}}};

constexpr std::array<Named<LeafTraits>, 7> kLeaves = {{
    {"heptad", {.is_one_by_one = true}},
    {"cublas",
     {.is_whole_call = true,
      .is_one_by_one = true,
      .scratch_bytes = kCublasWorkspaceBytes,
      .when_misaligned = "cublas-batched"}},
    {"cublaslt",
     {.is_one_by_one = true,
      .scratch_bytes = kCublasWorkspaceBytes,
      .chosen_kernel_of = "cublas",
      .when_misaligned = "cublaslt-batched",
      .fringe_leaf = "cublas"}},
    {"cublas-batched", {.is_batched = true, .scratch_bytes = kCublasWorkspaceBytes, .fringe_leaf = "cublas"}},
    {"cublaslt-batched", {.is_batched = true, .scratch_bytes = kCublasWorkspaceBytes, .fringe_leaf = "cublas"}},
    // Limbs of a whole operand for a few rows of the other would cost more workspace than all the rest.
    {kLimbLeaf, {.has_limbs = true, .scratch_bytes = kCublasWorkspaceBytes, .fringe_leaf = "heptad"}},
    {kResidueLeaf, {.by_residues = true, .fringe_leaf = "cublas"}},
}};

template <class Traits, std::size_t count>
const Traits* find(const std::array<Named<Traits>, count>& all, std::string_view name) {
    for (const Named<Traits>& one : all) {
        if (one.name == name) {
            return &one.traits;
        }
    }
    return nullptr;
}

}  // namespace

const BackendTraits& backend_traits(std::string_view backend) {
    static constexpr BackendTraits others;
    const BackendTraits* found = find(kBackends, backend);
    return found != nullptr ? *found : others;
}

std::string_view backend_of(std::string_view device) {
    return device == "auto" ? kUsualBackend : device.starts_with("cuda") ? "cuda" : device;
}

const LeafTraits& leaf_traits(std::string_view leaf) {
    // A CPU's libraries by any name: on one thread each, or with threads of their own.
    static constexpr LeafTraits on_one_thread, on_its_threads{.is_whole_call = true};
    if (const LeafTraits* found = find(kLeaves, leaf)) {
        return *found;
    }
    return leaf.ends_with("-mt") ? on_its_threads : on_one_thread;
}

std::string_view leaf_by_residues() {
    const auto* found =
        std::find_if(kLeaves.begin(), kLeaves.end(), [](const auto& leaf) { return leaf.traits.by_residues; });
    return found->name;
}

}  // namespace heptad
