#include "product/device/host_operands.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/complex_as_real.hpp"
#include "base/error.hpp"
#include "base/size.hpp"
#include "base/types.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "move/stages.hpp"
#include "move/transfer_streams.hpp"
#include "plan/search/planner.hpp"
#include "plan/search/transfer_plan.hpp"
#include "product/device/dense_blocks.hpp"
#include "product/device/device_mirror.hpp"
#include "product/device/device_product.hpp"
#include "product/device/host_operand_plan.hpp"
#include "product/device/kept_operands.hpp"
#include "product/device/over_devices.hpp"
#include "product/device/step_timers.hpp"
#include "run/dense/evenness.hpp"

namespace heptad {
namespace {

/// Fewer bytes are moved before buffers with locked pages would be there.
constexpr std::int64_t kWorthStaging_bytes = std::int64_t{512} << 20;

/// c = factor * a * b + beta * c, where the caller's alpha is part of it.
using StepProduct = std::function<RunReport(double factor, const ConstView& a, const ConstView& b, Factor beta,
                                            const View& c, const ProductContext& where)>;

/// A sum of blocks on the device, for one step at a time.
class SumBuffer {
public:
    SumBuffer(std::int64_t cols, std::int64_t bytes, Type type, const cuda::Stream& stream)
        : memory_(stream.device(), bytes, stream.handle()),
          type_(type),
          stride_(sum_row_stride(cols, static_cast<std::int64_t>(element_bytes(type)))) {}
    View view(std::int64_t rows, std::int64_t cols) const { return {memory_.data(), type_, rows, cols, stride_, 1}; }

private:
    cuda::DeviceMemory memory_;
    Type type_;
    std::int64_t stride_;
};

/// A or B have a NaN, an infinity, values so large that sums of blocks could overflow, or uneven rows or columns.
struct UnsafeSums {};

/// One thread brings, the caller's multiplies, one fetches. The host's part of that is launches and copies into
/// buffers; what waits for what on the device is said by events.
class TransferRun {
public:
    TransferRun(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                const TransferSchedule& schedule, int device, const ProductContext& context, const StepProduct& product,
                bool keeps_digits)
        : alpha_(alpha),
          beta_(beta),
          size_{c.rows, a.cols, c.cols},
          schedule_(schedule),
          steps_(schedule.steps),
          context_(context),
          product_(product),
          stages_(host_bytes(a) + host_bytes(b) + host_bytes(c) >= kWorthStaging_bytes),
          device_(device),
          streams_(device),
          there_(streams_.there(), stages_ ? &streams_.staging_there() : nullptr),
          back_(streams_.back(), stages_ ? &streams_.staging_back() : nullptr),
          compute_(streams_.compute()),
          a_("A", a, there_.stream),
          b_("B", b, there_.stream),
          c_("C", c, there_.stream),
          sums_(sum_buffers(schedule, element_size(a), element_size(c))),
          sum_a_(sums_.left.k, sums_.left_bytes, a.type, there_.stream),
          sum_b_(sums_.right.n, sums_.right_bytes, b.type, there_.stream),
          product_of_sums_(sums_.result.n, sums_.result_bytes, c.type, there_.stream),
          kept_(may_keep(c, context) ? kept_residues(size_, schedule) : NothingKept{}, there_.stream, compute_),
          keeps_digits_(keeps_digits),
          timers_(context.trace, steps_.size(), there_.stream) {
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const auto& [rows, depth, cols] = steps_[i].size;
            const double work = static_cast<double>(rows) * static_cast<double>(depth) * static_cast<double>(cols);
            done_before_.push_back(done_before_.back() + std::max(work, 1.0));
            arrived_.push_back(std::make_unique<cuda::Event>(device));
            made_.push_back(std::make_unique<cuda::Event>(device));
        }
    }

