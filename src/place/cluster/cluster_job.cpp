#include "place/cluster/cluster_job.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "backend/cuda/device.hpp"
#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "place/cluster/distribution.hpp"
#include "place/cluster/partial_sum.hpp"
#include "place/devices/device_product.hpp"
#include "place/file/output_lock.hpp"
#include "place/memory/product.hpp"
#include "plan/cluster_caps.hpp"

namespace heptad {
namespace {

using Clock = std::chrono::steady_clock;

/// Bytes the kernel would give to a new allocation without swapping; the largest number where it does not tell.
std::int64_t available_memory_bytes() {
    std::ifstream file("/proc/meminfo");
    std::string word;
    while (file >> word) {
        std::int64_t kibibytes = 0;
        if (word == "MemAvailable:" && file >> kibibytes) {
            return kibibytes * 1024;
        }
    }
    return std::numeric_limits<std::int64_t>::max();
}

/// A rank that is bound to some cores has those; otherwise the ranks of a machine share all of them.
int share_of_cores(const Communicator& ranks) {
    const int cores = available_cores();
    const bool bound = cores < static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    return std::max(1, bound ? cores : cores / ranks.local_size());
}

std::string name_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

class JobRun {
public:
    JobRun(const ClusterJob& job, Communicator& ranks, std::atomic<double>& fraction_done)
        : job_(job),
          ranks_(ranks),
          fraction_done_(fraction_done),
          clock_(job.keep_intervals),
          node_(job.node),
          has_files_(!job.distribution.scatter || ranks.rank() == 0) {
        if (node_.threads == 0) {
            node_.threads = share_of_cores(ranks);
        }
        ranks_.set_lookout([this] {
            if (failure_.raised()) {
                throw StageStopped();
            }
        });
    }
    ~JobRun() { ranks_.set_lookout({}); }
    JobRun(const JobRun&) = delete;
    JobRun& operator=(const JobRun&) = delete;

    ClusterOutcome run() {
        const Clock::time_point start = Clock::now();
        ranks_.agree([&] { check_request(); });
        ranks_.agree([&] { open_operands(); });
        decide();
        ranks_.agree([&] { check_operands(); });
        make_result();
        time_step("distribute", outcome_.distribute_s, [&] { distribute(); });
        outcome_.own.distributed_bytes = ranks_.received_bytes();
        time_step("multiply", outcome_.multiply_s, [&] { multiply(); });
        outcome_.own.received_bytes = ranks_.received_bytes() - outcome_.own.distributed_bytes;
        time_step("collect", outcome_.collect_s, [&] { finish(); });
        outcome_.total_s = std::chrono::duration<double>(Clock::now() - start).count();
        outcome_.own.stage_s = clock_.seconds();
        outcome_.own.intervals = clock_.intervals();
        return std::move(outcome_);
    }

private:
    bool is_root() const { return ranks_.rank() == 0; }

    template <class Step>
    void time_step(const char* name, double& seconds, Step&& step) {
        clock_.begin_step(name);
        const Clock::time_point begin = Clock::now();
        step();
        ranks_.barrier();
        seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    }

    void check_request() {
        if (job_.distribution.scatter && job_.scratch.empty()) {
            fail(ErrorCode::usage, "--scatter keeps the parts of A and B in files of each node; give --scratch DIR");
        }
        if (job_.distribution.scatter && node_.beta != 0) {
            fail(ErrorCode::usage,
                 "--scatter hands out A and B only; leave out --add, or put the files where every "
                 "node sees them and leave out --scatter");
        }
        const bool caps = job_.request.algorithm == cluster_algorithm_name(ClusterAlgorithm::caps);
        if (caps && (job_.distribution.scatter || job_.keep_parts || node_.beta != 0)) {
            fail(ErrorCode::usage,
                 "caps makes C = alpha*A*B from files that every node sees to one file; leave out "
                 "--scatter, --keep-parts and --add, or use --algorithm grid");
        }
        if (caps && node_.options.accuracy == Accuracy::strict) {
            fail(ErrorCode::usage,
                 "caps is Strassen's algorithm, and --accuracy strict allows classical products only");
        }
        if (is_device_product(node_.options.device)) {
            const std::size_t devices = cuda::report().devices.size();
            if (devices > 0 && node_.options.device == "cuda") {  // without one, the product says so
                node_.options.device = fmt::format("cuda:{}", static_cast<std::size_t>(ranks_.local_rank()) % devices);
            }
        }
    }

