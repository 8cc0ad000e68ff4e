#include "product/cluster/cluster_job.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/free_memory.hpp"
#include "base/timing.hpp"
#include "io/output_lock.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/cluster/cluster_check.hpp"
#include "product/cluster/distribution.hpp"
#include "product/cluster/job_inputs.hpp"
#include "product/cluster/job_record.hpp"
#include "product/cluster/node_share.hpp"
#include "product/cluster/same_files.hpp"
#include "product/device/device_product.hpp"
#include "product/memory/product.hpp"

namespace heptad {
namespace {

bool is_same_file(const std::string& x, const std::string& y) {
    std::error_code ignored;
    return std::filesystem::equivalent(x, y, ignored);
}

std::string name_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
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
          has_files_(!job.distribution.scatter || ranks.rank() == 0) {
        if (node_.threads == 0) {
            node_.threads = share_of_cores(ranks);
        }
        ranks_.set_lookout([this] { failure_.go_on(); });
    }
    ~JobRun() {
        ranks_.set_lookout({});
        if (journal_ && !keeps_leftovers_ && !resumes_) {
            journal_->remove();
        }
    }
    JobRun(const JobRun&) = delete;
    JobRun& operator=(const JobRun&) = delete;

    ClusterOutcome run() {
        const auto with_way_out = [&](const Error& error) {
            return error.what() +
                   std::string(keeps_leftovers_ ? "; what is finished is kept: go on with --resume" : "");
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
        make_result();
        time_step("distribute", outcome_.distribute_s, [&] { distribute(); });
        outcome_.own.distributed_bytes = ranks_.received_bytes();
        find_finished();
        time_step("multiply", outcome_.multiply_s, [&] { multiply(); });
        outcome_.own.received_bytes = ranks_.received_bytes() - outcome_.own.distributed_bytes;
        if (job_.verify) {
            time_step("verify", outcome_.verify_s, [&] { verify(); });
        }
        time_step("collect", outcome_.collect_s, [&] { finish(); });
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

    /// Where this rank keeps what is its own: beside the result, or on its scratch.
    std::string part_base(int rank) const {
        const std::string base = job_.distribution.scatter ? job_.scratch + "/" + name_of(job_.output) : job_.output;
        return fmt::format("{}.part-{}", base, rank);
    }
    std::string part_base() const { return part_base(ranks_.rank()); }
    std::string journal_path() const { return part_base() + ".journal"; }

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
                before_ = read_rank_journal(journal_path());
            }
            if (is_root()) {
                outcome_.rates.network_bytes_per_s = job_.network_bytes_per_s;
                outcome_.rates.operations_per_s = predicted_rate(inputs_->size(), inputs_->type());
                if (before_) {
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
            record_.own = {fmt::format("threads {}", node_.threads), product_fact(typical_product())};
            if (before_ && is_root()) {
                require_same_job(before_->job, record_.lines(), journal_path());
            }
        });
        resumes_ = ranks_.broadcast_text(before_ ? "yes" : "no") == "yes";
        if (before_ && before_->job != record_.lines()) {
            before_.reset();  // this rank's leftovers are of another job, or of other hands
        }
    }

    /// Only who has the files can read operands, and parts of C in files of their own are read where they are.
    CheckReaders check_readers() const {
        return {check_distance_, job_.distribution.scatter, job_.distribution.scatter || job_.keep_parts};
    }

    void require_memory_for_check() const {
        const CheckedWindows windows = checked_windows(outcome_.plan, ranks_.rank(), check_readers());
        const std::int64_t needed_bytes = job_.verify ? check_bytes(outcome_.plan, windows, job_.node.beta != 0) : 0;
        if (needed_bytes > record_.memory_bytes) {
            fail(ErrorCode::resource,
                 "--verify keeps sums for all rows of the matrices on every rank, {} bytes with a part of a matrix, "
                 "and a rank has {}; give a larger --memory, or leave out --verify",
                 needed_bytes, record_.memory_bytes);
        }
    }

    void decide_as_before(JobRecord& record) const {
        const JobRecord before = record_of_lines(before_->job, journal_path());
        if (before.plan.ranks != ranks_.size()) {
            fail(ErrorCode::usage,
                 "'{}' is of a job with {} ranks and this one has {}; start as many, or leave out --resume to start "
                 "over",
                 journal_path(), before.plan.ranks, ranks_.size());
        }
        record.plan = before.plan;
        record.memory_bytes = before.memory_bytes;
    }

