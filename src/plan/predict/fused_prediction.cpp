#include "plan/predict/fused_prediction.hpp"

#include <algorithm>
#include <cmath>

namespace heptad {
namespace {

/// Instances that share the chip: launched together, or walked by one launch.
struct Together {
    double tiles = 0;
    double block_s = 0;   // of all tiles, one after another on one multiprocessor
    double update_s = 0;  // the part of it in which C is updated
    std::vector<const BlockProduct*> instances = {};
    int most_copies = 1;  // of one of them, for different levels
};

std::int64_t tiles_along(std::int64_t size, int tile) {
    return (size + tile - 1) / tile;
}

class LevelClock {
public:
    LevelClock(const FusedDevice& device, const FusedProfile& profile, FusedOrder order, const FusedWork& work)
        : device_(device),
          profile_(profile),
          order_(order),
          update_flops_(order == FusedOrder::atomic ? profile.atomic_flops : profile.update_flops),
          depth_(static_cast<double>(work.k)),
          tiles_(static_cast<double>(tiles_along(work.m, profile.tile_m) * tiles_along(work.n, profile.tile_n))),
          whole_(static_cast<double>((work.m / profile.tile_m) * (work.n / profile.tile_n)) / tiles_) {}

    void add(Together& together, const BlockProduct& instance, int times) const {
        const OperandCounts counts = operand_counts(instance);
        const double m = profile_.tile_m, n = profile_.tile_n;
        const double flops = 2 * m * n * depth_ +
                             profile_.addition_flops * depth_ * ((counts.a - 1) * m + (counts.b - 1) * n) +
                             update_flops_ * counts.c * m * n;
        const double words = counts.a * m * depth_ + counts.b * n * depth_ + counts.c * m * n;
        const double bytes = words * static_cast<double>(element_bytes(profile_.type));
        together.tiles += times * tiles_;
        together.update_s +=
            times * tiles_ * device_.multiprocessors * update_flops_ * counts.c * m * n / profile_.flops_per_s;
        together.block_s += times * tiles_ * device_.multiprocessors * (whole_ + (1 - whole_) * profile_.edge) *
                            std::max(flops / profile_.flops_per_s, bytes / profile_.global_bytes_per_s);
        together.instances.push_back(&instance);
        together.most_copies = std::max(together.most_copies, times);
    }

    double seconds(const Together& together) const {
        double in_waves = std::max(wave_seconds(together), uneven_seconds(together));
        if (order_ == FusedOrder::persistent) {
            in_waves += waits(together) * profile_.turn_s;
        }
        if (order_ != FusedOrder::atomic || !profile_.regular || profile_.blocks_of_multiprocessor > 1) {
            return in_waves;
        }
        // What would be a last wave is shared out evenly; each block begins or ends within a tile, and updates once
        // more.
        const double evenly = together.block_s / device_.multiprocessors + together.update_s / together.tiles;
        return std::min(evenly, in_waves);
    }

private:
    double at_once() const { return static_cast<double>(device_.multiprocessors) * profile_.blocks_of_multiprocessor; }

    double wave_seconds(const Together& together) const {
        const double block_s = together.block_s / together.tiles;  // sharing a multiprocessor, each in turn
        const double whole_waves = std::floor(together.tiles / at_once());
        const double rest = together.tiles - whole_waves * at_once();
        double seconds = whole_waves * profile_.blocks_of_multiprocessor * block_s;
        if (rest > 0) {
            const double residents = std::ceil(rest / device_.multiprocessors);
            seconds += residents * block_s / std::min(1.0, residents * profile_.alone);
        }
        return seconds;
    }

    /// Where some tiles take longer than others, who draws one of those last ends half of it later than the others.
    double uneven_seconds(const Together& together) const {
        if (whole_ == 0 || whole_ == 1) {
            return 0;
        }
        const double mean_s = together.block_s / together.tiles;
        const double longest_s = mean_s * profile_.edge / (whole_ + (1 - whole_) * profile_.edge);
        const double later_s = std::min(1.0, profile_.edge - 1) * longest_s / 2;
        return together.block_s / device_.multiprocessors + later_s * profile_.blocks_of_multiprocessor;
    }

