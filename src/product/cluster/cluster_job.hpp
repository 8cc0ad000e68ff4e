// One product on all ranks of an MPI job: C = alpha * op(A) * op(B) + beta * C0, from matrix files to a .npy file.
//
// Everything that can be refused is refused before the product starts, with one sentence from one rank. The result
// takes its name when every rank has written and synced its part; a rank that fails ends the job, and no file appears.
// What the ranks have finished by then stays, each with a journal beside it (rank_journal.hpp), and a later job may go
// on with it. Strassen's distribution is the exception: its C is finished all at once.
#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check/verify.hpp"
#include "move/ranks/communicator.hpp"
#include "move/stage_trace.hpp"
#include "plan/predict/cluster_forecast.hpp"
#include "plan/predict/promised_error.hpp"
#include "plan/search/cluster_plan.hpp"
#include "product/cluster/rank_work.hpp"

namespace heptad {

struct ClusterJob {
    std::string a, b, c0, output;  // c0 is empty unless node.beta is other than zero
    std::optional<Type> type;      // empty: what the files say
    bool transpose_a = false, transpose_b = false;
    NodeSettings node;                         // threads = 0: this rank's share of the machine's cores
    std::optional<std::int64_t> memory_bytes;  // of one rank; empty: its share of what is free
    ClusterRequest request;
    double network_bytes_per_s = 1.25e9;  // to choose a grid by
    ForecastOptions distribution;         // scatter: the files are on the root alone
    std::string scratch;                  // folder of the scratch files; needed for scatter
    bool keep_parts = false;              // every rank keeps its part of C in a file of its own
    bool keep_intervals = false;          // for a trace
    bool verify = false;                  // before the result takes its name
    bool resume = false;                  // goes on with what an earlier job left
    std::string version;                  // of the program: parts of another one are not mixed with these
};

/// The caller's ears and its last word.
struct ClusterHooks {
    std::atomic<double>& fraction_done;  // of the product; can be watched from another thread
    StageFailure::GiveUp give_up;        // see move/stages.hpp
};

/// What one rank did.
struct RankReport {
    std::int64_t distributed_bytes = 0;  // received from the root before the product
    std::int64_t received_bytes = 0;     // during the product
    std::map<std::string, double> stage_s;
    std::vector<StageInterval> intervals;
    std::string device;                         // of its products: "auto", "cuda:1"
    Window part;                                // of C
    std::string part_file;                      // with keep_parts
    std::int64_t units = 0, resumed_units = 0;  // pieces of the part, and those that an earlier job had finished
    RunReport products;                         // its own, and Strassen's of all ranks
};

struct ClusterOutcome {
    ProductPlan plan;         // its type is that in memory
    Type stored = Type::f32;  // that of the files
    ClusterForecast predicted;
    ClusterRates rates;  // that the prediction was made from
    ErrorPromise error;
    double distribute_s = 0, multiply_s = 0, verify_s = 0, collect_s = 0, total_s = 0;  // as this rank saw them
    std::optional<VerifyResult> verified;                                               // the root's
    RankReport own;
};

/// Called by every rank with the same job. Throws AgreedError where all ranks know, another Error where only this one
/// does: then the job must be aborted.
ClusterOutcome run_cluster_job(const ClusterJob& job, Communicator& ranks, const ClusterHooks& hooks);

}  // namespace heptad
