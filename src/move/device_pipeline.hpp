// Keeps N devices busy (P3 3.16). A device is fed by one or more pipelines; a pipeline has four threads of its own,
// which prepare the left and the right operand of a task, have it solved, and put its result where it belongs. It has
// one buffer T, one S and one Q, so that nothing piles up: T and S are free again as soon as they were uploaded, and
// the next ones are made while the device works; Q is downloaded when the one before has been put away.
//
// Tasks are dealt out as pipelines get to them, in groups of `steps` whose results are added on the device: only the
// last step of a group is downloaded. A pipeline's groups are in increasing order, and the stages of a group in the
// order above.
#pragma once

#include <cstdint>

#include "move/stages.hpp"
#include "run/dense/runner.hpp"

namespace heptad {

struct PipelineTask {
    std::int64_t group = 0;
    int step = 0;
};

/// What the stages do. Each is called by one thread of a pipeline at a time; solve() of all pipelines of a device too.
class PipelineStages {
public:
    virtual ~PipelineStages() = default;
    virtual void prepare_left(int pipeline, const PipelineTask& task) = 0;
    virtual void prepare_right(int pipeline, const PipelineTask& task) = 0;
    /// Returns when T and S may be overwritten.
    virtual void upload(int pipeline, const PipelineTask& task) = 0;
    virtual void solve(int pipeline, const PipelineTask& task) = 0;
    virtual void download(int pipeline, const PipelineTask& task) = 0;
    virtual void aggregate(int pipeline, const PipelineTask& task) = 0;
};

struct PipelineLayout {
    int devices = 1;
    int pipelines_per_device = 1;
    std::int64_t groups = 0;
    int steps = 1;

    int pipelines() const { return devices * pipelines_per_device; }
    int device_of(int pipeline) const { return pipeline % devices; }
};

/// Runs all tasks. The first exception of a stage, a cancelled token or a progress callback that throws ends the run:
/// every thread is joined, then that is thrown here. Progress is told from the calling thread. What a stage waits for
/// beside this, it waits for at monitors of `failure`.
void run_pipelines(const PipelineLayout& layout, PipelineStages& stages, StageFailure& failure, const RunHooks& hooks);

}  // namespace heptad
