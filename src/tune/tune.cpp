// Measurement. For every type the squares from small to large, then the thin shapes. The leaves that run on our threads
// run in rounds on a shape, so that a change of the clock or a busy neighbour strikes all of them; a sample is the
// median of its rounds. The leaves with threads of their own come afterwards, one by one, with a pause between them:
// such threads keep spinning for a while after a call, and whoever runs next seems to have half the cores.
#include "tune/tune.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "base/fail_if.hpp"
#include "base/idle_threads.hpp"
#include "base/thread_pool.hpp"
#include "io/machine_file.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/cpu_info.hpp"
#include "tune/possible_figures.hpp"
#include "tune/tune_plans.hpp"
#include "tune/tune_timing.hpp"

namespace heptad {
namespace {

std::vector<TunedShape> shapes_to_measure() {
    std::vector<TunedShape> shapes;
    for (std::int64_t size = 1; size <= kLargest; size *= 2) {
        shapes.push_back({size, size, size});
    }
    const auto add_thin = [&](std::int64_t thin, std::int64_t large) {
        shapes.push_back({thin, large, large});
        shapes.push_back({large, thin, large});
        shapes.push_back({large, large, thin});
    };
    // From small to large: the smaller ones cost nothing, should time run out.
    for (const std::int64_t large : {std::int64_t{32}, std::int64_t{128}, std::int64_t{512}, kLargest}) {
        for (const std::int64_t thin : {1, 4, 16, 64}) {
            if (thin < large) {
                add_thin(thin, large);
            }
        }
    }
    // Beyond the caches thin shapes are another matter.
    for (const std::int64_t thin : {1, 64}) {
        add_thin(thin, kLongest);
    }
    // Vectors: a dot product, and a vector times a number from either side.
    for (const std::int64_t length : {std::int64_t{64}, kLargest, std::int64_t{32} * kLargest}) {
        shapes.push_back({1, length, 1});
        shapes.push_back({length, 1, 1});
        shapes.push_back({1, 1, length});
    }
    return shapes;
}

struct Contender {
    LeafProfile profile;
    int id = 0;
    double guess_s = 0;
    int times_behind = 0;   // at large squares, in a row
    bool hopeless = false;  // twice: the rest is not worth the time
    std::vector<double> rounds;
};

constexpr double kLeafSampleSeconds = 3e-4;
constexpr int kLeafRounds = 5;
/// A leaf this much slower than the fastest one on a shape gets no further rounds there; if that happens on two squares
/// of kHopelessFrom or above in a row, it is not measured any further at all.
constexpr double kLeafFarBehind = 1.6;
constexpr std::int64_t kHopelessFrom = 256;

bool is_square(const TunedShape& s) {
    return s.m == s.k && s.k == s.n;
}

/// The least seconds measured so far on each shape; infinity where nothing was.
using Records = std::vector<double>;

/// Seconds of the shape in rounds; `left_s` is what remains of the budget, `record` the least seconds of those measured
/// before. The least of them now.
double run_rounds_on(const TuneGround& ground, const TunedShape& shape, double left_s,
                     std::vector<Contender>& contenders, double record) {
    const Product product = ground.operands.product(shape);
    double fastest = record;
    for (Contender& c : contenders) {
        c.rounds.clear();
        if (!c.hopeless) {
            const auto call = [&] { ground.backend.multiply_one(product, c.id); };
            call();  // first touch: library threads, packing memory, caches
            c.guess_s = ground.watch.timed([&] { return time_calls(1, 0, call); });
            fastest = std::min(fastest, c.guess_s);
        }
    }
    double round_s = 1e-9;
    for (const Contender& c : contenders) {
        round_s += c.hopeless || c.guess_s > kLeafFarBehind * fastest ? 0 : std::max(c.guess_s, kLeafSampleSeconds);
    }
    const int rounds = static_cast<int>(std::clamp(left_s / (8 * round_s), 0.0, static_cast<double>(kLeafRounds)));
    for (int round = 0; round < rounds; ++round) {
        for (Contender& c : contenders) {
            if (!c.hopeless && c.guess_s <= kLeafFarBehind * fastest) {
                c.rounds.push_back(ground.watch.timed([&] {
                    return time_calls(c.guess_s, kLeafSampleSeconds,
                                      [&] { ground.backend.multiply_one(product, c.id); });
                }));
            }
        }
    }
    return fastest;
}

/// Are products of that shape so large that all threads are at work?
bool uses_all_threads(const TunedShape& shape) {
    return std::min({shape.m, shape.k, shape.n}) >= kTypical;
}

void keep_as_before(const Machine& before, const TunedShape& shape, Contender& c) {
    c.profile.samples.push_back(
        {shape.m, shape.k, shape.n, leaf_seconds(before, c.profile.leaf, c.profile.type, shape.m, shape.k, shape.n)});
}

/// One shape by all leaves.
void measure_shape(const TuneGround& ground, const TunedShape& shape, double left_s, std::vector<Contender>& contenders,
                   double& record) {
    double fastest = record;
    const bool trusted = ground.watch.measure(
        uses_all_threads(shape), [&] { fastest = run_rounds_on(ground, shape, left_s, contenders, record); });
    for (Contender& c : contenders) {
        if (!c.hopeless) {
            if (!trusted) {
                keep_as_before(ground.before, shape, c);
                continue;
            }
            const double seconds = std::max(1e-9, c.rounds.empty() ? c.guess_s : median(c.rounds));
            c.profile.samples.push_back({shape.m, shape.k, shape.n, seconds});
            record = std::min(record, seconds);
            if (is_square(shape) && shape.m >= kHopelessFrom) {
                c.times_behind = c.guess_s > kLeafFarBehind * fastest ? c.times_behind + 1 : 0;
                c.hopeless = c.times_behind >= 2;
            }
        }
    }
}

/// Two calls of each leaf at the rate of the last square.
double least_seconds(const std::vector<Contender>& contenders, const TunedShape& shape) {
    double seconds = 0;
    for (const Contender& c : contenders) {
        const auto last = std::find_if(c.profile.samples.rbegin(), c.profile.samples.rend(),
                                       [](const LeafSample& s) { return s.m == s.k && s.k == s.n; });
        if (!c.hopeless && last != c.profile.samples.rend()) {
            const TunedShape square{last->m, last->k, last->n};
            seconds += 2 * last->seconds * shape.volume() / square.volume();
        }
    }
    return seconds;
}

/// A pass that reads three blocks and writes two, each a quarter of a matrix as the outermost level sees them; 80 MB.
double measure_combine(cpu::CpuBackend& backend, const Operands& operands) {
    constexpr std::int64_t size = kLongest / 2;
    CombinePass pass;
    for (const auto& [operand, row, col] : {std::tuple{0, 0, 0}, {0, 0, 1}, {0, 1, 1}, {2, 0, 0}, {2, 1, 0}}) {
        pass.slots.push_back(
            block(operands.whole(static_cast<std::size_t>(operand)), row * size, col * size, size, size));
    }
    pass.statements = {{3, {{0, 1}, {1, 1}}}, {4, {{3, 1}, {2, -1}}}};
    std::vector<double> rounds;
    for (int round = 0; round < 12; ++round) {
        rounds.push_back(time_calls(1, 0, [&] { backend.combine(pass); }));
    }
    rounds.erase(rounds.begin(), rounds.begin() + 3);  // threads and caches warming up
    return static_cast<double>(5 * size * size) * sizeof(float) / median(rounds);
}

double measure_scan(cpu::CpuBackend& backend, const Operands& operands) {
    const View all = operands.whole(0);
    std::vector<double> rounds;
    for (int round = 0; round < 6; ++round) {
        rounds.push_back(time_calls(1, 0, [&] { backend.scan(all); }));
    }
    return static_cast<double>(all.rows * all.cols) * sizeof(float) / median(rounds);
}

/// What a parallel pass costs beyond its work: tasks of a known length, all threads busy.
double measure_call(ThreadPool& pool) {
    constexpr double task_s = 5e-6;
    constexpr int tasks_per_thread = 2;
    const auto work = [](std::int64_t) {
        const auto start = Clock::now();
        while (seconds_since(start) < task_s) {
        }
    };
    std::vector<double> rounds;
    for (int round = 0; round < 51; ++round) {
        const auto start = Clock::now();
        pool.run(std::int64_t{tasks_per_thread} * pool.threads(), work);
        rounds.push_back(seconds_since(start) - tasks_per_thread * task_s);
    }
    return std::clamp(median(rounds), 1e-7, 1e-4);
}

/// The groups were measured one after the other, and the clock of a virtual machine drifts by a third and more. So one
/// square is measured again by the best leaf of our threads and by `profile`'s in rounds, with pauses, and all samples
/// of the profile are scaled to what that says.
void align_with_own_threads(const TuneGround& ground, const std::vector<LeafProfile>& profiles, LeafProfile& profile) {
    constexpr int rounds = 5;
    const LeafProfile* own = fastest_on_our_threads(profiles, profile.type, kTypical);
    if (own == nullptr || !std::isfinite(sample_at(profile.samples, kTypical))) {
        return;
    }
    const Product product = ground.operands.product({kTypical, kTypical, kTypical});
    std::vector<double> own_rounds;
    std::vector<double> vendor_rounds;
    const bool trusted = ground.watch.measure(true, [&] {
        own_rounds.clear();
        vendor_rounds.clear();
        for (int round = 0; round < rounds; ++round) {
            for (const bool vendor : {false, true}) {
                const int leaf = cpu::CpuBackend::leaf_id(vendor ? profile.leaf : own->leaf);
                wait_until_idle();
                ground.backend.multiply_one(product, leaf);  // wakes the threads
                (vendor ? vendor_rounds : own_rounds).push_back(ground.watch.timed([&] {
                    return time_calls(1, 0, [&] { ground.backend.multiply_one(product, leaf); });
                }));
            }
        }
    });
    if (!trusted) {
        return;
    }
    const double factor = median(vendor_rounds) / median(own_rounds) * sample_at(own->samples, kTypical) /
                          sample_at(profile.samples, kTypical);
    for (LeafSample& sample : profile.samples) {
        sample.seconds *= factor;
    }
}

std::vector<LeafSample> batches_before(const Machine& before, const LeafProfile& profile) {
    for (const LeafProfile& old : before.leaves) {
        if (old.leaf == profile.leaf && old.type == profile.type) {
            return old.in_batches;
        }
    }
    return {};
}

/// No product is faster than that by far: what the built-in figures take for the processor's peak, which does not know
/// every instruction set.
double most_flops(const Machine& built_in) {
    constexpr double kFarBeyond = 8, kSize = kLargest;
    double most = 0;
    for (const LeafProfile& profile : built_in.leaves) {
        most = std::max(most, 2 * kSize * kSize * kSize / sample_at(profile.samples, kLargest));
    }
    return kFarBeyond * most;
}

/// The leaves on our own threads together, then each one with threads of its own.
std::vector<std::vector<Contender>> contender_groups(const cpu::CpuBackend& backend, Type type, int threads) {
    std::vector<std::vector<Contender>> groups(1);
    for (const std::string& leaf : backend.leaves(type)) {
        Contender contender;
        contender.profile = {leaf, type, threads, {}};
        contender.id = cpu::CpuBackend::leaf_id(leaf);
        if (leaf.ends_with("-mt")) {
            groups.push_back({contender});
        } else {
            groups.front().push_back(contender);
        }
    }
    return groups;
}

}  // namespace

Machine measure_machine(int threads, double budget_s, const TuneProgress& progress, LoadWatch* given_watch) {
    fail_if(threads < 1, ErrorCode::usage, "{} threads cannot multiply anything; use at least 1", threads);
    const auto tell = [&](double fraction, const std::string& stage) {
        if (progress) {
            progress(fraction, stage);
        }
    };
    LoadWatch own_watch(load_rules(threads, budget_s));
    LoadWatch& watch = given_watch != nullptr ? *given_watch : own_watch;
    // Repetitions must not take the time of the large products: without these, leaves would seem as slow as on small
    // ones.
    const auto spent_s = [&watch, start_s = watch.spent_s()] { return watch.spent_s() - start_s; };
    const Machine before = load_machine(threads, NamedFile::may_be_missing);
    const PossibleRates possible{plain_loop_flops(), most_flops(default_machine(threads))};
    ThreadPool& pool = shared_pool(threads);
    cpu::CpuBackend backend(pool);
    Machine machine;
    machine.cpu = cpu::cpu_info().brand;
    machine.threads = threads;
    tell(0, "passes over memory");
    // Nobody knows how many threads are at work where memory is all they wait for.
    const auto measured_or = [&](double figure_before, const std::function<double()>& measure) {
        double figure = 0;
        return watch.measure(false, [&] { figure = watch.timed(measure); }) ? figure : figure_before;
    };
    {
        const Operands operands(Type::f32, kLongest);
        machine.combine_bytes_per_s =
            measured_or(before.combine_bytes_per_s, [&] { return measure_combine(backend, operands); });
        machine.scan_bytes_per_s =
            measured_or(before.scan_bytes_per_s, [&] { return measure_scan(backend, operands); });
    }
    machine.call_s = measured_or(before.call_s, [&] { return measure_call(pool); });

    const std::vector<TunedShape> shapes = shapes_to_measure();
    double total_volume = 0;
    for (const TunedShape& shape : shapes) {
        total_volume += shape.volume();
    }
    const Type types[] = {Type::f32, Type::f64, Type::i32};
    const double type_shares[] = {0.4, 0.95, 1.0};  // of the budget, gone when each type is done
    // Of a type's time: the leaves one by one over all shapes, then in batches, the rest for whole plans.
    constexpr double shapes_share = 0.16, batches_share = 0.04;
    double done_before = 0;
    for (int t = 0; t < 3; ++t) {
        const Type type = types[t];
        const double type_share = type_shares[t] - (t == 0 ? 0 : type_shares[t - 1]);
        const Operands operands(type, kLongest);
        const TuneGround ground{backend, operands, watch, before};
        const std::vector<std::vector<Contender>> groups = contender_groups(backend, type, threads);
        Records records(shapes.size(), std::numeric_limits<double>::infinity());
        for (std::size_t g = 0; g < groups.size(); ++g) {
            std::vector<Contender> contenders = groups[g];
            // The first group, whose leaves are the ones used most, gets half of the time.
            const double share_here =
                g == 0 ? (groups.size() == 1 ? 1.0 : 0.5) : 0.5 / static_cast<double>(groups.size() - 1);
            const double until = done_before + type_share * shapes_share * share_here;
            if (g > 0) {
                wait_until_idle();
            }
            double volume = 0;
            for (std::size_t i = 0; i < shapes.size(); ++i) {
                const TunedShape& shape = shapes[i];
                const double left_s = budget_s * until - spent_s();
                tell(done_before + (until - done_before) * volume / total_volume,
                     fmt::format("{} {}x{}x{}", type_name(type), shape.m, shape.k, shape.n));
                volume += shape.volume();
                const bool cheap = is_square(shape) && shape.m < kHopelessFrom;
                if (cheap || least_seconds(contenders, shape) < left_s) {
                    measure_shape(ground, shape, left_s, contenders, records[i]);
                } else if (watch.noticed_others()) {
                    for (Contender& contender : contenders) {
                        if (!contender.hopeless) {
                            keep_as_before(before, shape, contender);
                        }
                    }
                }
            }
            done_before = until;
            for (Contender& contender : contenders) {
                watch.count_impossible(replace_impossible(contender.profile, possible, before, watch.noticed_others()));
                if (g > 0) {
                    align_with_own_threads(ground, machine.leaves, contender.profile);
                }
                machine.leaves.push_back(std::move(contender.profile));
            }
        }
        wait_until_idle();
        tell(done_before, fmt::format("{} in batches", type_name(type)));
        const bool trusted = watch.measure(false, [&] {
            watch.timed([&] {
                measure_batches(backend, operands, type, threads, budget_s * type_share * batches_share,
                                machine.leaves);
                return true;
            });
        });
        for (LeafProfile& profile : machine.leaves) {
            if (profile.type == type && !trusted) {
                profile.in_batches = batches_before(before, profile);
            }
        }
        if (type != Type::i32) {
            const double least_s = budget_s * type_share * (1 - shapes_share - batches_share);
            const double left_s = budget_s * type_shares[t] - spent_s();
            measure_plans(ground, type, std::max(least_s, left_s), machine,
                          [&](const std::string& stage) { tell(done_before, stage); });
            wait_until_idle();
        }
        done_before = type_shares[t];
    }
    tell(1, "done");
    machine.measured = watch.stored_something() || before.measured;
    return machine;
}

}  // namespace heptad
