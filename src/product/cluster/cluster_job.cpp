#include "product/cluster/cluster_job.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>

#include "base/fail_if.hpp"
#include "base/free_memory.hpp"
#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "base/timing.hpp"
#include "kernels/cuda/device/device.hpp"
#include "plan/model/operation_count.hpp"
#include "plan/search/cluster_caps.hpp"
#include "product/cluster/cluster_check.hpp"
#include "product/cluster/job_parts.hpp"
#include "product/cluster/job_record.hpp"
#include "product/cluster/same_files.hpp"
#include "product/device/device_product.hpp"
#include "product/file/product_inputs.hpp"

namespace heptad {
namespace {

/// A rank that is bound to some cores has those; otherwise the ranks of a machine share all of them.
int share_of_cores(const Communicator& ranks) {
    if (const int told = threads_by_environment(); told > 0) {
        return told;
    }
    const int cores = available_cores();
    const bool bound = cores < static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    return std::max(1, bound ? cores : cores / ranks.local_size());
}

/// Inside a rank.
ProblemSize largest_product(const ProductPlan& plan) {
    if (plan.rank->algorithm == ClusterAlgorithm::caps) {
        const CapsShape shape = caps_shape(plan);
        return {shape.block_m, shape.block_k, shape.block_n};
    }
    if (plan.rank->algorithm == ClusterAlgorithm::grid) {
        return {ceil_div(plan.m, plan.rank->grid.pm), ceil_div(ceil_div(plan.k, plan.rank->grid.pk), plan.rank->panels),
                ceil_div(plan.n, plan.rank->grid.pn)};
    }
    return {plan.rank->block.x, plan.rank->block.y, plan.rank->block.z};
}

/// Of A, B and C, that a rank has in memory at a time.
std::int64_t held_in_memory_bytes(const ProductPlan& plan) {
    const auto [m, k, n] = largest_product(plan);
    std::int64_t held = 0;
    if (plan.rank->algorithm == ClusterAlgorithm::caps) {
        held = 2 * (m * k + k * n + m * n);
    } else if (plan.rank->algorithm == ClusterAlgorithm::grid) {
        held = m * n + std::min(plan.rank->panels, kPanelsInMemory) * k * (m + n) +
               (plan.rank->grid.pk > 1 ? ceil_div(m, plan.rank->grid.pk) * n : 0);
    } else {
        const std::int64_t rows =
            plan.rank->algorithm == ClusterAlgorithm::mod_pegmm ? ceil_div(plan.m, plan.rank->ranks) : m;
        held = kBlocksInFlight * k * (m + n) + 3 * rows * n;
    }
    return held * static_cast<std::int64_t>(element_bytes(plan.type));
}

class JobRun {
public:
    JobRun(const ClusterJob& job, Communicator& ranks, const ClusterHooks& hooks)
        : job_(job),
          ranks_(ranks),
          fraction_done_(hooks.fraction_done),
          trace_(job.keep_intervals),
          failure_(hooks.give_up),
          node_(job.node),
          has_files_(!job.distribution.scatter || ranks.rank() == 0),
          parts_(job, ranks, outcome_, inputs_, identities_, trace_, failure_) {
        node_.products = &outcome_.own.products;
        node_.refusal = &refusal_;
        if (node_.threads == 0) {
            node_.threads = share_of_cores(ranks);
        }
        ranks_.set_lookout([this] { failure_.go_on(); });
    }
    ~JobRun() { ranks_.set_lookout({}); }
    JobRun(const JobRun&) = delete;
    JobRun& operator=(const JobRun&) = delete;