    /// Products that are under way together end together, and their updates of one tile come one after another; later
    /// ones are as far apart by then. The longest such row but its first.
    int waits(const Together& together) const {
        const double products = at_once() / (tiles_ * together.most_copies);
        const std::size_t under_way =
            std::min(together.instances.size(), static_cast<std::size_t>(std::ceil(products)));
        std::vector<int> turns(under_way, 0);
        for (std::size_t i = 0; i < under_way; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                if (share_a_target(*together.instances[j], *together.instances[i])) {
                    turns[i] = std::max(turns[i], turns[j] + 1);
                }
            }
        }
        return under_way == 0 ? 0 : *std::ranges::max_element(turns);
    }

    const FusedDevice& device_;
    const FusedProfile& profile_;
    FusedOrder order_;
    double update_flops_;
    double depth_;
    double tiles_;  // of one instance
    double whole_;  // share of them that do not end beyond it
};

/// The kernel whose atomic updates go on in the background tells by itself of products that are not finite.
bool judges_result(const FusedProfile& profile, FusedOrder order) {
    return profile.regular && profile.tile == FusedTile::huge && order == FusedOrder::atomic;
}

}  // namespace

bool can_fuse(const Machine& machine, Type type, const OperandCounts& most) {
    return std::ranges::any_of(machine.fused, [&](const FusedProfile& profile) {
        return profile.type == type && std::max(most.a, most.b) <= profile.most_terms && most.c <= profile.most_targets;
    });
}

double fused_seconds(const FusedDevice& device, const FusedProfile& profile, FusedOrder order,
                     const FusedInstances& instances, const FusedWork& work) {
    const LevelClock clock(device, profile, order, work);
    const auto count = static_cast<int>(instances.instances.size());
    double seconds = 0;
    Together together;
    FusedRoom room;
    const auto ends_group = [&](int i) {
        return std::ranges::find(instances.group_ends, i + 1) != instances.group_ends.end();
    };
    const auto end_launch = [&](double times) {
        if (together.tiles > 0) {
            seconds += (clock.seconds(together) + device.launch_s) * times;
        }
        together = {};
        room = {};
    };
    if (order == FusedOrder::serial || order == FusedOrder::two_streams) {
        int launched = 0;  // instances so far
        for (int i = 0; i < count; ++i) {
            clock.add(together, instances.instances[static_cast<std::size_t>(i)], 1);
            if (order == FusedOrder::serial || i + 1 == count || i + 1 - launched == 2 || ends_group(i)) {
                end_launch(work.levels_together);
                launched = i + 1;
            }
        }
        return seconds;
    }
    const int group = levels_of_launch(order, count, work.levels_together);
    for (int first = 0; first < work.levels_together; first += group) {
        for (int i = 0; i < count; ++i) {  // the same product of all levels, side by side
            const BlockProduct& instance = instances.instances[static_cast<std::size_t>(i)];
            for (int levels = std::min(group, work.levels_together - first); levels > 0;) {
                const int taken = std::min(levels, room.left_for(operand_counts(instance)));
                if (taken == 0) {
                    end_launch(1);
                    continue;
                }
                clock.add(together, instance, taken);
                room.take(operand_counts(instance), taken);
                levels -= taken;
            }
            if (order == FusedOrder::batched && ends_group(i)) {
                end_launch(1);
            }
        }
        end_launch(1);
    }
    return seconds;
}

std::optional<FusedChoice> choose_fused_tile(const Machine& machine, Type type, FusedOrder order, FusedTile asked,
                                             const FusedInstances& instances, const FusedWork& work) {
    std::optional<FusedChoice> best;
    const int terms = std::max(instances.most.a, instances.most.b);
    const bool regular = work.even && work.k % 8 == 0 && work.n % 4 == 0;
    // Where a tile has a kernel for regular products, these go through no other.
    const auto has_own_kernel = [&](FusedTile tile) {
        return std::ranges::any_of(machine.fused, [&](const FusedProfile& other) {
            return other.regular && other.type == type && other.tile == tile && terms <= other.most_terms;
        });
    };
    for (const FusedProfile& profile : machine.fused) {
        const bool fits = profile.type == type && profile.regular == (regular && has_own_kernel(profile.tile)) &&
                          terms <= profile.most_terms && instances.most.c <= profile.most_targets &&
                          (asked == FusedTile::automatic || asked == profile.tile);
        if (fits) {
            const double seconds = fused_seconds(machine.fused_device, profile, order, instances, work);
            if (!best || seconds < best->seconds) {
                best = {profile.tile, seconds, profile.misaligned, judges_result(profile, order)};
            }
        }
    }
    return best;
}

}  // namespace heptad