    RunReport run() {
        const WaitAtEnd wait{&there_.stream, &compute_, &back_.stream};
        try {
            if (steps_.size() == 1) {
                bring(0);
                multiply(0);
                fetch(0);
            } else {
                run_overlapped();
            }
        } catch (const UnsafeSums&) {  // all of A and B is there, and nothing of C was fetched yet
            report_ = product_(1, a_.on_device(whole(size_.m, size_.k)), b_.on_device(whole(size_.k, size_.n)), beta_,
                               c_.on_device(whole(size_.m, size_.n)),
                               here(static_cast<std::size_t>(multiplied_.done()), steps_.size()));
            report_.fell_back = true;
            made_[0]->record(compute_);
            made_[0]->hold_back(back_.stream);
            back_.fetch(c_, whole(size_.m, size_.n));
        }
        back_.stream.synchronize();
        compute_.synchronize();
        if (!report_.fell_back) {  // by another way than the steps
            timers_.tell();
        }
        report_.workspace_used_bytes += sums_.bytes() + kept_.bytes();
        cuda::GuardVerdict verdict;
        with_backend(compute_, [&](cuda::CudaBackend& backend) { verdict = backend.take_verdict(); });
        report_.fell_back = report_.fell_back || verdict.fell_back;
        report_.uneven = is_uneven_ || verdict.uneven;
        report_.scaled = verdict.scaled;
        report_.short_numbers = report_.fell_back && is_too_short_;
        return report_;
    }

private:
    static std::int64_t element_size(const ConstView& view) {
        return static_cast<std::int64_t>(element_bytes(view.type));
    }
    static std::int64_t host_bytes(const ConstView& view) {
        return checked_mul(checked_mul(view.rows, view.cols), element_size(view));
    }
    /// Where C is by columns, residues of B would come first.
    static bool may_keep(const View& c, const ProductContext& context) {
        return context.workspace_bytes < 0 && is_row_contiguous(c);
    }
    using NothingKept = std::array<KeptResidues, 2>;
    static MatrixWindow whole(std::int64_t rows, std::int64_t cols) { return {0, rows, 0, cols}; }
    bool sums_blocks() const { return !schedule_.algorithm.empty(); }

    void run_overlapped() {
        const auto steps = static_cast<std::int64_t>(steps_.size());
        Stages stages(failure_);
        stages.start([&] {
            const cuda::DeviceScope scope(device_);
            for (std::int64_t i = 0; i < steps; ++i) {
                bring(static_cast<std::size_t>(i));
                brought_.add();
            }
            judge();
            judged_.add();
        });
        stages.start([&] {
            const cuda::DeviceScope scope(device_);
            if (sums_blocks()) {
                judged_.wait_for(1);  // nothing of C goes home before
            }
            for (std::int64_t i = 0; i < steps; ++i) {
                multiplied_.wait_for(i + 1);
                fetch(static_cast<std::size_t>(i));
            }
        });
        stages.run_here_and_finish([&] {
            for (std::int64_t i = 0; i < steps; ++i) {
                brought_.wait_for(i + 1);
                multiply(static_cast<std::size_t>(i));
                multiplied_.add();
            }
        });
    }

    void bring(std::size_t i) {
        timers_.time(Stage::upload, i, there_.stream, [&] { bring_operands(steps_[i]); });
        arrived_[i]->record(there_.stream);
    }

    void bring_operands(const TransferStep& step) {
        for (const MatrixWindow& window : step.brings_b) {
            there_.bring(b_, window);
        }
        for (const MatrixWindow& window : step.brings_a) {
            there_.bring(a_, window);
        }
        for (const ResultTerm<MatrixWindow>& result : step.result) {
            if (beta_ != 0.0 && result.first()) {
                there_.bring(c_, result.block);
            }
        }
    }

    /// For steps [first, last) of all.
    ProductContext here(std::size_t first, std::size_t last) const {
        ProductContext context = context_;
        context.stream = compute_.handle();
        if (context_.hooks.progress) {
            context.hooks.progress = [this, first, last](const Progress& part) {
                const double done = done_before_[first] + (done_before_[last] - done_before_[first]) * part.fraction;
                context_.hooks.progress({done / done_before_.back(), part.stage});
            };
        }
        return context;
    }

    /// The operand of a step: a part of the matrix, or a sum of several in a buffer that may have it already.
    ConstView operand(const DeviceMirror& matrix, const std::vector<Term<MatrixWindow>>& terms, bool lies_there,
                      const View& buffer, bool has_it) {
        if (lies_there) {
            return conjugated(matrix.on_device(terms[0].block), matrix.host().conjugate);
        }
        if (has_it) {
            return buffer;
        }
        std::vector<BlockPart> parts;
        for (const Term<MatrixWindow>& term : terms) {
            parts.push_back({matrix.on_device(term.block), term.coefficient});
        }
        with_backend(compute_, [&](cuda::CudaBackend& backend) { sum_parts(backend, parts, buffer); });
        return buffer;
    }

