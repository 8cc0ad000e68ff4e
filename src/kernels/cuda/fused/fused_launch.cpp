// The five ways of running the products of a level: how they are dealt out to launches and streams.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/status.hpp"
#include "kernels/cuda/fused/fused_build.hpp"
#include "kernels/cuda/fused/fused_clear.hpp"
#include "kernels/cuda/fused/fused_product.hpp"
#include "kernels/cuda/fused/fused_split.hpp"
#include "kernels/cuda/fused/fused_tiles.hpp"
#include "kernels/cuda/fused/fused_walk.hpp"

namespace heptad::cuda {
namespace {

class Event {
public:
    Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "make an event"); }
    ~Event() { cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    void record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream), "mark a place in a stream"); }
    void hold_back(cudaStream_t stream) const { check(cudaStreamWaitEvent(stream, event_), "let a stream wait"); }
    /// Where an error is on its way already.
    void join_unchecked(cudaStream_t first, cudaStream_t then) const noexcept {
        cudaEventRecord(event_, first);
        cudaStreamWaitEvent(then, event_);
    }

private:
    cudaEvent_t event_ = nullptr;
};

/// One launch after another on the streams that are named.
template <class T>
class Launcher {
public:
    Launcher(const FusedKernel& kernel, const Guard& guard, unsigned long long* verdict)
        : kernel_(kernel), args_(new FusedArguments<T>{}) {
        args_->guard = guard;
        args_->verdict = verdict;
    }
    const FusedArguments<T>& build(std::span<const FusedProduct> products) {
        build_fused(products, *args_);
        args_->tiles_down = (args_->m + kernel_.tile_rows - 1) / kernel_.tile_rows;
        args_->tiles_across = (args_->n + kernel_.tile_cols - 1) / kernel_.tile_cols;
        return *args_;
    }
    bool judges() const { return kernel_.judges; }
    /// `early`: while the launch before, which clears what this one needs, is still under way.
    void launch(FusedUpdate update, std::uint32_t* counters, cudaStream_t stream, bool early = false) {
        const std::int64_t tiles = std::int64_t{args_->instance_count} * args_->tiles_down * args_->tiles_across;
        if (tiles == 0) {
            return;
        }
        if (tiles > std::numeric_limits<std::int32_t>::max() / 2) {
            fail(ErrorCode::usage, "fused products of {} tiles are not possible, only up to {}; put a level above them",
                 tiles, std::numeric_limits<std::int32_t>::max() / 2);
        }
        const int resident = blocks_of_multiprocessor(kernel_) * multiprocessors();
        // The tiles of one moment form a square of M, so that what they read is used most often.
        args_->strip = std::max(1, static_cast<int>(std::lround(std::sqrt(static_cast<double>(resident) *
                                                                          kernel_.tile_cols / kernel_.tile_rows))));
        const int slabs = kernel_.slab > 0 ? args_->k / kernel_.slab : 0;
        if (counters == nullptr || slabs == 0) {
            keep_tiles_whole(*args_);
        } else if (update == FusedUpdate::ordered) {
            split_last_tiles(*args_, multiprocessors(), slabs);
        } else if (blocks_of_multiprocessor(kernel_) == 1) {
            share_last_tiles(*args_, multiprocessors(), slabs);
        } else {  // sharing did not pay (an H200, tiles of 128 x 128)
            keep_tiles_whole(*args_);
        }
        args_->update = update;
        const int items = fused::item_count(*args_);
        // Blocks that have one item each need not draw it, and so not wait for the counter to be cleared.
        const bool is_dealt_out = kernel_.judges && update == FusedUpdate::atomic && items <= resident;
        args_->counters = is_dealt_out ? nullptr : counters;
        cudaLaunchAttribute begins_early{};
        begins_early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        begins_early.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(static_cast<unsigned>(std::min(items, resident)));
        config.blockDim = dim3(static_cast<unsigned>(kernel_.threads));
        config.dynamicSmemBytes = static_cast<std::size_t>(kernel_.shared_bytes);
        config.stream = stream;
        config.attrs = &begins_early;
        config.numAttrs = early ? 1 : 0;
        void* parameters[] = {args_.get()};
        check(cudaLaunchKernelExC(&config, kernel_.function, parameters), "start fused products");
    }

private:
    FusedKernel kernel_;
    std::unique_ptr<FusedArguments<T>> args_;
};

template <class T>
void run_batched(Launcher<T>& launcher, std::span<const FusedProduct> products, cudaStream_t stream) {
    while (!products.empty()) {
        std::size_t length = 1;
        while (length < products.size() &&
               std::none_of(products.begin(), products.begin() + static_cast<std::ptrdiff_t>(length),
                            [&](const FusedProduct& p) { return fused_conflict(p, products[length]); })) {
            ++length;
        }
        launcher.build(products.first(length));
        launcher.launch(FusedUpdate::plain, nullptr, stream);
        products = products.subspan(length);
    }
}