    void open_operands() {
        if (!has_files_) {
            return;
        }
        a_file_.emplace(job_.a, job_.type, job_.transpose_a);
        b_file_.emplace(job_.b, job_.type, job_.transpose_b);
        if (!job_.c0.empty()) {
            c0_file_.emplace(job_.c0, job_.type, false);
        }
        for (const NpyWindows* other : {&*b_file_, c0_file_ ? &*c0_file_ : &*b_file_}) {
            if (other->type() != a_file_->type()) {
                fail(ErrorCode::input,
                     "{} holds {} and another operand {}; all matrices of a product must have one type", job_.a,
                     type_name(a_file_->type()), type_name(other->type()));
            }
        }
        if (!has_partial_sums(a_file_->type())) {
            fail(
                ErrorCode::input,
                "heptad-mpi multiplies f64, f32, tf32, i32, gf2 and bool, not {}, whose partial sums would be rounded; "
                "save the matrices as f32",
                type_name(a_file_->type()));
        }
        if (a_file_->cols() != b_file_->rows()) {
            fail(ErrorCode::input,
                 "{} is {} x {} and {} is {} x {} (transposes applied), but the columns of the first must equal the "
                 "rows of the second; check the files or --transpose-a and --transpose-b",
                 job_.a, a_file_->rows(), a_file_->cols(), job_.b, b_file_->rows(), b_file_->cols());
        }
        if (c0_file_ && (c0_file_->rows() != a_file_->rows() || c0_file_->cols() != b_file_->cols())) {
            fail(ErrorCode::input, "{} is {} x {}, but the product it is added to is {} x {}", job_.c0,
                 c0_file_->rows(), c0_file_->cols(), a_file_->rows(), b_file_->cols());
        }
    }

    /// The root decides for all, by its own speed and the least memory that any rank has.
    void decide() {
        const std::int64_t own_bytes = job_.memory_bytes.value_or(available_memory_bytes() / ranks_.local_size());
        memory_bytes_ = own_bytes;
        for (const std::string& bytes : ranks_.gather_texts(std::to_string(own_bytes))) {
            memory_bytes_ = std::min<std::int64_t>(memory_bytes_, std::stoll(bytes));
        }
        std::string text;
        ranks_.agree([&] {
            if (is_root()) {
                ClusterRequest request = job_.request;
                request.memory_bytes = memory_bytes_;
                const ProblemSize size{a_file_->rows(), a_file_->cols(), b_file_->cols()};
                if (size.m == 0 || size.k == 0 || size.n == 0) {  // there are no blocks to pass around
                    request = {};
                }
                outcome_.rates.network_bytes_per_s = job_.network_bytes_per_s;
                outcome_.rates.operations_per_s = predicted_rate(size, a_file_->type());
                text = to_string(make_cluster_plan(size, a_file_->type(), ranks_.size(), request, outcome_.rates));
            }
        });
        outcome_.plan = parse_cluster_plan(ranks_.broadcast_text(text));
        outcome_.predicted = forecast(outcome_.plan, outcome_.rates, job_.distribution);
        limit_workspace();
    }

    double predicted_rate(const ProblemSize& size, Type type) const {
        const double cut = std::cbrt(static_cast<double>(ranks_.size()));
        const auto part = [&](std::int64_t whole) {
            return std::max<std::int64_t>(1, std::llround(static_cast<double>(whole) / cut));
        };
        const std::int64_t m = part(size.m), k = part(size.k), n = part(size.n);
        ProductContext context;
        context.threads = node_.threads;
        const Options& options = node_.options;
        const ProductPlan share = is_device_product(options.device)
                                      ? plan_device_product(m, k, n, type, options, context)
                                      : plan_product(m, k, n, type, options, context);
        const double operations = 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
        return operations / std::max(share.predicted_s, 1e-9);
    }

    /// What the products inside the rank may use beside its parts of the matrices.
    void limit_workspace() {
        const ClusterPlan& plan = outcome_.plan;
        const auto element = static_cast<std::int64_t>(element_bytes(plan.type));
        std::int64_t held = 0;
        if (plan.algorithm == ClusterAlgorithm::caps) {
            const CapsShape shape = caps_shape(plan);
            held = 2 * (shape.block_m * shape.block_k + shape.block_k * shape.block_n + shape.block_m * shape.block_n);
        } else if (plan.algorithm == ClusterAlgorithm::grid) {
            const std::int64_t rows = ceil_div(plan.m, plan.grid.pm), cols = ceil_div(plan.n, plan.grid.pn);
            const std::int64_t thick = ceil_div(ceil_div(plan.k, plan.grid.pk), plan.panels);
            held =
                rows * cols + 3 * thick * (rows + cols) + (plan.grid.pk > 1 ? ceil_div(rows, plan.grid.pk) * cols : 0);
        } else {
            const std::int64_t rows =
                plan.algorithm == ClusterAlgorithm::mod_pegmm ? ceil_div(plan.m, plan.ranks) : plan.block.x;
            held = kBlocksInFlight * plan.block.y * (plan.block.x + plan.block.z) + 3 * rows * plan.block.z;
        }
        node_.options.workspace_limit_bytes =
            std::min(node_.options.workspace_limit_bytes, std::max<std::int64_t>(0, memory_bytes_ - held * element));
    }

