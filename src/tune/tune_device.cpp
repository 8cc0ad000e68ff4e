#include "base/error.hpp"
#include "tune/tune.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <thread>

#include "base/device_layout.hpp"
#include "base/stored_type.hpp"
#include "base/timing.hpp"
#include "base/types.hpp"
#include "io/device_kernels.hpp"
#include "io/device_machine.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "plan/search/planner.hpp"
#include "run/dense/combine_passes.hpp"
#include "run/dense/level_runner.hpp"
#include "run/dense/runner.hpp"
#include "tune/device_tuning.hpp"
#include "tune/possible_figures.hpp"

namespace heptad {
namespace {

/// Random numbers in the bits of a type, uniform in [-1, 1): clocks and power depend on what is multiplied.
std::vector<std::byte> random_block(Type type, std::size_t elements) {
    if (is_complex(type)) {
        return random_block(part_type(type), 2 * elements);
    }
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<std::byte> bytes(elements * element_bytes(type));
    with_stored_type(type, [&]<class T>() {
        std::generate_n(reinterpret_cast<T*>(bytes.data()), elements, [&] {
            if constexpr (std::is_integral_v<T>) {
                return static_cast<T>(std::uint64_t{random()} << 32 | random());
            } else {
                return from_double<T>(uniform(random));
            }
        });
    });
    return bytes;
}

/// No levels of sums, so no batches and no passes; and fewer sizes do.
bool is_rare(Type type) {
    return type == Type::i64 || is_complex(type);
}

bool is_measured(const std::string& leaf, Type type) {
    return is_rare(type) ? leaf_traits(leaf).by_residues || leaf_traits(leaf).is_whole_call
                         : leaf != "heptad" || type == Type::i32;
}

/// Measures one device.
class Measurement {
public:
    Measurement(int device, const std::function<void(const std::string&)>& note, LoadWatch& watch)
        : note_(note),
          watch_(watch),
          before_(load_device_machine(device, NamedFile::may_be_missing)),
          stream_(device),
          backend_(device, stream_.handle()),
          timer_(device),
          memory_(device, kBytes, stream_.handle()) {}

    Machine run(const std::string& device_name) {
        Machine machine;
        machine.cpu = device_name;
        machine.measured = true;
        for (const Type type :
             {Type::f32, Type::f64, Type::tf32, Type::bf16, Type::f16, Type::i32, Type::i64, Type::c64, Type::c128}) {
            fill(type);
            for (const std::string& leaf : backend_.leaves(type)) {
                if (is_measured(leaf, type)) {
                    if (leaf_traits(leaf).by_residues) {
                        fill(type);  // results of others lie about
                    }
                    note_(fmt::format("{} {}", type_name(type), leaf));
                    machine.leaves.push_back(profile(leaf, type));
                    watch_.count_impossible(
                        replace_impossible(machine.leaves.back(), {}, before_, watch_.noticed_others()));
                }
            }
            if (type != Type::tf32 && !is_rare(type) && pass_tuning_bytes(type) <= kBytes) {  // tf32 is f32 to a pass
                note_(fmt::format("{} shapes of passes", type_name(type)));
                const std::vector<PassProfile> tuned = tune_passes(type, backend_, stream_, memory_.data());
                machine.passes.insert(machine.passes.end(), tuned.begin(), tuned.end());
            }
        }
        measure_fused(machine);
        note_("passes");
        backend_.set_pass_shapes(pass_shapes(machine));
        fill(Type::f32);
        measure_passes(machine);
        for (const Type type : {Type::f32, Type::f64, Type::tf32, Type::bf16, Type::f16}) {
            fill(type);
            const DeviceGround ground{backend_, stream_, static_cast<std::byte*>(memory_.data()),
                                      kBytes,   watch_,  before_};
            measure_device_plans(type, ground, machine, note_);
        }
        return machine;
    }

private:
    /// Operands of the largest product or batch below.
    static constexpr std::int64_t kBytes = std::int64_t{13} << 30;