    void multiply(std::size_t i) {
        arrived_[i]->hold_back(compute_);
        timers_.time(Stage::multiply, i, compute_, [&] { multiply_arrived(i); });
        made_[i]->record(compute_);
    }

    void multiply_arrived(std::size_t i) {
        const TransferStep& step = steps_[i];
        const auto& [m, k, n] = step.size;
        kept_.begin(step);
        const ConstView left = operand(a_, step.left, step.left_lies_there(), sum_a_.view(m, k), false);
        const ConstView right =
            operand(b_, step.right, step.right_lies_there(), sum_b_.view(k, n), step.keeps_right_sum);
        const auto add = [&](double factor, Factor beta, const View& to) {
            const RunReport part = product_(factor, left, right, beta, to, here(i, i + 1));
            report_.workspace_used_bytes = std::max(report_.workspace_used_bytes, part.workspace_used_bytes);
        };
        if (step.result_lies_there()) {
            const ResultTerm<MatrixWindow>& result = step.result[0];
            add(result.coefficient, result.first() ? beta_ : 1, c_.on_device(result.block));
        } else {
            const View q = product_of_sums_.view(m, n);
            add(1, 0, q);
            std::vector<PartUpdate> updates;
            for (const ResultTerm<MatrixWindow>& result : step.result) {
                updates.push_back({c_.on_device(result.block), result.coefficient, result.first() ? 0.0 : 1.0});
            }
            with_backend(compute_, [&](cuda::CudaBackend& backend) { update_parts(backend, updates, q); });
        }
        for (const TransferSpread& spread : step.spreads) {
            std::vector<PartUpdate> updates;
            for (const ResultTerm<MatrixWindow>& result : spread.to) {
                updates.push_back({c_.on_device(result.block), result.coefficient, 0});
            }
            with_backend(compute_, [&](cuda::CudaBackend& backend) {
                update_parts(backend, updates, c_.on_device(spread.from));
            });
        }
    }

    /// Looks at A and B where they have arrived, beside the products.
    void judge() {
        if (sums_blocks() && unit_roundoff(a_.type()) != 0) {
            const LayerGrowth growth = layer_growth(algorithm_layer(schedule_.algorithm, 1, a_.type()));
            ScanResult of_a, of_b;
            with_backend(there_.stream, [&](cuda::CudaBackend& backend) {
                of_a = backend.scan(a_.on_device(whole(size_.m, size_.k)));
                of_b = backend.scan(b_.on_device(whole(size_.k, size_.n)));
                const std::vector<LevelPlan> level{{schedule_.algorithm, LevelMode::serial, ""}};
                const Evenness even = judge_evenness(backend, a_.host(), of_a, b_.host(), of_b,
                                                     keeps_digits_ ? level : std::vector<LevelPlan>{}, false);
                is_uneven_ = even.value < least_evenness_of(level);
                is_too_short_ = !is_uneven_ && only_levels_round(even, size_.k, level);
            });
            if (((is_uneven_ || is_too_short_) && keeps_digits_) ||
                !layer_sums_are_safe(growth, a_.type(), size_.k, std::abs(alpha_), 0,
                                     {of_a.max_abs, of_b.max_abs, 0})) {
                throw UnsafeSums{};
            }
        }
    }

    void fetch(std::size_t i) {
        const auto fetch_complete = [&](const std::vector<ResultTerm<MatrixWindow>>& results) {
            for (const ResultTerm<MatrixWindow>& result : results) {
                if (result.last) {
                    back_.fetch(c_, result.block);
                }
            }
        };
        made_[i]->hold_back(back_.stream);
        timers_.time(Stage::download, i, back_.stream, [&] {
            fetch_complete(steps_[i].result);
            for (const TransferSpread& spread : steps_[i].spreads) {
                fetch_complete(spread.to);
            }
        });
    }