    ClusterOutcome run() {
        const auto with_way_out = [&](const Error& error) {
            return error.what() +
                   std::string(parts_.keeps_leftovers() ? "; what is finished is kept: go on with --resume" : "");
        };
        try {
            return run_steps();
        } catch (const AgreedError& error) {
            throw AgreedError(error.code(), with_way_out(error));
        } catch (const Error& error) {
            throw Error(error.code(), with_way_out(error));
        }
    }

private:
    ClusterOutcome run_steps() {
        const Clock::time_point start = Clock::now();
        ranks_.agree([&] {
            check_request(job_);
            take_device();
        });
        open_inputs();
        decide();
        parts_.make_result(record_.lines());
        time_step("distribute", outcome_.distribute_s, [&] { parts_.distribute(); });
        outcome_.own.distributed_bytes = ranks_.received_bytes();
        parts_.find_finished();
        time_step("multiply", outcome_.multiply_s, [&] { multiply(); });
        parts_.agree_or_discard([&] {
            if (refusal_.happened) {
                std::rethrow_exception(refusal_.why);
            }
        });
        outcome_.own.received_bytes = ranks_.received_bytes() - outcome_.own.distributed_bytes;
        if (job_.verify) {
            time_step("verify", outcome_.verify_s, [&] { verify(); });
        }
        time_step("collect", outcome_.collect_s, [&] { parts_.finish(); });
        outcome_.total_s = seconds_since(start);
        outcome_.own.device = node_.options.device;
        outcome_.own.stage_s = trace_.seconds();
        outcome_.own.intervals = trace_.intervals();
        return std::move(outcome_);
    }

    bool is_root() const { return ranks_.rank() == 0; }

    template <class Step>
    void time_step(const char* name, double& seconds, Step&& step) {
        trace_.begin_step(name);
        const Clock::time_point begin = Clock::now();
        step();
        ranks_.barrier();
        seconds = seconds_since(begin);
    }

    /// One device per rank, in turn.
    void take_device() {
        if (!is_device_product(node_.options.device)) {
            return;
        }
        const std::size_t devices = cuda::report().devices.size();
        if (devices > 0 && node_.options.device == "cuda") {
            node_.options.device = fmt::format("cuda:{}", static_cast<std::size_t>(ranks_.local_rank()) % devices);
        }
        cuda::require_device(cuda::device_index(node_.options.device));
    }

    void open_inputs() {
        memory_bytes_ = job_.memory_bytes.value_or(free_memory_bytes() / ranks_.local_size());
        ranks_.agree([&] {
            if (has_files_) {
                inputs_.emplace(job_, memory_bytes_);
                identities_ = inputs_->identities();
                memory_bytes_ -= inputs_->held_bytes;
            }
        });
        if (!job_.distribution.scatter) {
            require_same_inputs(*inputs_, identities_, ranks_);
        }
        outcome_.stored =
            type_from_name(ranks_.broadcast_text(is_root() ? std::string(type_name(inputs_->stored_type())) : ""));
    }

    /// The root decides for all, by its own speed and the least memory that any rank has; or as it did for the job that
    /// is resumed.
    void decide() {
        JobRecord record;
        record.memory_bytes = memory_bytes_;
        for (const std::string& bytes : ranks_.gather_texts(std::to_string(memory_bytes_))) {
            record.memory_bytes = std::min<std::int64_t>(record.memory_bytes, std::stoll(bytes));
        }
        ranks_.agree([&] {
            if (job_.resume) {
                parts_.before = read_rank_journal(parts_.journal_path());
            }
            if (is_root()) {
                outcome_.rates.network_bytes_per_s = job_.network_bytes_per_s;
                outcome_.rates.operations_per_s = predicted_rate(inputs_->size(), inputs_->type());
                if (parts_.before) {
                    decide_as_before(record);
                } else {
                    decide_anew(record);
                }
                record.facts = request_facts(job_);
                const std::vector<std::string> inputs = input_facts(outcome_.stored, identities_);
                record.facts.insert(record.facts.end(), inputs.begin(), inputs.end());
            }
        });
        record_ = parse_shared_text(ranks_.broadcast_text(is_root() ? shared_text(record) : ""));
        outcome_.plan = record_.plan;
        outcome_.predicted = forecast(outcome_.plan, outcome_.rates, job_.distribution);
        limit_workspace();
        check_distance_ = distance_to_checked(ranks_.gather_texts(ranks_.host()));
        ranks_.agree([&] {
            require_memory_for_check();
            const ProductPlan typical = typical_product();
            promise(typical);
            record_.own = {fmt::format("threads {}", node_.threads), product_fact(typical)};
            if (parts_.before && is_root()) {
                require_same_job(parts_.before->job, record_.lines(), parts_.journal_path());
            }
        });
        multiply_as_told();
        parts_.resumes = ranks_.broadcast_text(parts_.before ? "yes" : "no") == "yes";
        if (parts_.before && parts_.before->job != record_.lines()) {
            parts_.before.reset();  // this rank's leftovers are of another job, or of other hands
        }
    }