    void fill(Type type) {
        // Not a power of two: blocks of a matrix that are equal would leave nothing of their differences to multiply.
        constexpr std::size_t kElements = (std::size_t{1} << 22) - 3;
        const std::vector<std::byte> block = random_block(type, kElements);
        const auto bytes = static_cast<std::int64_t>(block.size());
        const std::int64_t end = is_rare(type) ? kBytes / 3 : kBytes;  // what fewer sizes need
        for (std::int64_t at = 0; at < end; at += bytes) {
            const std::int64_t count = std::min(bytes, end - at);
            cuda::copy_rows(block.data(), count, static_cast<std::byte*>(memory_.data()) + at, count, count, 1,
                            stream_.handle());
        }
        stream_.synchronize();
    }

    /// Bursts of a few milliseconds with pauses between them, as products come in practice: a first call alone runs
    /// faster than power allows for long, and an endless row of them slower than one ever will. The median counts.
    double seconds_of(const std::function<void()>& act) {
        const auto timed = [&](std::int64_t calls) {
            timer_.start(stream_.handle());
            for (std::int64_t i = 0; i < calls; ++i) {
                act();
            }
            timer_.stop(stream_.handle());
            return timer_.seconds() / static_cast<double>(calls);
        };
        timed(1);
        constexpr double kBurst = 0.005, kLong = 0.03;
        const double once_s = timed(1);
        const int bursts = once_s < kLong ? 5 : 3;  // long ones vary less
        const auto calls = static_cast<std::int64_t>(std::ceil(kBurst / std::max(once_s, 1e-6)));
        constexpr double kSteady = 1.3;  // the median over the least: beyond, somebody else is on the device
        constexpr int kMostTries = 3;
        double least_median = std::numeric_limits<double>::infinity();
        for (int tries = 0; tries < kMostTries; ++tries) {
            std::vector<double> seconds;
            for (int i = 0; i < bursts; ++i) {
                std::this_thread::sleep_for(std::chrono::duration<double>(kBurst));
                seconds.push_back(timed(calls));
            }
            const double middle = median(seconds);
            least_median = std::min(least_median, middle);
            if (middle <= kSteady * *std::ranges::min_element(seconds)) {
                break;
            }
        }
        return least_median;
    }

    /// So many products that lie one after another; none if they do not fit.
    std::vector<Product> products(const std::string& leaf, Type type, std::int64_t m, std::int64_t k, std::int64_t n,
                                  std::int64_t count) {
        const auto element = static_cast<std::int64_t>(element_bytes(type));
        const std::int64_t limbs = leaf == kLimbLeaf ? kGuardBytes + limb_bytes(m, k, n) : 0;
        std::int64_t used = round_up(limbs, 256);
        const auto take = [&](std::int64_t rows, std::int64_t cols) {
            void* const place = static_cast<std::byte*>(memory_.data()) + used;
            used += round_up(rows * cols * element * count, 256);
            return View(place, type, rows, cols, cols, 1);
        };
        const View a = take(m, k), b = take(k, n), c = take(m, n);
        std::vector<Product> batch;
        if (used > kBytes) {
            return batch;
        }
        for (std::int64_t i = 0; i < count; ++i) {
            const auto nth = [&](View v) {
                v.data = static_cast<std::byte*>(v.data) + i * v.rows * v.cols * element;
                return v;
            };
            batch.push_back({1, nth(a), nth(b), 0, nth(c)});
        }
        backend_.begin_product(memory_.data(), limbs);
        return batch;
    }

    /// Seconds of one of them; negative if they do not fit.
    double product_seconds(const std::string& leaf, Type type, std::int64_t m, std::int64_t k, std::int64_t n,
                           std::int64_t count) {
        if (leaf_traits(leaf).by_residues) {
            return residue_seconds(leaf, type, m, k, n);
        }
        const std::vector<Product> batch = products(leaf, type, m, k, n, count);
        return batch.empty() ? -1 : seconds_of([&] { backend_.multiply(batch, leaf); }) / static_cast<double>(count);
    }