    void decide_anew(JobRecord& record) const {
        if (job_.resume && !job_.c0.empty() && is_same_file(job_.c0, job_.output)) {
            // A job that ended just after it gave the result its name leaves exactly this.
            fail(ErrorCode::input,
                 "there is nothing to resume for '{}', which may hold the sum already; look at it, and run without "
                 "--resume to add again",
                 job_.output);
        }
        ClusterRequest request = job_.request;
        request.memory_bytes = record.memory_bytes;
        const ProblemSize size = inputs_->size();
        if (size.m == 0 || size.k == 0 || size.n == 0) {  // there are no blocks to pass around
            request = {};
        }
        record.plan = make_cluster_plan(size, inputs_->type(), ranks_.size(), request, outcome_.rates);
    }

    ProductPlan plan_on_node(std::int64_t m, std::int64_t k, std::int64_t n, Type type, const Options& options) const {
        ProductContext context;
        context.threads = node_.threads;
        return is_device_product(options.device) ? plan_device_product(m, k, n, type, options, context)
                                                 : plan_product(m, k, n, type, options, context);
    }

    /// How this rank multiplies the largest pieces: another plan would make other bits.
    ProductPlan typical_product() const {
        const ProblemSize size = largest_product(outcome_.plan);
        Options options = node_.options;
        options.accumulate = true;
        return plan_on_node(size.m, size.k, size.n, outcome_.plan.type, options);
    }

    double predicted_rate(const ProblemSize& size, Type type) const {
        const double cut = std::cbrt(static_cast<double>(ranks_.size()));
        const auto part = [&](std::int64_t whole) {
            return std::max<std::int64_t>(1, std::llround(static_cast<double>(whole) / cut));
        };
        const std::int64_t m = part(size.m), k = part(size.k), n = part(size.n);
        const ProductPlan share = plan_on_node(m, k, n, type, node_.options);
        const double operations = 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
        return operations / std::max(share.predicted_s, 1e-9);
    }

    /// What the products inside the rank may use beside its parts of the matrices.
    void limit_workspace() {
        node_.options.workspace_limit_bytes =
            std::min(node_.options.workspace_limit_bytes,
                     std::max<std::int64_t>(0, record_.memory_bytes - held_in_memory_bytes(outcome_.plan)));
    }

    /// Do all ranks write their parts of C to the same file?
    bool is_one_file() const { return !job_.keep_parts && !job_.distribution.scatter; }
    bool has_own_file() const { return job_.keep_parts || (job_.distribution.scatter && !is_root()); }

    void make_result() {
        const ClusterPlan& plan = outcome_.plan;
        RankReport& own = outcome_.own;
        own.part = result_window(plan, ranks_.rank());
        const Window whole{0, 0, plan.m, plan.n};
        const bool has_part = plan.algorithm == ClusterAlgorithm::caps || own.part.elements() > 0;
        const bool needed = has_part || (is_root() && !job_.keep_parts);
        ranks_.agree([&] {
            if (has_own_file() && needed) {
                own.part_file = part_base() + ".npy";
                make_file(own.part_file, {own.part, outcome_.stored});
            } else if (is_root() && needed) {
                make_file(job_.output, {whole, outcome_.stored});
            }
            if (job_.distribution.scatter && is_root()) {  // its scratch; the others' has the lock of their part
                scratch_lock_.emplace(part_base(), IoWatch{});
            }
        });
        if (is_one_file()) {
            require_same_folder(job_.output, ranks_);
        }
        ranks_.agree([&] {
            if (!result_ && needed) {
                result_.emplace(WindowWriter::open(job_.output, {whole, outcome_.stored}));
                if (resumes_) {
                    result_->keep();
                }
            }
            if (plan.algorithm == ClusterAlgorithm::caps) {
                return;  // finishes all at once
            }
            if (before_) {
                journal_.emplace(journal_path(), *before_);
            } else {
                // Other ranks of an earlier job than these are known by nobody any more.
                for (int rank = ranks_.size(); is_root() && ::unlink((part_base(rank) + ".journal").c_str()) == 0;
                     ++rank) {
                }
                journal_.emplace(journal_path(), record_.lines());
            }
        });
    }

    /// A file that this rank begins, or goes on with where an earlier job has begun it.
    void make_file(const std::string& path, const WindowWriter::Shape& shape) {
        lock_.emplace(path, IoWatch{});
        if (before_ && WindowWriter::can_go_on(path, shape)) {
            result_.emplace(WindowWriter::open(path, shape));
            result_->keep();
        } else {
            result_.emplace(WindowWriter::create(path, shape));
        }
    }