    /// Every rank sees the files that the plan was made for.
    void check_operands() const {
        const ClusterPlan& plan = outcome_.plan;
        if (has_files_ && (a_file_->type() != plan.type || a_file_->rows() != plan.m || a_file_->cols() != plan.k ||
                           b_file_->cols() != plan.n)) {
            fail(ErrorCode::input,
                 "{} and {} make a product of {} x {} x {} here, but the root sees one of {} x {} x {};"
                 " put the files where every node sees the same, or use --scatter",
                 job_.a, job_.b, a_file_->rows(), a_file_->cols(), b_file_->cols(), plan.m, plan.k, plan.n);
        }
    }

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
                const std::string base =
                    job_.distribution.scatter ? job_.scratch + "/" + name_of(job_.output) : job_.output;
                own.part_file = fmt::format("{}.part-{}.npy", base, ranks_.rank());
                lock_.emplace(own.part_file, IoWatch{});
                result_.emplace(WindowWriter::create(own.part_file, {own.part, plan.type}));
            } else if (is_root() && needed) {
                lock_.emplace(job_.output, IoWatch{});
                result_.emplace(WindowWriter::create(job_.output, {whole, plan.type}));
            }
        });
        ranks_.agree([&] {
            if (!result_ && needed) {
                result_.emplace(WindowWriter::open(job_.output, {whole, plan.type}));
            }
        });
    }

    void distribute() {
        const ClusterPlan& plan = outcome_.plan;
        const HeldWindows held = held_windows(plan, ranks_.rank());
        if (!job_.distribution.scatter) {
            a_ = std::make_unique<FileSource>(*a_file_, held.a);
            b_ = std::make_unique<FileSource>(*b_file_, held.b);
            return;
        }
        // Jobs and ranks that share a machine share its scratch folder.
        const std::string job_id = ranks_.broadcast_text(fmt::format("{}-{}", ranks_.host(), getpid()));
        std::unique_ptr<ScratchSource> a, b;
        ranks_.agree([&] {
            const std::string base = fmt::format("{}/heptad-{}-{}", job_.scratch, job_id, ranks_.rank());
            a = std::make_unique<ScratchSource>(base + "-a.scratch", held.a, plan.type);
            b = std::make_unique<ScratchSource>(base + "-b.scratch", held.b, plan.type);
        });
        scatter_windows({plan, ranks_, a_file_ ? &*a_file_ : nullptr, *a, clock_, failure_},
                        [&](std::int64_t rank) { return held_windows(plan, rank).a; });
        const Distribution of_b{plan, ranks_, b_file_ ? &*b_file_ : nullptr, *b, clock_, failure_};
        if (plan.algorithm == ClusterAlgorithm::pegmm) {
            broadcast_windows(of_b, held.b, job_.distribution.broadcast);
        } else {
            scatter_windows(of_b, [&](std::int64_t rank) { return held_windows(plan, rank).b; });
        }
        a_ = std::move(a);
        b_ = std::move(b);
    }

    /// Sums of blocks would spread a NaN; the classical algorithm does not.
    void leave_caps_where_sums_are_unsafe() {
        if (outcome_.plan.algorithm != ClusterAlgorithm::caps || is_finite_enough_for_caps(rank_work())) {
            return;
        }
        const ProblemSize size = problem_size(outcome_.plan);
        const Type type = outcome_.plan.type;
        ClusterRequest classical;
        classical.memory_bytes = memory_bytes_;
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
                c0_file_ ? &*c0_file_ : nullptr,
                result_ ? &*result_ : nullptr,
                node_,
                clock_,
                failure_,
                fraction_done_};
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
        if (collects) {
            collect_result(outcome_.plan, ranks_, result_ ? &*result_ : nullptr, clock_);
        }
        ranks_.agree([&] {
            if (result_) {
                clock_.time("DW", [&] { result_->sync(); });
            }
        });
        ranks_.agree([&] {
            if (result_ && (job_.keep_parts || is_root())) {
                result_->publish();
            } else if (result_ && !collects) {
                result_->release();
            }
        });
        if (!job_.keep_parts) {
            outcome_.own.part_file.clear();
        }
    }

    const ClusterJob& job_;
    Communicator& ranks_;
    std::atomic<double>& fraction_done_;
    StageClock clock_;
    StageFailure failure_;
    NodeSettings node_;
    const bool has_files_;
    std::int64_t memory_bytes_ = 0;  // the least of all ranks
    ClusterOutcome outcome_;
    std::optional<NpyWindows> a_file_, b_file_, c0_file_;
    std::unique_ptr<WindowSource> a_, b_;
    std::optional<OutputLock> lock_;  // of the file that this rank made; before the writer, which it outlives
    std::optional<WindowWriter> result_;
};

}  // namespace

ClusterOutcome run_cluster_job(const ClusterJob& job, Communicator& ranks, std::atomic<double>& fraction_done) {
    return JobRun(job, ranks, fraction_done).run();
}

}  // namespace heptad