    /// Of a whole plan, which is what such a leaf does.
    double residue_seconds(const std::string& leaf, Type type, std::int64_t m, std::int64_t k, std::int64_t n) {
        Problem problem{m, k, n, type, 1, {}};
        problem.options.device = "cuda";
        problem.options.levels = 0;
        const ProductPlan plan = type == Type::i64 ? make_plan(problem, before_, device_limits())
                                                   : plan_with_shape(problem, before_, {{}, leaf});
        const auto bytes = [&](std::int64_t rows, std::int64_t cols) {
            return round_up(rows * cols * static_cast<std::int64_t>(element_bytes(type)), 256);
        };
        const std::int64_t behind = round_up(plan.workspace_bytes, 256) + bytes(m, n);
        if (!is_by_residues(plan) || bytes(m, k) + bytes(k, n) + behind > kBytes) {
            return -1;
        }
        auto* const first = static_cast<std::byte*>(memory_.data());
        const View a(first, type, m, k, k, 1), b(first + bytes(m, k), type, k, n, n, 1);
        // C at the end, where no larger problem has A or B: results of results are no data that anybody has.
        const View c(first + kBytes - behind, type, m, n, n, 1);
        void* const workspace = first + kBytes - behind + bytes(m, n);
        return seconds_of([&] { run_plan(plan, backend_, 1, a, b, 0, c, workspace, {}); });
    }

    /// Makes the backend take that kernel.
    void use_kernel(const std::string& leaf, const LeafSample& size, Type type, const std::string& kernel) {
        backend_.set_vendor_kernels(std::make_shared<cuda::VendorKernels>(
            cuda::VendorKernels{{type, size.m, size.k, size.n, kernel, cuda::kernel_use(leaf)}}));
    }

    /// Tries all kernels that the library proposes, in turn and without pauses, as they run below levels; those far
    /// behind only once. Empty: there is nothing to choose from, or it would take too long.
    std::string fastest_kernel(const std::string& leaf, Type type, const LeafSample& size, std::int64_t count) {
        constexpr double kLongest = 0.06, kFarBehind = 1.1;
        constexpr int kRounds = 4;
        const std::vector<Product> batch = products(leaf, type, size.m, size.k, size.n, count);
        if (batch.empty()) {
            return "";
        }
        struct Tried {
            std::string kernel;
            std::vector<double> seconds;
        };
        std::vector<Tried> tried;
        double least = std::numeric_limits<double>::infinity();
        const auto try_once = [&](Tried& one) {
            use_kernel(leaf, size, type, one.kernel);
            backend_.multiply(batch, leaf);  // the library is asked for it, and loads it
            timer_.start(stream_.handle());
            backend_.multiply(batch, leaf);
            timer_.stop(stream_.handle());
            one.seconds.push_back(timer_.seconds());
        };
        for (const std::string& kernel : backend_.vendor_kernels_for(batch)) {
            Tried one{kernel, {}};
            try_once(one);
            if (one.seconds.back() > kLongest) {
                return "";
            }
            least = std::min(least, one.seconds.back());
            tried.push_back(std::move(one));
        }
        std::erase_if(tried, [&](const Tried& one) { return one.seconds.front() > least * kFarBehind; });
        for (int round = 0; round < kRounds; ++round) {
            for (Tried& one : tried) {
                try_once(one);
            }
        }
        const auto best = std::ranges::min_element(
            tried, [&](const Tried& x, const Tried& y) { return median(x.seconds) < median(y.seconds); });
        return best == tried.end() ? "" : best->kernel;
    }