/// A second stream that runs beside another one from here until the end of the scope, however that is left: whoever
/// frees memory in the order of the first stream must not find the second one still at it.
class Beside {
public:
    Beside(cudaStream_t stream, cudaStream_t second) : stream_(stream), second_(second) {
        start_.record(stream_);
        start_.hold_back(second_);
    }
    ~Beside() {
        if (!joined_) {
            end_.join_unchecked(second_, stream_);
        }
    }
    Beside(const Beside&) = delete;
    Beside& operator=(const Beside&) = delete;
    void join() {
        end_.record(second_);
        end_.hold_back(stream_);
        joined_ = true;
    }

private:
    cudaStream_t stream_, second_;
    Event start_, end_;
    bool joined_ = false;
};

/// Both streams at a time, as far as products with a common target let them (stream_numbers()).
template <class T>
void run_two_streams(Launcher<T>& launcher, std::span<const FusedProduct> products, cudaStream_t stream,
                     cudaStream_t second) {
    const cudaStream_t streams[2] = {stream, second};
    std::vector<Event> finished(products.size());
    const std::vector<int> numbers = stream_numbers(products);
    Beside beside(stream, second);
    for (std::size_t i = 0; i < products.size(); ++i) {
        const cudaStream_t own = streams[numbers[i]];
        for (std::size_t j = 0; j < i; ++j) {
            if (numbers[j] != numbers[i] && fused_conflict(products[j], products[i])) {
                finished[j].hold_back(own);
            }
        }
        launcher.build(products.subspan(i, 1));
        launcher.launch(FusedUpdate::plain, nullptr, own);
        finished[i].record(own);
    }
    beside.join();
}

/// What atomic additions find must be there before: beta times the old block. Blocks of one shape are scaled together.
void scale_targets(Scalar scalar, std::span<const FusedProduct> products, const Guard& guard, cudaStream_t stream) {
    std::vector<LinearLaunch> scales;
    for (const FusedProduct& product : products) {
        for (const FusedTarget& target : product.targets) {
            const View& c = target.block;
            if (target.beta == 1 || c.rows == 0 || c.cols == 0) {
                continue;
            }
            auto alike = std::find_if(scales.begin(), scales.end(), [&](const LinearLaunch& scale) {
                return scale.keep == target.beta && scale.outputs[0].rows == c.rows && scale.outputs[0].cols == c.cols;
            });
            if (alike == scales.end()) {
                LinearLaunch scale;
                scale.scalar = scale.result = scalar;
                scale.keep = target.beta;
                scale.guard = guard;
                scales.push_back(scale);
                alike = scales.end() - 1;
            }
            alike->outputs.push_back({c.data, c.rows, c.cols, c.row_stride, c.col_stride});
        }
    }
    for (const LinearLaunch& scale : scales) {
        check_launch(launch_linear(scale, stream), "scale the targets of fused products");
    }
}

/// The same in one launch where every target that is not kept is to be zero, and the counter and the fresh words of a
/// guard with them. Otherwise nothing is done, and false returned.
bool clear_targets(Type type, std::span<const FusedProduct> products, const Guard& guard, std::uint32_t* counter,
                   GuardWords* fresh, cudaStream_t stream) {
    FusedClearing clearing{};
    clearing.counter = counter;
    clearing.words = fresh;
    clearing.guard = fresh == nullptr ? guard : Guard{};
    const auto words = static_cast<std::int64_t>(element_bytes(type) / sizeof(std::uint32_t));
    for (const FusedProduct& product : products) {
        for (const FusedTarget& target : product.targets) {
            const View& c = target.block;
            if (target.beta == 1 || c.rows == 0 || c.cols == 0) {
                continue;
            }
            const bool by_rows = c.col_stride == 1;
            if (target.beta != 0 || (!by_rows && c.row_stride != 1) ||
                clearing.block_count == FusedClearing::kMostBlocks) {
                return false;
            }
            clearing.blocks[clearing.block_count++] = {static_cast<std::uint32_t*>(c.data), by_rows ? c.rows : c.cols,
                                                       words * (by_rows ? c.cols : c.rows),
                                                       words * (by_rows ? c.row_stride : c.col_stride)};
        }
    }
    check_launch(launch_clearing(clearing, stream), "clear the targets of fused products");
    return true;
}

/// Whether kernels here can begin before the launch before them has ended. Not in a graph, whose edges say so
/// otherwise.
bool can_begin_early(bool captured) {
    int device = 0, major = 0;
    check(cudaGetDevice(&device), "tell the current device");
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "tell its generation");
    return major >= 9 && !captured;
}

