#include "cli/mpi/mpi_mul.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/text_stream.hpp"
#include "base/thread_pool.hpp"
#include "cli/check_result.hpp"
#include "cli/outlook_text.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/text.hpp"
#include "product/device/device_product.hpp"
#include "product/request/trace_file.hpp"

namespace heptad::cli {
namespace {

/// Shows how far the product is, from a thread of its own: the main one waits for messages.
class Watcher {
public:
    Watcher(const std::atomic<double>& fraction, const std::string& title, bool shows) {
        if (shows) {
            try {
                thread_ = start_thread([this, &fraction, title] { watch(fraction, title); });
            } catch (const std::exception&) {
                // The product matters more than seeing how far it is.
            }
        }
    }
    ~Watcher() {
        {
            const std::lock_guard lock(mutex_);
            done_ = true;
        }
        changed_.notify_all();
        if (thread_.joinable()) {
            thread_.join();
        }
    }
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

private:
    void watch(const std::atomic<double>& fraction, const std::string& title) try {
        constexpr std::chrono::milliseconds kStep{200};
        ProgressMeter meter;
        meter.begin(title);
        std::unique_lock lock(mutex_);
        while (!changed_.wait_for(lock, kStep, [&] { return done_; })) {
            meter.update(fraction);
        }
    } catch (const std::exception&) {
        // As above.
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool done_ = false;
    std::thread thread_;
};

/// Parts, scratch files and journals of any rank begin like this; see product/cluster/cluster_job.cpp.
bool is_part_of(const std::filesystem::path& output, const std::filesystem::path& folder,
                const std::filesystem::path& trace) {
    return place_of(trace).parent_path() == place_of(folder) &&
           place_of(trace).filename().string().starts_with(output.filename().string() + ".part-");
}

/// Known before the product, which may take hours, that the trace can be written and replaces no file of the job. By
/// the root. Throws Error(usage) for the latter, Error(input) or Error(resource) for the former.
void check_trace_file(const std::string& trace, const ClusterJob& job) {
    std::vector<std::string> taken{job.a, job.b, job.c0, job.output, job.output + ".partial", job.output + ".lock"};
    if (is_part_of(job.output, place_of(job.output).parent_path(), trace) ||
        (!job.scratch.empty() && is_part_of(job.output, job.scratch, trace))) {
        taken.push_back(trace);
    }
    require_trace_file(trace, taken);
}

/// Events that chrome://tracing and Perfetto show: a process per rank, a row per stage.
nlohmann::ordered_json trace_json(const ClusterOutcome& outcome, int rank) {
    nlohmann::ordered_json events = nlohmann::ordered_json::array();
    for (const StageInterval& interval : outcome.own.intervals) {
        events.push_back({{"name", interval.stage},
                          {"ph", "X"},
                          {"pid", rank},
                          {"tid", interval.stage},
                          {"ts", interval.begin_s * 1e6},
                          {"dur", (interval.end_s - interval.begin_s) * 1e6}});
    }
    return events;
}

void write_trace(const std::string& path, const nlohmann::ordered_json& of_ranks) {
    nlohmann::ordered_json events = nlohmann::ordered_json::array();
    for (const nlohmann::ordered_json& rank : of_ranks) {
        for (const nlohmann::ordered_json& event : rank) {
            events.push_back(event);
        }
    }
    write_text_file(path, nlohmann::ordered_json{{"traceEvents", events}}.dump() + "\n");
}

nlohmann::ordered_json rank_json(const ClusterOutcome& outcome, const Communicator& ranks) {
    const RankReport& own = outcome.own;
    nlohmann::ordered_json object{{"rank", ranks.rank()},
                                  {"host", ranks.host()},
                                  {"device", own.device},
                                  {"received_bytes", own.received_bytes},
                                  {"planned_bytes", received_bytes(outcome.plan, ranks.rank())},
                                  {"distributed_bytes", own.distributed_bytes},
                                  {"part", {own.part.row, own.part.col, own.part.rows, own.part.cols}},
                                  {"units", own.units},
                                  {"resumed_units", own.resumed_units},
                                  {"scaled", own.products.scaled},
                                  {"short_numbers", own.products.short_numbers},
                                  {"fell_back", own.products.fell_back}};
    if (!own.part_file.empty()) {
        object["part_file"] = own.part_file;
    }
    object["stage_s"] = own.stage_s;
    return object;
}

nlohmann::ordered_json gather_json(Communicator& ranks, const nlohmann::ordered_json& own) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const std::string& text : ranks.gather_texts(own.dump())) {
        all.push_back(nlohmann::ordered_json::parse(text));
    }
    return all;
}

/// What the line for people says of all ranks. Not by way of JSON, whose values allocate when they are destroyed: a job
/// that is done would end there where memory runs out.
struct AllRanks {
    std::int64_t most_bytes = 0, units = 0, resumed_units = 0;
    RunReport products = {};
};
AllRanks gather_numbers(Communicator& ranks, const RankReport& own) {
    AllRanks all;
    const RunReport& mine = own.products;
    for (const std::string& text : ranks.gather_texts(fmt::format("{} {} {} {:d} {:d} {:d} {:d}", own.received_bytes,
                                                                  own.units, own.resumed_units, mine.fell_back,
                                                                  mine.uneven, mine.scaled, mine.short_numbers))) {
        std::istringstream numbers = stream_of(text);
        std::int64_t received_bytes = 0, units = 0, resumed_units = 0;
        RunReport products;
        numbers >> received_bytes >> units >> resumed_units >> products.fell_back >> products.uneven >>
            products.scaled >> products.short_numbers;
        all.most_bytes = std::max(all.most_bytes, received_bytes);
        all.units += units;
        all.resumed_units += resumed_units;
        all.products.add(products);
    }
    return all;
}

std::string text_of(const MpiMulArguments& mul, const ClusterOutcome& outcome, const AllRanks& all) {
    const ProductPlan& plan = outcome.plan;
    const double operations = operation_count({plan.m, plan.k, plan.n}, plan.type);
    const std::string what = mul.job.keep_parts ? fmt::format("{} in parts", mul.job.output) : mul.job.output;
    const bool passed = outcome.verified && outcome.verified->passed();
    return fmt::format(
        "{}: {} x {} {}, {} on {} ranks ({} idle) in {} ({} effective); at most {} received by a rank{}{}{}\n{}\n{}\n",
        what, plan.m, plan.n, type_name(outcome.stored), cluster_algorithm_name(plan.rank->algorithm), plan.rank->ranks,
        idle_ranks(plan), format_seconds(outcome.total_s), format_rate(operations / outcome.total_s, plan.type),
        format_bytes(all.most_bytes),
        all.resumed_units > 0 ? fmt::format("; {} of {} pieces by an earlier job", all.resumed_units, all.units) : "",
        passed ? "; " + describe_passed(*outcome.verified) : "", remark_on(all.products),
        expectation_text({outcome.error}), bound_text(outcome.error));
}

nlohmann::ordered_json json_of(const MpiMulArguments& mul, const ClusterOutcome& outcome,
                               const nlohmann::ordered_json& ranks) {
    const ProductPlan& plan = outcome.plan;
    const bool scaled = std::any_of(ranks.begin(), ranks.end(), [](const auto& rank) { return rank["scaled"]; });
    nlohmann::ordered_json object{{"output", mul.job.output},
                                  {"type", type_name(outcome.stored)},
                                  {"m", plan.m},
                                  {"k", plan.k},
                                  {"n", plan.n},
                                  {"total_s", outcome.total_s},
                                  {"distribute_s", outcome.distribute_s},
                                  {"multiply_s", outcome.multiply_s},
                                  {"verify_s", outcome.verify_s},
                                  {"collect_s", outcome.collect_s},
                                  {"scaled", scaled},
                                  {"verified", outcome.verified && outcome.verified->passed()}};
    if (outcome.verified) {
        object["verification"] = to_json(*outcome.verified);
    }
    object.update(outlook_json({outcome.error}));
    object["predicted"] = forecast_json(plan, outcome.predicted);
    object["plan"] = to_string(plan);
    object["ranks"] = ranks;
    return object;
}

}  // namespace