    LeafProfile profile(const std::string& leaf, Type type) {
        LeafProfile result{leaf, type, 1, {}};
        constexpr std::int64_t kWorthChoosing = 1024;
        const auto add = [&](std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t count) {
            LeafSample sample{m, k, n, 0};
            if (leaf.starts_with("cublaslt") && std::min({m, k, n}) >= kWorthChoosing) {
                const auto start = std::chrono::steady_clock::now();
                sample.kernel = fastest_kernel(leaf, type, sample, count);
                use_kernel(leaf, sample, type, sample.kernel);
                // The power that the trials drew would be missing from what is measured next.
                const std::chrono::duration<double> longest(0.2);
                std::this_thread::sleep_for(
                    std::min(longest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start)));
            }
            sample.seconds = product_seconds(leaf, type, m, k, n, count);
            backend_.set_vendor_kernels(nullptr);
            if (sample.seconds > 0) {
                result.samples.push_back(sample);
            }
        };
        // Between powers of two rates are not what lies between: tiles of the library's kernels do not fill the device.
        if (leaf.ends_with("-batched")) {
            for (const std::int64_t n : {256, 384, 512, 768, 1024, 2048}) {
                add(n, n, n, 49);
            }
            add(4096, 4096, 4096, 14);
            add(8192, 8192, 8192, 7);
            add(2048, 1024, 2048, 49);
            add(1024, 2048, 1024, 49);
            return result;
        }
        const bool slow = leaf == "heptad" || type == Type::f64 || type == Type::f32;
        if (leaf == "cublaslt") {
            for (std::int64_t n = 2048; n <= (slow ? 8192 : 16384); n *= 2) {
                add(n, n, n, 1);
            }
            return result;
        }
        for (std::int64_t n = 128; n <= (is_rare(type) ? 8192 : slow ? 16384 : 32768); n *= 2) {
            if (leaf != "heptad" || n <= 8192) {
                add(n, n, n, 1);
            }
            constexpr std::int64_t kFirstBetween = 768, kLastBetween = 6144;
            if (const std::int64_t between = n / 2 * 3;
                leaf != "heptad" && !is_rare(type) && between >= kFirstBetween && between <= kLastBetween) {
                add(between, between, between, 1);
            }
        }
        for (const std::int64_t thin : {16, 64, 256, 1024}) {
            add(thin, 8192, 8192, 1);
            add(8192, thin, 8192, 1);
            add(8192, 8192, thin, 1);
        }
        const double aligned = product_seconds(leaf, type, 4096, 4096, 4096, 1);
        const double misaligned = product_seconds(leaf, type, 4095, 4095, 4095, 1);
        result.misaligned = std::max(1.0, misaligned / aligned);
        return result;
    }

    /// The kernels with sums inside, for the types that have them.
    void measure_fused(Machine& machine) {
        const FusedTuning tuning{backend_, static_cast<std::byte*>(memory_.data()), kBytes,
                                 [&](const std::function<void()>& act) { return seconds_of(act); }};
        const cuda::Report& report = cuda::known_report();
        machine.fused_device.multiprocessors =
            report.devices.at(static_cast<std::size_t>(backend_.device())).multiprocessors;
        bool first = true;
        for (const Type type : {Type::f32, Type::f64}) {
            if (!backend_.fuses(type, 1, 1, 1)) {
                continue;
            }
            note_(fmt::format("{} sums inside", type_name(type)));
            fill(type);
            backend_.begin_product(nullptr, 0);
            if (first) {
                machine.fused_device.launch_s = fused_launch_seconds(type, tuning);
                first = false;
            }
            const std::vector<FusedProfile> tuned = tune_fused(type, machine.fused_device, tuning);
            machine.fused.insert(machine.fused.end(), tuned.begin(), tuned.end());
        }
    }

