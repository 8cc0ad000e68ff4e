#include "plan/search/host_forecast.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/size.hpp"
#include "base/types.hpp"
#include "plan/predict/error_bound.hpp"

namespace heptad {
namespace {

/// What runs beside the stage that binds takes memory and power from it, a little: of cuts that are equal otherwise the
/// one with the fewest transfers wins.
constexpr double kShareOfWhatRunsBeside = 0.05;

struct BlockBytes {
    std::int64_t left, right, result;
};
BlockBytes bytes_of_blocks(const HostProblem& problem, const HostCut& cut) {
    return {padded_block_bytes(problem.type, problem.packed, cut.block_m, cut.block_k),
            padded_block_bytes(problem.type, problem.packed, cut.block_k, cut.block_n),
            padded_block_bytes(problem.result_type, problem.packed, cut.block_m, cut.block_n)};
}

double bound_of(const HostProblem& problem, const HostCut& cut, const CutShape& shape, double block_bound) {
    const double u = unit_roundoff(problem.type);
    if (u == 0) {
        return 0;
    }
    const double k = static_cast<double>(problem.size.k) * (is_complex(problem.type) ? 2 : 1);
    // Each step of a segment is one more sum of results; and Q is rounded before it is added to C.
    const double rest = k * u * (shape.steps - 1 + (problem.accumulate ? 1 : 0));
    const LayerGrowth& growth = shape.growth;
    return cut.levels == 0
               ? shape.steps * block_bound + rest
               : growth.growth * (block_bound + growth.roundings * u * static_cast<double>(cut.block_k)) + rest;
}

/// A block of A stays on a device for all segments of its row, if nothing takes its place in between.
std::int64_t uploads_of_left(const HostCut& cut, const CutShape& shape, int devices) {
    const std::int64_t all = shape.groups * shape.steps;
    return cut.levels == 0 && shape.steps == 1 ? std::min(all, std::int64_t{shape.grid.m} * devices) : all;
}

/// The blocks of B that the pipelines of a device had last are those that its next row of segments begins with. Which
/// of several devices gets there is not known.
std::int64_t uploads_of_right(const HostCut& cut, const CutShape& shape, int devices) {
    const std::int64_t all = shape.groups * shape.steps;
    return cut.levels == 0 && shape.steps == 1 && devices == 1
               ? all - (std::int64_t{shape.grid.m} - 1) * std::min(cut.pipelines, shape.grid.n)
               : all;
}

double measured_more(const std::vector<BitHostSample>& measured, int levels, int pipelines) {
    double of_all = 0, of_alike = 0;
    int alike = 0;
    for (const BitHostSample& sample : measured) {
        const double more_s = sample.seconds - sample.predicted_s;
        of_all += more_s;
        if (sample.host_levels == levels && sample.pipelines == pipelines) {
            of_alike += more_s;
            ++alike;
        }
    }
    if (alike > 0) {
        return of_alike / alike;
    }
    return measured.empty() ? 0 : of_all / static_cast<double>(measured.size());
}

}  // namespace

CutShape cut_shape(const HostCut& cut, const ProblemSize& size, Type type) {
    CutShape shape;
    if (cut.levels == 0) {
        const auto parts = [](std::int64_t side, std::int64_t block) {
            return static_cast<int>(std::max<std::int64_t>(1, ceil_div(side, block)));
        };
        shape.grid = {parts(size.m, cut.block_m), parts(size.k, cut.block_k), parts(size.n, cut.block_n)};
        shape.groups = checked_mul(shape.grid.m, shape.grid.n);
        shape.steps = shape.grid.k;
        shape.left_terms = shape.right_terms = checked_mul(shape.groups, shape.steps);
        shape.result_terms = shape.groups;
        return shape;
    }
    const HostLayer layer = algorithm_layer(cut.algorithm, cut.levels, type);
    shape.grid = layer.grid;
    shape.groups = layer.groups();
    for (const BlockProduct& instance : layer.instances) {
        shape.left_terms += static_cast<std::int64_t>(instance.left.size());
        shape.right_terms += static_cast<std::int64_t>(instance.right.size());
        shape.result_terms += static_cast<std::int64_t>(instance.result.size());
    }
    shape.growth = layer_growth(layer);
    return shape;
}

std::int64_t block_unit(bool packed) {
    return packed ? 64 : 8;  // words of bits, and rows that kernels like
}

ProblemSize block_of(const ProblemSize& size, const BlockGrid& grid, bool packed) {
    const auto side = [&](std::int64_t whole, int parts) {
        return round_up(std::max<std::int64_t>(1, ceil_div(whole, parts)), block_unit(packed));
    };
    return {side(size.m, grid.m), side(size.k, grid.k), side(size.n, grid.n)};
}

std::int64_t padded_block_bytes(Type type, bool packed, std::int64_t rows, std::int64_t cols) {
    if (packed) {
        return checked_mul(rows, round_up(ceil_div(cols, 8), 64));
    }
    const auto element = static_cast<std::int64_t>(element_bytes(type));
    return std::max(checked_mul(rows, round_up(checked_mul(cols, element), 64)),
                    checked_mul(cols, round_up(checked_mul(rows, element), 64)));
}

std::int64_t block_bytes_of_device(const HostProblem& problem, const HostCut& cut) {
    const BlockBytes block = bytes_of_blocks(problem, cut);
    return checked_mul(cut.pipelines, checked_add(checked_add(block.left, block.right), block.result));
}

std::int64_t host_buffer_bytes(const HostProblem& problem, const HostCut& cut, const DeviceFacts& devices) {
    const BlockBytes block = bytes_of_blocks(problem, cut);
    const std::int64_t of_device = !cut.in_place ? block_bytes_of_device(problem, cut)
                                   : std::max({block.left, block.right, block.result}) < devices.least_staged_bytes
                                       ? 0
                                       : checked_mul(cut.pipelines, devices.staging_bytes);
    const std::int64_t brought = brings_result(problem) ? checked_mul(cut.pipelines, block.result) : 0;
    return checked_add(problem.copied_bytes, checked_mul(devices.devices, checked_add(of_device, brought)));
}

bool lies_in_place(const HostProblem& problem, const HostCut& cut) {
    const ProblemSize& size = problem.size;
    return problem.packed && !problem.shifted && !problem.accumulate && cut.levels == 0 && size.m % cut.block_m == 0 &&
           size.k % cut.block_k == 0 && size.n % cut.block_n == 0;
}

double HostForecast::bound_s() const {
    return std::max({solve_s, upload_s, download_s, host_s});
}

const char* HostForecast::binds() const {
    const std::array<std::pair<double, const char*>, 4> stages{
        {{solve_s, "solve"}, {upload_s, "upload"}, {download_s, "download"}, {host_s, "host"}}};
    return std::ranges::max_element(stages, [](const auto& x, const auto& y) { return x.first < y.first; })->second;
}

HostForecast host_forecast(const HostProblem& problem, const HostCut& cut, const CutShape& shape,
                           const DeviceFacts& devices, const HostFacts& host, const ProductPlan& block) {
    const auto& [left, right, result] = bytes_of_blocks(problem, cut);
    HostForecast told{.devices = devices.devices,
                      .grid = shape.grid,
                      .steps = shape.steps,
                      .tasks = checked_mul(shape.groups, shape.steps),
                      .device_bytes = checked_add(block_bytes_of_device(problem, cut), cut.workspace_bytes),
                      .host_bytes = host_buffer_bytes(problem, cut, devices),
                      .error_bound = bound_of(problem, cut, shape, block.error_bound)};
    told.upload_bytes = checked_add(checked_mul(uploads_of_left(cut, shape, devices.devices), left),
                                    checked_mul(uploads_of_right(cut, shape, devices.devices), right));
    told.download_bytes = checked_mul(shape.groups, result);
    if (brings_result(problem)) {
        told.upload_bytes = checked_add(told.upload_bytes, told.download_bytes);
    }
    const std::int64_t turns = ceil_div(shape.groups, devices.devices);
    const double share = static_cast<double>(turns) / static_cast<double>(shape.groups);
    told.solve_s = static_cast<double>(turns * shape.steps) * (block.predicted_s + devices.task_s);
    told.upload_s = share * static_cast<double>(told.upload_bytes) / devices.upload_bytes_per_s;
    told.download_s = share * static_cast<double>(told.download_bytes) / devices.download_bytes_per_s;
    // Blocks that sums read, buffers that they write, and for each update of C two reads and a write.
    // Every pipeline makes its own, whatever another one has brought.
    const std::int64_t lefts_made =
        cut.levels == 0 && shape.steps == 1
            ? std::min(told.tasks, std::int64_t{shape.grid.m} * devices.devices * cut.pipelines)
            : told.tasks;
    const double host_bytes = static_cast<double>(shape.left_terms + lefts_made) * static_cast<double>(left) +
                              static_cast<double>(shape.right_terms + told.tasks) * static_cast<double>(right) +
                              static_cast<double>(shape.result_terms) *
                                  (cut.levels == 0 && !problem.accumulate ? 2 : 3) * static_cast<double>(result);
    // In place, transfers go through small buffers: what is moved is read and written once.
    const auto moved_bytes = static_cast<double>(told.upload_bytes + told.download_bytes);
    told.host_s = (cut.in_place ? 2 * moved_bytes : host_bytes) / host.sum_bytes_per_s;
    const double on_device = cut.pipelines > 1 ? std::max({told.solve_s, told.upload_s, told.download_s})
                                               : told.solve_s + told.upload_s + told.download_s;
    // The first operands are waited for, and the last result.
    const auto groups = static_cast<double>(shape.groups);
    double ends = (told.upload_s + told.download_s + told.host_s) / std::max(1.0, groups / devices.devices);
    if (cut.in_place) {  // one pipeline of every device brings a T and an S, and one puts a Q away, all at a time
        const double host_s_per_byte = 2.0 * devices.devices / host.sum_bytes_per_s;
        ends = static_cast<double>(left + right) * std::max(1 / devices.upload_bytes_per_s, host_s_per_byte) +
               static_cast<double>(result) * std::max(1 / devices.download_bytes_per_s, host_s_per_byte) +
               kShareOfWhatRunsBeside * (told.upload_s + told.download_s + told.host_s);
    }
    const double before = static_cast<double>(told.host_bytes) / devices.buffer_bytes_per_s;
    const double predicted_s = std::max(on_device, told.host_s) + ends + before;
    // A sample that was faster than predicted does not make a smaller product free.
    told.measured_more_s = std::max(measured_more(problem.measured, cut.levels, cut.pipelines), -predicted_s / 2);
    told.predicted_s = predicted_s + told.measured_more_s;
    return told;
}

}  // namespace heptad