    /// Only who has the files can read operands, and parts of C in files of their own are read where they are.
    CheckReaders check_readers() const {
        return {check_distance_, job_.distribution.scatter, job_.distribution.scatter || job_.keep_parts};
    }

    void require_memory_for_check() const {
        const CheckedWindows windows = checked_windows(outcome_.plan, ranks_.rank(), check_readers());
        const std::int64_t needed_bytes = job_.verify ? check_bytes(outcome_.plan, windows, job_.node.beta != 0.0) : 0;
        fail_if(needed_bytes > record_.memory_bytes, ErrorCode::resource,
                "--verify keeps sums for all rows of the matrices on every rank, {} bytes with a part of a matrix, "
                "and a rank has {}; give a larger --memory, or leave out --verify",
                needed_bytes, record_.memory_bytes);
    }

    void decide_as_before(JobRecord& record) const {
        const JobRecord before = record_of_lines(parts_.before->job, parts_.journal_path());
        fail_if(before.plan.rank->ranks != ranks_.size(), ErrorCode::usage,
                "'{}' comes from a job with {} ranks, and this one has {}; start as many, or leave "
                "out --resume to start over",
                parts_.journal_path(), before.plan.rank->ranks, ranks_.size());
        record.plan = before.plan;
        record.memory_bytes = before.memory_bytes;
    }

    void decide_anew(JobRecord& record) const {
        if (job_.resume && !job_.c0.empty()) {
            refuse_to_add_again(job_.c0, job_.output, job_.output);
        }
        ClusterRequest request = job_.request;
        request.memory_bytes = record.memory_bytes;
        const ProblemSize size = inputs_->size();
        if (size.m == 0 || size.k == 0 || size.n == 0) {  // there are no blocks to pass around
            request = {};
        }
        request.whole_k = takes_whole_k(node_.options.accuracy, inputs_->type());
        record.plan = make_cluster_plan(size, inputs_->type(), ranks_.size(), request, outcome_.rates);
    }

    /// How this rank multiplies the largest pieces: another plan would make other bits.
    ProductPlan typical_product() const {
        Options options = node_.options;
        options.accumulate = true;
        return plan_where_asked(largest_product(outcome_.plan), outcome_.plan.type, options,
                                {.threads = node_.threads});
    }

    double predicted_rate(const ProblemSize& size, Type type) const {
        const ProductPlan share = plan_of_share(size, type, ranks_.size(), node_.options, {.threads = node_.threads});
        return operation_count({share.m, share.k, share.n}, type) / std::max(share.predicted_s, 1e-9);
    }

    /// What is told of the largest blocks. Ranks multiply 16-bit floats as f32.
    void promise(const ProductPlan& typical) {
        const ProductPlan& plan = outcome_.plan;
        outcome_.error = stored_as(outcome_.stored, plan, promised_error(plan, typical, node_.options.accuracy));
    }
    /// The root tells the bound, and its largest block may have no room for levels where blocks of others have.
    void multiply_as_told() {
        const bool by_definition = is_root() && outcome_.error.over == BoundOver::entries;
        node_.by_definition = ranks_.broadcast_text(by_definition ? "yes" : "no") == "yes";
    }

    /// What the products inside the rank may use beside its parts of the matrices.
    void limit_workspace() {
        node_.options.workspace_limit_bytes =
            std::min(node_.options.workspace_limit_bytes,
                     std::max<std::int64_t>(0, record_.memory_bytes - held_in_memory_bytes(outcome_.plan)));
    }

