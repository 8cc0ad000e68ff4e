#include "move/layer_stages.hpp"

#include <mutex>
#include <utility>

#include "move/operand_cache.hpp"

namespace heptad {
namespace {

class LayerStages final : public PipelineStages {
public:
    LayerStages(const LayerRun& run, const PipelineLayout& layout, const DeviceSet& devices, HostMatrices& matrices,
                StageFailure& failure)
        : run_(run),
          layout_(layout),
          layer_(*run.layer),
          matrices_(matrices),
          in_place_(matrices.in_place()),
          turns_(std::int64_t{layer_.grid.m} * layer_.grid.n, run.in_order, failure),
          places_(static_cast<std::size_t>(layout.pipelines())) {
        for (const auto& device : devices) {
            caches_.push_back(std::make_unique<DeviceCaches>(cache_of(*device, Operand::left),
                                                             cache_of(*device, Operand::right), failure));
        }
        for (int p = 0; p < layout.pipelines(); ++p) {
            ComputeDevice& device = *devices[static_cast<std::size_t>(layout.device_of(p))];
            Place& place = this->place(p);
            place.lane = device.open_lane(run.product);
            if (in_place_) {
                continue;
            }
            place.left.buffer = device.host_buffer(run.product.left.bytes());
            place.right.buffer = device.host_buffer(run.product.right.bytes());
            place.result = device.host_buffer(run.product.result.bytes());
            if (brings_result()) {
                place.before = device.host_buffer(run.product.result.bytes());
            }
        }
    }

    void prepare_left(int pipeline, const PipelineTask& task) override {
        if (brings_result()) {
            matrices_.make_result(instance_of(task).result.front(), place(pipeline).before.get());
        }
        prepare(place(pipeline).left, instance_of(task), &BlockProduct::left, &HostMatrices::make_left);
    }

    void prepare_right(int pipeline, const PipelineTask& task) override {
        prepare(place(pipeline).right, instance_of(task), &BlockProduct::right, &HostMatrices::make_right);
    }

    void upload(int pipeline, const PipelineTask& task) override {
        Place& place = this->place(pipeline);
        DeviceCaches& caches = caches_of(pipeline);
        const BlockProduct& instance = instance_of(task);
        const auto bring = [&](Side& side, OperandCache& cache, const std::vector<BlockTerm>& terms, const auto& rows) {
            side.there = &cache.take(terms, [&](OperandPlace& to) {
                const std::lock_guard alone(caches.link);
                in_place_ ? place.lane->upload_rows(to, rows()) : place.lane->upload(to, side.buffer.get());
            });
        };
        bring(place.left, caches.left, instance.left, [&] { return matrices_.rows_of_left(instance); });
        bring(place.right, caches.right, instance.right, [&] { return matrices_.rows_of_right(instance); });
        if (brings_result()) {
            const std::lock_guard alone(caches.link);
            place.lane->upload_result(place.before.get());
        }
    }

    void solve(int pipeline, const PipelineTask& task) override {
        const Place& place = this->place(pipeline);
        place.lane->solve(*place.left.there, *place.right.there, run_.alpha, task.step > 0 ? 1 : run_.beta);
        caches_of(pipeline).left.give_back(*place.left.there);
        caches_of(pipeline).right.give_back(*place.right.there);
    }

    void download(int pipeline, const PipelineTask& task) override {
        Place& place = this->place(pipeline);
        if (in_place_) {
            for (const BlockResult& term : instance_of(task).result) {
                place.lane->download_rows(matrices_.rows_of_result(term));
            }
            return;
        }
        place.lane->download(place.result.get());
    }

    void aggregate(int pipeline, const PipelineTask& task) override {
        if (in_place_) {
            return;
        }
        const Place& place = this->place(pipeline);
        for (const BlockResult& term : instance_of(task).result) {
            if (layer_.disjoint) {
                matrices_.update(term, true, place.result.get());
            } else {
                const BlockTurns::Hold hold(turns_, term.block, term.turn);
                matrices_.update(term, hold.first(), place.result.get());
            }
        }
    }

private:
    /// T or S of one pipeline. What was made last is known to the thread that does so: an operand that comes again, as
    /// a block of A does along its row of segments, is still there.
    struct Side {
        HostBuffer buffer;
        const BlockProduct* made = nullptr;
        OperandPlace* there = nullptr;
    };
    /// Of one pipeline.
    struct Place {
        std::unique_ptr<Lane> lane;
        Side left, right;
        HostBuffer result, before;  // the latter: what C holds, where devices get that
    };
    /// Of one device.
    struct DeviceCaches {
        DeviceCaches(std::vector<std::unique_ptr<OperandPlace>> lefts,
                     std::vector<std::unique_ptr<OperandPlace>> rights, StageFailure& failure)
            : left(std::move(lefts), failure), right(std::move(rights), failure) {}
        OperandCache left, right;
        /// Operands go up one after another: sharing the link, two pipelines would both be ready late.
        std::mutex link;
    };

    std::vector<std::unique_ptr<OperandPlace>> cache_of(ComputeDevice& device, Operand operand) const {
        std::vector<std::unique_ptr<OperandPlace>> places;
        for (int i = 0; i < layout_.pipelines_per_device; ++i) {
            places.push_back(device.open_place(run_.product, operand));
        }
        return places;
    }
    DeviceCaches& caches_of(int pipeline) { return *caches_[static_cast<std::size_t>(layout_.device_of(pipeline))]; }

    bool brings_result() const { return run_.beta != 0; }
    Place& place(int pipeline) { return places_[static_cast<std::size_t>(pipeline)]; }
    const BlockProduct& instance_of(const PipelineTask& task) const {
        return layer_.instances[static_cast<std::size_t>(task.group * layer_.steps + task.step)];
    }

    void prepare(Side& side, const BlockProduct& instance, std::vector<BlockTerm> BlockProduct::*terms,
                 void (HostMatrices::*make)(const BlockProduct&, void*)) {
        const BlockProduct* const last = std::exchange(side.made, &instance);
        if (!in_place_ && (last == nullptr || last->*terms != instance.*terms)) {
            (matrices_.*make)(instance, side.buffer.get());
        }
    }

    const LayerRun& run_;
    const PipelineLayout& layout_;
    const HostLayer& layer_;
    HostMatrices& matrices_;
    bool in_place_;
    BlockTurns turns_;
    std::vector<std::unique_ptr<DeviceCaches>> caches_;  // before the lanes, which use what is on them
    std::vector<Place> places_;
};

}  // namespace

void run_layer(const LayerRun& run, const DeviceSet& devices, HostMatrices& matrices, const RunHooks& hooks) {
    const PipelineLayout layout{static_cast<int>(devices.size()), run.pipelines, run.layer->groups(), run.layer->steps};
    StageFailure failure;
    LayerStages stages(run, layout, devices, matrices, failure);
    run_pipelines(layout, stages, failure, hooks);
}

}  // namespace heptad
