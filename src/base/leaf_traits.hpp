// What backends and leaves are able to do. The planner knows them by these facts alone, and names none of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heptad {

struct BackendTraits {
    /// Memory and a queue of its own: passes are cut, rows of blocks are padded, A and B are judged while the product
    /// runs, and the host starts work while the device is busy.
    bool is_device = false;
    bool has_levels_of_short_types = false;  // tf32 and the 16-bit types, whose sums it can keep scaled in f16
    bool has_levels_of_bits = true;          // gf2, one bit in each byte
    bool multiplies_bytes = false;           // on the host: products by residues without products of integers
    bool fuses_everything = false;           // levels inside the product, whatever the machine description says
    double odd_blocks = 1;                   // how much longer levels take that leave blocks other than halves
    /// Algorithms whose passes are compiled in, and how much longer those of others take; of all: 1.
    std::span<const std::string_view> known_passes = {};
    double other_passes = 1;
    std::string_view only_leaf = {};  // no choice and nothing measured; empty: as the machine description has it
    std::string_view library = {};    // the leaf that is the vendor's own call, where there is only one vendor
};
const BackendTraits& backend_traits(std::string_view backend);

/// The backend behind the name of a device.
std::string_view backend_of(std::string_view device);
inline constexpr std::string_view kUsualBackend = "cpu";

struct LeafTraits {
    /// A call of a library that takes the whole machine by itself.
    bool is_whole_call = false;
    /// Many products in one call, whose operands a device lays out at equal distances.
    bool is_batched = false;
    /// On a device: takes products as they lie, one by one.
    bool is_one_by_one = false;
    /// Splits its operands into limbs, which need workspace.
    bool has_limbs = false;
    /// On a device: whole products, whose numbers it takes apart into residues and puts together again.
    bool by_residues = false;
    /// Scratch memory that its library makes use of on a device.
    std::int64_t scratch_bytes = 0;
    /// The leaf whose library and kernels these are, with a kernel of our choice: measured at a few sizes only, so
    /// whether it is the faster one is for whole products side by side to say.
    std::string_view chosen_kernel_of = {};
    /// The leaf that multiplies blocks on 16-byte boundaries where rows do not begin there. Empty: itself.
    std::string_view when_misaligned = {};
    /// The leaf of what is peeled off. Empty: itself.
    std::string_view fringe_leaf = {};
};
const LeafTraits& leaf_traits(std::string_view leaf);
/// The leaf that takes numbers apart into residues.
std::string_view leaf_by_residues();

inline bool is_whole_call(std::string_view leaf) {
    return leaf_traits(leaf).is_whole_call;
}

}  // namespace heptad