    CheckWork check_work(const std::optional<WindowWriter>& one_file) {
        const WindowWriter* const result = one_file ? &*one_file : parts_.result();
        return {outcome_.plan,
                ranks_,
                checked_windows(outcome_.plan, ranks_.rank(), check_readers()),
                inputs_ ? &inputs_->a : nullptr,
                inputs_ ? &inputs_->b : nullptr,
                inputs_ && inputs_->c0 ? &*inputs_->c0 : nullptr,
                result,
                outcome_.stored,
                node_,
                trace_};
    }

    void verify() {
        std::optional<WindowWriter> one_file;  // opened anew: other nodes' files are seen as they are when opened
        if (parts_.is_one_file()) {
            ranks_.agree([&] {
                if (parts_.result() != nullptr) {
                    parts_.result()->sync();
                }
            });
            ranks_.agree([&] {
                one_file.emplace(WindowWriter::open(
                    job_.output, {{0, 0, outcome_.plan.m, outcome_.plan.n}, outcome_.stored, rounds_once(job_)}));
                one_file->keep();
            });
        }
        std::exception_ptr wrong;  // which the root alone knows
        try {
            outcome_.verified = check_result(check_work(one_file));
        } catch (const Error& error) {
            if (error.code() != ErrorCode::verification) {
                throw;
            }
            wrong = std::current_exception();
        }
        parts_.agree_or_discard([&] {
            if (wrong) {
                std::rethrow_exception(wrong);
            }
        });
    }

    /// Sums of blocks would spread a NaN; the classical algorithm does not.
    void leave_caps_where_sums_are_unsafe() {
        if (outcome_.plan.rank->algorithm != ClusterAlgorithm::caps) {
            return;
        }
        caps_ = judge_for_caps(rank_work());
        if (caps_) {
            return;
        }
        const ProblemSize size = problem_size(outcome_.plan);
        const Type type = outcome_.plan.type;
        ClusterRequest classical;
        classical.memory_bytes = record_.memory_bytes;
        // With the same rates on every rank all decide alike.
        outcome_.plan = make_cluster_plan(size, type, ranks_.size(), classical, ClusterRates{});
        promise(typical_product());
        multiply_as_told();
        outcome_.predicted = forecast(outcome_.plan, outcome_.rates, job_.distribution);
        outcome_.own.part = result_window(outcome_.plan, ranks_.rank());
        parts_.distribute();
    }

    RankWork rank_work() {
        return {outcome_.plan,    ranks_, parts_.a(), parts_.b(), inputs_ && inputs_->c0 ? &*inputs_->c0 : nullptr,
                parts_.result(),  node_,  trace_,     failure_,   fraction_done_,
                parts_.finished()};
    }

    void multiply() {
        leave_caps_where_sums_are_unsafe();
        const RankWork work = rank_work();
        switch (outcome_.plan.rank->algorithm) {
            case ClusterAlgorithm::caps:
                return multiply_by_caps(work, *caps_);
            case ClusterAlgorithm::pegmm:
                return multiply_pegmm(work);
            case ClusterAlgorithm::mod_pegmm:
                return multiply_mod_pegmm(work);
            default:
                return multiply_on_grid(work);
        }
    }

    const ClusterJob& job_;
    Communicator& ranks_;
    std::atomic<double>& fraction_done_;
    StageTrace trace_;
    StageFailure failure_;
    NodeSettings node_;
    const bool has_files_;
    std::int64_t memory_bytes_ = 0;    // this rank's, beside matrices that it holds whole
    std::int64_t check_distance_ = 0;  // see CheckReaders
    ClusterOutcome outcome_;
    Refusal refusal_;               // of this rank's products
    std::optional<Evenness> caps_;  // how A and B are scaled for it
    JobRecord record_;
    std::optional<JobInputs> inputs_;
    std::vector<FileIdentity> identities_;  // of the inputs when the job began
    JobParts parts_;
};

}  // namespace

ClusterOutcome run_cluster_job(const ClusterJob& job, Communicator& ranks, const ClusterHooks& hooks) {
    return JobRun(job, ranks, hooks).run();
}

}  // namespace heptad