    void distribute() {
        const ClusterPlan& plan = outcome_.plan;
        const HeldWindows held = held_windows(plan, ranks_.rank());
        if (!job_.distribution.scatter) {
            a_ = std::make_unique<FileSource>(inputs_->a, held.a);
            b_ = std::make_unique<FileSource>(inputs_->b, held.b);
            return;
        }
        if (!find_scratch(held)) {
            hand_out(held);
        }
        a_ = a_scratch_;
        b_ = b_scratch_;
    }

    void hand_out(const HeldWindows& held) {
        const ClusterPlan& plan = outcome_.plan;
        ranks_.agree([&] {
            a_scratch_ = std::make_shared<ScratchSource>(part_base() + "-a.scratch", held.a, plan.type);
            b_scratch_ = std::make_shared<ScratchSource>(part_base() + "-b.scratch", held.b, plan.type);
        });
        const std::uint64_t sum_a =
            scatter_windows({plan, ranks_, inputs_ ? &inputs_->a : nullptr, *a_scratch_, trace_, failure_},
                            [&](std::int64_t rank) { return held_windows(plan, rank).a; });
        const Distribution of_b{plan, ranks_, inputs_ ? &inputs_->b : nullptr, *b_scratch_, trace_, failure_};
        const std::uint64_t sum_b =
            plan.algorithm == ClusterAlgorithm::pegmm
                ? broadcast_windows(of_b, held.b, job_.distribution.broadcast)
                : scatter_windows(of_b, [&](std::int64_t rank) { return held_windows(plan, rank).b; });
        require_unchanged_inputs();
        journal_->add_held("a", sum_a);
        journal_->add_held("b", sum_b);
    }

    /// Goes on with what an earlier job handed out, if every rank still has it.
    bool find_scratch(const HeldWindows& held) {
        const auto find = [&](const char* operand, const std::vector<Window>& windows) {
            std::shared_ptr<ScratchSource> found =
                ScratchSource::reopen(fmt::format("{}-{}.scratch", part_base(), operand), windows, outcome_.plan.type);
            return found && before_->held.contains(operand) && found->sum() == before_->held.at(operand) ? found
                                                                                                         : nullptr;
        };
        if (before_) {
            trace_.time(Stage::disk_read, [&] {
                a_scratch_ = find("a", held.a);
                b_scratch_ = find("b", held.b);
            });
        }
        const std::vector<std::string> have = ranks_.gather_texts(a_scratch_ && b_scratch_ ? "yes" : "no");
        return std::find(have.begin(), have.end(), "no") == have.end();
    }

    /// What an earlier job has left is known to every rank; from now on, what this one leaves is worth keeping.
    void find_finished() {
        if (!journal_) {
            return;
        }
        const std::vector<Window> units = result_units(outcome_.plan, ranks_.rank());
        std::string own(units.size(), '0');
        trace_.time(Stage::disk_read, [&] {
            for (const auto& [index, sum] : before_ ? before_->units : std::map<std::int64_t, std::uint64_t>{}) {
                if (index >= 0 && index < static_cast<std::int64_t>(units.size())) {
                    const Window& window = units[static_cast<std::size_t>(index)];
                    Matrix elements(outcome_.plan.type, window.rows, window.cols);
                    result_->read(window, elements.data());
                    own[static_cast<std::size_t>(index)] =
                        checksum(elements.data(), elements.size_bytes()) == sum ? '1' : '0';
                }
            }
        });
        std::vector<std::vector<bool>> finished;
        for (const std::string& rank : ranks_.gather_texts(own)) {
            finished.emplace_back();
            for (const char unit : rank) {
                finished.back().push_back(unit == '1');
            }
        }
        outcome_.own.units = static_cast<std::int64_t>(units.size());
        outcome_.own.resumed_units = std::count(own.begin(), own.end(), '1');
        finished_ = FinishedUnits(std::move(finished), *journal_);
        keep_leftovers();
    }

    void keep_leftovers() {
        keeps_leftovers_ = true;
        if (result_) {
            result_->keep();
        }
        for (ScratchSource* scratch : {a_scratch_.get(), b_scratch_.get()}) {
            if (scratch != nullptr) {
                scratch->keep();
            }
        }
    }
    /// After a success, or where they are wrong. Not the result itself.
    void remove_leftovers() {
        keeps_leftovers_ = false;
        for (ScratchSource* scratch : {a_scratch_.get(), b_scratch_.get()}) {
            if (scratch != nullptr) {
                scratch->remove();
            }
        }
        if (journal_) {
            journal_->remove();
        }
    }