    Factor alpha_, beta_;
    ProblemSize size_;
    const TransferSchedule& schedule_;
    const std::vector<TransferStep>& steps_;
    const ProductContext& context_;
    const StepProduct& product_;
    bool stages_;
    int device_;
    TransferStreams streams_;  // before the memory, which is given back in the order of a stream
    CopyChannel there_, back_;
    const cuda::Stream& compute_;
    DeviceMirror a_, b_, c_;
    SumBuffers sums_;
    SumBuffer sum_a_, sum_b_, product_of_sums_;
    KeptOperands kept_;
    std::vector<double> done_before_{0};  // multiplications before each step, and in all
    std::vector<std::unique_ptr<cuda::Event>> arrived_, made_;
    StageFailure failure_;
    StepCount brought_{failure_}, judged_{failure_}, multiplied_{failure_};
    bool keeps_digits_;  // uneven operands have no sums of blocks
    StepTimers timers_;
    std::atomic<bool> is_uneven_{false}, is_too_short_{false};
    RunReport report_;
};

/// Nothing where the device has no room for the matrices and the sums of the schedule: then C is as it was.
std::optional<RunReport> try_transfers(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                                       const TransferSchedule& schedule, int device, const ProductContext& context,
                                       const StepProduct& product, bool keeps_digits = false) {
    const cuda::DeviceScope scope(device);
    std::optional<TransferRun> run;
    try {
        run.emplace(alpha, a, b, beta, c, schedule, device, context, product, keeps_digits);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::resource) {
            throw;
        }
        return std::nullopt;
    }
    return run->run();
}

std::optional<RunReport> try_schedule(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                                      const TransferSchedule& schedule, const Options& options, int device,
                                      const ProductContext& context) {
    Options of_steps = options;
    of_steps.overwrite_inputs = options.overwrite_inputs && schedule.steps.size() == 1;  // else they serve again
    return try_transfers(
        alpha, a, b, beta, c, schedule, device, context,
        [&](double factor, const ConstView& pa, const ConstView& pb, Factor scale, const View& pc,
            const ProductContext& where) {
            return multiply_on_device(factor * alpha, pa, pb, scale, pc, of_steps, where);
        },
        options.accuracy == Accuracy::balanced);
}

[[noreturn]] void fail_without_room(const ProblemSize& size, int device) {
    fail(ErrorCode::resource,
         "cuda:{} has {} bytes free, too few for the matrices of a product of {} x {} x {}; leave the plan out, so "
         "that the product is cut up, or wait until more is free",
         device, cuda::free_bytes(device), size.m, size.k, size.n);
}

}  // namespace

RunReport multiply_host_operands(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                                 const TransferSchedule& schedule, const Options& options, int device,
                                 const ProductContext& context) {
    if (const auto report = try_schedule(alpha, a, b, beta, c, schedule, options, device, context)) {
        return *report;
    }
    // What was free when it was planned is free no more: all at once takes no sums, and parts take less again.
    const ProblemSize size{c.rows, a.cols, c.cols};
    if (schedule.steps.size() > 1) {
        const auto report = try_schedule(alpha, a, b, beta, c, undivided_transfers(size), options, device, context);
        if (report) {
            return *report;
        }
    }
    if (context.workspace_bytes >= 0) {
        fail_without_room(size, device);
    }
    ProductContext in_parts = context;
    in_parts.stream = nullptr;  // every device has streams of its own there
    return multiply_over_devices(alpha, a, b, beta, c, options, in_parts);
}

RunReport multiply_host_operands(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                                 const Options& options, int device, const ProductContext& context) {
    if (c.rows == 0 || c.cols == 0) {
        return {};
    }
    if (!stored_by_rows("C", c)) {  // parts of rows are contiguous in the transposed product
        return multiply_host_operands(alpha, turned(b), turned(a), beta, transposed(c), options, device, context);
    }
    const TransferDecision made =
        plan_host_operands({c.rows, a.cols, c.cols}, a.type, c.type, beta != 0.0, options, context);
    return multiply_host_operands(alpha, a, b, beta, c, made.schedule, made.options, device, context);
}

RunReport multiply_host_operands(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                                 const ProductPlan& plan, int device, const ProductContext& context) {
    if (c.rows == 0 || c.cols == 0) {
        return {};
    }
    const ProblemSize size{c.rows, a.cols, c.cols};
    const auto report = try_transfers(
        alpha, a, b, beta, c, schedule_of(plan), device, context,
        [&](double factor, const ConstView& pa, const ConstView& pb, Factor scale, const View& pc,
            const ProductContext& where) {
            const ProductPlan part = plan.transfers ? step_plan(plan, {pc.rows, pa.cols, pc.cols}, scale != 0.0) : plan;
            return multiply_on_device(factor * alpha, pa, pb, scale, pc, part, device, where);
        },
        plan.least_evenness > 0);
    if (!report) {
        fail_without_room(size, device);
    }
    return *report;
}

}  // namespace heptad