void run(const MpiMulArguments& mul, Communicator& ranks, const StageFailure::GiveUp& give_up) {
    ranks.agree([&] {
        if (ranks.rank() == 0 && !mul.trace_file.empty()) {
            check_trace_file(mul.trace_file, mul.job);
        }
    });
    std::atomic<double> fraction{0};
    const ClusterOutcome outcome = [&] {
        const char* const stages = is_device_product(mul.job.node.options.device) ? "DR NR M2G MM DW" : "DR NR MM DW";
        const Watcher watcher(fraction, fmt::format("multiply ({}, rank 0)", stages), ranks.rank() == 0);
        return run_cluster_job(mul.job, ranks, {fraction, give_up});
    }();
    if (!mul.trace_file.empty()) {
        const nlohmann::ordered_json traces = gather_json(ranks, trace_json(outcome, ranks.rank()));
        ranks.agree([&] {
            if (ranks.rank() == 0) {
                write_trace(mul.trace_file, traces);
            }
        });
    }
    const bool failed = outcome.verified && !outcome.verified->passed();
    if (mul.json) {
        const nlohmann::ordered_json reports = gather_json(ranks, rank_json(outcome, ranks));
        if (ranks.rank() == 0 && !failed) {  // one object: that of the failure
            print(json_of(mul, outcome, reports));
        }
    } else if (const AllRanks all = gather_numbers(ranks, outcome.own); ranks.rank() == 0) {
        print(text_of(mul, outcome, all));
    }
    ranks.agree([&] {
        if (ranks.rank() == 0 && outcome.verified) {
            require_passed_in_detail(*outcome.verified, "the result", "; " + mul.job.output + " was written");
        }
    });
}

}  // namespace heptad::cli