    /// A pass as the planner counts it: two levels of winograd's sums of an operand, all products stored.
    void measure_passes(Machine& machine) {
        const LevelPrograms programs = level_programs("winograd*winograd", false);
        const auto seconds = [&](std::int64_t n) {
            const View whole(memory_.data(), Type::f32, n, n, n, 1);
            const std::vector<View> blocks = blocks_of(whole, 4, 4);
            const OperandLayout layout = operand_layout(*programs.a, true);
            std::vector<View> stored;
            const std::int64_t side = n / 4;
            for (int i = 0; i < layout.stored; ++i) {
                stored.emplace_back(static_cast<std::byte*>(memory_.data()) + 4 * (n * n + i * side * side), Type::f32,
                                    side, side, side, 1);
            }
            const CombinePass pass = operand_pass(*programs.a, layout, {blocks, {}}, {stored, {}});
            return seconds_of([&] { backend_.combine(pass); });
        };
        constexpr double kSide = 8192;
        machine.combine_bytes_per_s = (16 + 49) / 16.0 * kSide * kSide * 4 / seconds(8192);
        machine.scan_bytes_per_s = machine.combine_bytes_per_s;
        // What one pass of a level takes of the host's time, with its share of the rest.
        constexpr double kPasses = 3;  // of A, of B, and to C
        const LevelPlan passes{"winograd*winograd", LevelMode::parallel, ""};
        machine.call_s = std::max(1e-6, small_seconds(machine, 256, {passes}) / kPasses);
        if (backend_.fuses(Type::f32, 2, 2, 2)) {
            const LevelPlan fused{"strassen", LevelMode::fused, "", FusedOrder::persistent, FusedTile::large};
            constexpr double kProducts = 7.0 * 7 * 7;
            const double products_s = small_seconds(machine, 512, {passes, fused}) - kPasses * machine.call_s;
            machine.fused_device.product_s = std::max(0.0, products_s / kProducts);
        }
    }

    /// A product with such levels that is so small that the device waits for the host.
    double small_seconds(const Machine& machine, std::int64_t side, const std::vector<LevelPlan>& levels) {
        Problem problem{side, side, side, Type::f32, 1, {}};
        problem.options.device = "cuda";
        problem.options.accuracy = Accuracy::fast;
        const ProductPlan plan = plan_with_levels(problem, machine, levels);
        auto* const bytes = static_cast<std::byte*>(memory_.data());
        const auto matrix = [&](std::int64_t number) {
            return View(bytes + number * side * side * 4, Type::f32, side, side, side, 1);
        };
        return seconds_of(
            [&] { run_plan(plan, backend_, 1, matrix(0), matrix(1), 0, matrix(2), bytes + 3 * side * side * 4, {}); });
    }

    const std::function<void(const std::string&)>& note_;
    LoadWatch& watch_;
    const Machine before_;  // what stands in place of figures that cannot be true
    cuda::Stream stream_;
    cuda::CudaBackend backend_;
    cuda::Timer timer_;
    cuda::DeviceMemory memory_;
};

}  // namespace

Machine tune_device(int device, bool only_bits, const std::function<void(const std::string&)>& note, LoadWatch& watch) {
    cuda::require_device(device);
    const TuningScope tuning;  // files that are named and missing are made by it
    const cuda::DeviceScope scope(device);
    const TuneFile file = device_tune_file(device);
    require_updatable(file);
    Machine machine = only_bits ? load_device_machine(device, NamedFile::may_be_missing)
                                : Measurement(device, note, watch)
                                      .run(cuda::known_report().devices.at(static_cast<std::size_t>(device)).name);
    machine.bit_splits = measure_bit_splits(device, note);
    machine.bit_hosts = measure_bit_hosts(host_trial_of(device), note);
    update_machines(file, [&](std::vector<Machine>& kept) {
        if (only_bits && !kept.empty()) {  // somebody else may have measured the rest meanwhile
            kept.front().bit_splits = machine.bit_splits;
            kept.front().bit_hosts = machine.bit_hosts;
            machine = kept.front();
        }
        kept = {machine};
    });
    return machine;
}

}  // namespace heptad