    CheckWork check_work(const std::optional<WindowWriter>& one_file) {
        const WindowWriter* const result = one_file ? &*one_file : result_ ? &*result_ : nullptr;
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
        if (is_one_file()) {
            ranks_.agree([&] {
                if (result_) {
                    result_->sync();
                }
            });
            ranks_.agree([&] {
                one_file.emplace(
                    WindowWriter::open(job_.output, {{0, 0, outcome_.plan.m, outcome_.plan.n}, outcome_.stored}));
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
        agree_or_discard([&] {
            if (wrong) {
                std::rethrow_exception(wrong);
            }
        });
    }

    /// By all ranks: where the step fails, what was computed is worth nothing, and nothing of it stays.
    template <class Step>
    void agree_or_discard(Step&& step) {
        try {
            ranks_.agree(step);
        } catch (const AgreedError& error) {
            if (result_) {
                result_->remove();
            }
            remove_leftovers();
            throw AgreedError(error.code(), fmt::format("{}; {} was not written", error.what(), job_.output));
        }
    }

    /// After the last reading: parts of the product would be of the one file, others of the other.
    void require_unchanged_inputs() {
        agree_or_discard([&] {
            if (inputs_ && inputs_->identities() != identities_) {
                fail(ErrorCode::input,
                     "the matrices were changed while they were multiplied; start again when they stay as they are");
            }
        });
    }

    /// Sums of blocks would spread a NaN; the classical algorithm does not.
    void leave_caps_where_sums_are_unsafe() {
        if (outcome_.plan.algorithm != ClusterAlgorithm::caps || may_sum_for_caps(rank_work())) {
            return;
        }
        const ProblemSize size = problem_size(outcome_.plan);
        const Type type = outcome_.plan.type;
        ClusterRequest classical;
        classical.memory_bytes = record_.memory_bytes;
        // With the same rates on every rank all decide alike.
        outcome_.plan = make_cluster_plan(size, type, ranks_.size(), classical, ClusterRates{});
        outcome_.predicted = forecast(outcome_.plan, outcome_.rates, job_.distribution);
        outcome_.own.part = result_window(outcome_.plan, ranks_.rank());
        distribute();
    }

    RankWork rank_work() {
        return {outcome_.plan,
                ranks_,
                *a_,
                *b_,
                inputs_ && inputs_->c0 ? &*inputs_->c0 : nullptr,
                result_ ? &*result_ : nullptr,
                node_,
                trace_,
                failure_,
                fraction_done_,
                finished_};
    }

    void multiply() {
        leave_caps_where_sums_are_unsafe();
        const RankWork work = rank_work();
        switch (outcome_.plan.algorithm) {
            case ClusterAlgorithm::caps:
                return multiply_by_caps(work);
            case ClusterAlgorithm::pegmm:
                return multiply_pegmm(work);
            case ClusterAlgorithm::mod_pegmm:
                return multiply_mod_pegmm(work);
            default:
                return multiply_on_grid(work);
        }
    }

    /// One complete file, or every rank's own; under their names when all are synced.
    void finish() {
        const bool collects = job_.distribution.scatter && !job_.keep_parts;
        if (!job_.distribution.scatter) {
            require_unchanged_inputs();
        }
        if (collects) {
            collect_result(outcome_.plan, ranks_, result_ ? &*result_ : nullptr, trace_);
        }
        ranks_.agree([&] {
            if (result_) {
                trace_.time(Stage::disk_write, [&] { result_->sync(); });
            }
        });
        ranks_.agree([&] {
            if (result_ && (job_.keep_parts || is_root())) {
                result_->publish();
            }
        });
        // Not before: where the result could not take its name, a later job goes on with all of this.
        ranks_.agree([&] {
            if (result_ && collects && !is_root()) {
                result_->remove();
            } else if (result_) {
                result_->keep();  // which has its name now
            }
            remove_leftovers();
        });
        if (!job_.keep_parts) {
            outcome_.own.part_file.clear();
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
    JobRecord record_;
    bool resumes_ = false;                       // the root goes on with an earlier job
    std::optional<RankJournalContents> before_;  // what this rank has of it
    std::optional<JobInputs> inputs_;
    std::vector<FileIdentity> identities_;  // of the inputs when the job began
    // Locks of the file that this rank made and of its scratch; before those, which they outlive.
    std::optional<OutputLock> lock_, scratch_lock_;
    std::shared_ptr<ScratchSource> a_scratch_, b_scratch_;
    std::shared_ptr<WindowSource> a_, b_;
    std::optional<WindowWriter> result_;
    std::optional<RankJournal> journal_;
    FinishedUnits finished_;
    bool keeps_leftovers_ = false;  // where the job fails
};

}  // namespace

ClusterOutcome run_cluster_job(const ClusterJob& job, Communicator& ranks, const ClusterHooks& hooks) {
    return JobRun(job, ranks, hooks).run();
}

}  // namespace heptad
