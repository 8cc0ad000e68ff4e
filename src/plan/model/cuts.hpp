// How a place outside the one that multiplies divides a product: the disk, the ranks of a cluster, the host of devices,
// and a device that takes the product panel by panel. Plain data, parts of a plan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "base/names.hpp"

namespace heptad {

/// The leaf of plans that leave it, and the levels, to who multiplies a block.
inline constexpr const char* kAutomaticLeaf = "auto";

/// Which matrix stays in memory while the others pass.
enum class Kept : std::uint8_t { a, b, c };
/// "A", "B", "C".
inline constexpr Names<Kept, 3> kKept{{"A", "B", "C"}};
inline const char* kept_name(Kept kept) {
    return kKept.of(kept);
}

/// From files to a file: tiles of C, panels along k, strips of rows (plan/search/file_plan.hpp).
struct DiskCut {
    std::string algorithm{};        ///< of outer levels, whose products are files of their own; empty: none
    int levels = 0;                 ///< and how many; the cuts below are of one of their products
    std::int64_t memory_bytes = 0;  ///< that it may take
    Kept kept = Kept::c;
    bool mirrored = false;                ///< carried out transposed; the sizes are those of the product carried out
    std::int64_t tile_m = 0, tile_n = 0;  ///< of C
    std::int64_t depth = 0, first_depth = 0;  ///< of panels along k; the first one ends on a block of the file
    std::int64_t strip_m = 0;                 ///< rows multiplied, and written, at a time
    std::int64_t panel_buffers = 2;           ///< of the right matrix; 1: a panel is read when the one before was used
    std::int64_t a_block = 1, b_block = 1, c_block = 1;  ///< of the files A, B, C; 1: read or written through the cache
    bool operator==(const DiskCut&) const = default;
};

enum class ClusterAlgorithm : std::uint8_t { grid, pegmm, mod_pegmm, caps };
/// "grid", "pegmm", "mod-pegmm", "caps".
const char* cluster_algorithm_name(ClusterAlgorithm algorithm);
bool is_cluster_algorithm(const std::string& name);
/// Throws Error(usage) that lists the names.
ClusterAlgorithm cluster_algorithm_from_name(const std::string& name);

struct ClusterGrid {
    std::int64_t pm = 1, pk = 1, pn = 1;
    std::int64_t ranks() const { return pm * pk * pn; }
    bool operator==(const ClusterGrid&) const = default;
};

/// x, y, z: rows of a block of A and C, its inner size, columns of a block of B and C.
struct BlockSize {
    std::int64_t x = 0, y = 0, z = 0;
    bool operator==(const BlockSize&) const = default;
};

/// Among the ranks of a cluster (plan/search/cluster_plan.hpp).
struct RankCut {
    std::int64_t ranks = 1;
    ClusterAlgorithm algorithm = ClusterAlgorithm::grid;
    ClusterGrid grid{};       ///< grid; the ranks beyond it are idle
    std::int64_t panels = 1;  ///< grid
    BlockSize block{};        ///< pegmm, mod-pegmm
    int steps = 0;            ///< caps
    bool operator==(const RankCut&) const = default;
};

/// By the host, for devices that do not hold all of it (plan/search/host_plan.hpp).
struct HostCut {
    std::string devices{};  ///< as typed: "cuda:0,1"
    std::string algorithm = "classical";
    int levels = 0;  ///< d_h of P3; 0: segments of C
    std::int64_t block_m = 0, block_k = 0, block_n = 0;
    int pipelines = 1;                 ///< per device
    bool in_place = false;             ///< devices read blocks of A and B, and write those of C, where they lie
    std::int64_t workspace_bytes = 0;  ///< on each device, beside the blocks
    bool operator==(const HostCut&) const = default;
};

/// By the host, for a device that holds all of it: so that transfers go on beside products
/// (plan/search/transfer_schedule.hpp).
struct TransferCut {
    std::string algorithm{};                       ///< by level; empty: by pieces
    int opening = 1, closing = 1, last_parts = 1;  ///< by level: products at both ends; the last one's parts
    std::vector<std::int64_t> depths{}, panels{};  ///< by pieces: of k, and of m
    bool operator==(const TransferCut&) const = default;
};

/// Of packed bits without levels on a device: what of B is transposed at a time.
struct PanelCut {
    std::int64_t k = 0, cols = 0;
    std::int64_t first_k = 0;  ///< of a Boolean product that ends early where C is all ones; 0: it does not
    bool operator==(const PanelCut&) const = default;
};

}  // namespace heptad
