// What the planner knows of the machine: measured once by `heptad tune`, or built-in defaults. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "base/fused.hpp"
#include "base/leaf_traits.hpp"

namespace heptad {

/// Rate of one leaf on one shape, all threads of the machine description working.
struct LeafSample {
    std::int64_t m = 0, k = 0, n = 0;
    double seconds = 0;
    std::string kernel = {};  // of a device's library, where it had several to choose from: the fastest one
};

struct LeafProfile {
    std::string leaf;  // what it is able to do: leaf_traits(leaf)
    Type type = Type::f32;
    int threads = 1;
    std::vector<LeafSample> samples;
    /// How many times longer a product takes whose rows do not begin on 16-byte boundaries (devices).
    double misaligned = 1;
    /// Squares again, each one of many that the threads share out whole (CPU). Empty: as when alone.
    std::vector<LeafSample> in_batches = {};
};

/// The shape that a device's combine passes of one class are run in, and their speed with it and without.
struct PassProfile {
    Type type = Type::f32;
    std::string pass;  // "few", "spread", "gather"
    int threads = 1, places = 1;
    double bytes_per_s = 0, usual_bytes_per_s = 0;
};

/// What tells one measured plan from another: its levels, all of them breadth first, and its leaf.
struct PlanShape {
    std::vector<std::string> levels;  // algorithms from the outside; none: the classical product
    std::string leaf;
    bool operator==(const PlanShape&) const = default;
};

/// A whole plan that ran on a real problem beside the library's product, round by round: what decides between two plans
/// shows in no measurement of a part by itself.
struct MeasuredPlan {
    Type type = Type::f32;
    std::int64_t m = 0, k = 0, n = 0;
    PlanShape plan;
    double relative_time = 1;  // its seconds over the library's in the same round: the median
    double std_error = 0;      // of that
    int rounds = 0;
    double modelled_time = 1;  // its seconds over the library's as the cost model has them
    double error_growth = 0;   // its largest error over the library's, on even data; 0: not measured
    bool operator==(const MeasuredPlan&) const = default;
};

inline bool is_of_same_problem(const MeasuredPlan& x, const MeasuredPlan& y) {
    return x.type == y.type && x.m == y.m && x.k == y.k && x.n == y.n;
}
/// Fewer rounds say nothing about their standard error, and make nobody win.
inline constexpr int kFewestRounds = 3;
/// Faster than the library by more than its standard error.
inline bool is_clearly_faster(const MeasuredPlan& row) {
    return row.rounds >= kFewestRounds && row.relative_time + row.std_error < 1;
}

/// One tile of a device's kernels for products with sums inside: the parameters of P2's model, measured.
struct FusedProfile {
    Type type = Type::f32;
    FusedTile tile = FusedTile::huge;
    int tile_m = 128, tile_n = 128;  // of the product, by one thread block
    int blocks_of_multiprocessor = 1;
    int most_terms = 4, most_targets = 4;
    bool regular = false;    // only for blocks whose k is a multiple of 8 and whose n is one of 4
    double flops_per_s = 0;  // all multiprocessors full, one term on each side
    /// What adding one more element of A or B on its way to shared memory, and updating one element of C, take as long
    /// as. P2 counts one flop for each.
    double addition_flops = 1, update_flops = 1;
    double atomic_flops = 1;  // an update in the order `atomic`
    /// What the kernel draws from memory and the L2 cache where that is all it waits for: P2's tau_gmop (1 + lambda).
    double global_bytes_per_s = 1e12;
    double alone = 1;  // share of that rate that a thread block reaches which has its multiprocessor to itself
    /// How many times longer it takes where rows do not begin on 16-byte boundaries.
    double misaligned = 1;
    /// How many times longer a tile takes that ends beyond the product: loads ask whether each element is there.
    double edge = 1;
    /// In the order `persistent`, of several updates of one tile that are ready together: what each waits for the one
    /// before it.
    double turn_s = 0;
};

/// What all those kernels share on one device.
struct FusedDevice {
    int multiprocessors = 1;
    double launch_s = 3e-6;  // one more launch behind others
    double product_s = 0;  // what one more product of a level takes of the host's time, its share of launches included
};

/// A product of packed bits over GF(2) with m = k = n on a device, cut into serial and parallel levels (P3's d_s and
/// d_p), as it was measured.
struct BitSplitSample {
    std::int64_t n = 0;
    int serial_levels = 0, parallel_levels = 0;
    double seconds = 0;
};

/// A product of packed bits over GF(2) with m = k = n in host memory, for a device that may use so much of its own: cut
/// by so many levels at the host (P3's d_h; 0: segments of C), by so many pipelines, as it was predicted and measured.
struct BitHostSample {
    std::int64_t n = 0, device_memory_bytes = 0;
    int host_levels = 0, pipelines = 1;
    double predicted_s = 0, seconds = 0;
};

struct Machine {
    std::string cpu;  // brand string
    int threads = 1;
    bool measured = false;              // false: built-in defaults
    double combine_bytes_per_s = 20e9;  // bytes read plus written by a combine pass, all threads
    double scan_bytes_per_s = 20e9;
    double call_s = 2e-6;                      // cost of starting one parallel pass or batch
    std::vector<MeasuredPlan> measured_plans;  // of a problem the library's product first; empty: the model alone
    std::vector<LeafProfile> leaves;
    std::vector<PassProfile> passes;  // devices; empty: as built
    FusedDevice fused_device;
    std::vector<FusedProfile> fused;         // empty: no such kernels
    std::vector<BitSplitSample> bit_splits;  // devices; empty: as predicted
    std::vector<BitHostSample> bit_hosts;    // devices; empty: as predicted
    int shared_bytes = 227 << 10;            // that a thread block may have: on the device at hand, or else on an H200
};

/// The factor by which a leaf is slower on misaligned rows.
double misaligned_factor(const Machine& machine, const std::string& leaf, Type type);
/// What a leaf is for: a whole product, or the many products at the bottom of a plan.
enum class LeafUse : std::uint8_t { whole_product, below_levels };
/// Seconds of one leaf product, interpolated (log-log over the volume of the nearest shapes); default rates if unknown.
double leaf_seconds(const Machine& machine, const std::string& leaf, Type type, std::int64_t m, std::int64_t k,
                    std::int64_t n, LeafUse use = LeafUse::whole_product);
/// The fastest leaf for that shape. For a whole product a call of a library with its own threads is taken unless
/// another leaf is clearly faster: it cannot lose against itself. Below levels, products are dealt out to our own
/// threads.
std::string best_leaf(const Machine& machine, Type type, std::int64_t m, std::int64_t k, std::int64_t n,
                      LeafUse use = LeafUse::whole_product);

/// JSON, and back. parse throws Error(input).
std::string print_machine(const Machine& machine);
Machine parse_machine(const std::string& json);

}  // namespace heptad