/// One launch whose blocks draw tiles of all products from a counter.
template <class T>
void run_together(Launcher<T>& launcher, std::span<const FusedProduct> products, bool atomic, Type type,
                  const Guard& guard, GuardWords* fresh, const FusedScratch& scratch, cudaStream_t stream) {
    const FusedArguments<T>& args = launcher.build(products);
    std::int32_t blocks = 0;
    for (const FusedInstanceArgument& instance :
         std::span(args.instances, static_cast<std::size_t>(args.instance_count))) {
        for (int t = 0; t < instance.target_count; ++t) {
            const FusedTargetArgument<T>& target = args.targets[instance.target_begin + t];
            blocks = std::max(blocks, target.block + 1);
            // A later update that scales has no place among additions in any order, nor has one that reads a block.
            atomic = atomic && (target.turn == 0 || target.beta == T{1}) && target.addend_coefficient == T{0};
        }
    }
    const std::int64_t tiles = std::int64_t{args.tiles_down} * args.tiles_across;
    const std::int64_t bytes = 4 * (1 + (atomic ? 0 : blocks * tiles));
    DeviceMemory from_pool;
    if (bytes > scratch.bytes) {
        int device = 0;
        check(cudaGetDevice(&device), "tell the current device");
        from_pool = DeviceMemory(device, bytes, stream);
    }
    auto* const counters = static_cast<std::uint32_t*>(bytes > scratch.bytes ? from_pool.data() : scratch.data);
    if (atomic && clear_targets(type, products, guard, counters, fresh, stream)) {
        launcher.launch(FusedUpdate::atomic, counters, stream,
                        launcher.judges() && can_begin_early(scratch.bytes == 0));
        return;
    }
    check(cudaMemsetAsync(counters, 0, static_cast<std::size_t>(bytes), stream), "clear counters");
    if (fresh != nullptr) {
        check(cudaMemsetAsync(fresh, 0, sizeof(GuardWords), stream), "clear the guard");
    }
    if (atomic) {
        scale_targets(type == Type::f64 ? Scalar::f64 : Scalar::f32, products, guard, stream);
    }
    launcher.launch(atomic ? FusedUpdate::atomic : FusedUpdate::ordered, counters, stream);
}

template <class T>
void run(std::span<const FusedProduct> products, FusedOrder order, const FusedKernel& kernel, Type type,
         const FusedGuard& guard, const FusedScratch& scratch, cudaStream_t stream, cudaStream_t second) {
    // Fresh words say nothing yet, and the first launch of the atomic order clears them.
    Launcher<T> launcher(kernel, guard.fresh == nullptr ? guard.guard : Guard{},
                         guard.fresh == nullptr ? nullptr : &guard.fresh->max_bits[kWordOfResult]);
    GuardWords* fresh = guard.fresh;
    const bool together = order == FusedOrder::atomic || order == FusedOrder::persistent;
    if (fresh != nullptr && !together) {
        check(cudaMemsetAsync(fresh, 0, sizeof(GuardWords), stream), "clear the guard");
    }
    while (!products.empty()) {
        const std::size_t length = fused_run_length(products);
        const std::span<const FusedProduct> part = products.first(length);
        switch (order) {
            case FusedOrder::serial:
                for (std::size_t i = 0; i < length; ++i) {
                    launcher.build(part.subspan(i, 1));
                    launcher.launch(FusedUpdate::plain, nullptr, stream);
                }
                break;
            case FusedOrder::two_streams:
                run_two_streams(launcher, part, stream, second);
                break;
            case FusedOrder::batched:
                run_batched(launcher, part, stream);
                break;
            case FusedOrder::atomic:
            case FusedOrder::persistent:
                run_together(launcher, part, order == FusedOrder::atomic, type,
                             guard.fresh == nullptr ? guard.guard : Guard{}, std::exchange(fresh, nullptr), scratch,
                             stream);
                break;
        }
        products = products.subspan(length);
    }
}

}  // namespace

bool launch_fused(StreamHandle stream, StreamHandle second, Type type, std::span<const FusedProduct> products,
                  FusedOrder order, FusedTile tile, const FusedGuard& guard, const FusedScratch& scratch) {
    if (products.empty()) {
        return false;
    }
    for (const FusedProduct& product : products) {
        const std::int64_t side = std::max({product.m, product.k, product.n});
        if (side > kMostFusedSide) {
            fail(ErrorCode::usage,
                 "{} rows, columns or terms of a sum are too many for fused products, {} at most are possible", side,
                 kMostFusedSide);
        }
    }
    const FusedKernel kernel = fused_kernel(type, tile, products, order);
    auto* const first_stream = static_cast<cudaStream_t>(stream);
    auto* const second_stream = static_cast<cudaStream_t>(second);
    if (type == Type::f64) {
        run<double>(products, order, kernel, type, guard, scratch, first_stream, second_stream);
    } else {
        run<float>(products, order, kernel, type, guard, scratch, first_stream, second_stream);
    }
    return kernel.judges && guard.fresh != nullptr;
}

}  // namespace heptad::cuda
