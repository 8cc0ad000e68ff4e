#include "product/cluster/job_record.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "base/fail_if.hpp"
#include "base/text_stream.hpp"

namespace heptad {
namespace {

constexpr const char* kPlan = "plan ";
constexpr const char* kMemory = "memory ";

template <class Shape>
std::string shape_text(const std::optional<Shape>& shape, std::int64_t Shape::*x, std::int64_t Shape::*y,
                       std::int64_t Shape::*z) {
    return shape ? fmt::format("{}x{}x{}", *shape.*x, *shape.*y, *shape.*z) : "auto";
}

}  // namespace

std::vector<std::string> JobRecord::lines() const {
    std::vector<std::string> all{to_string(plan), kMemory + std::to_string(memory_bytes)};
    all.insert(all.end(), facts.begin(), facts.end());
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

std::vector<std::string> request_facts(const ClusterJob& job) {
    const Options& options = job.node.options;
    return {
        fmt::format("version {}", job.version),
        fmt::format(
            "product transpose-a={} transpose-b={} conjugate-a={} conjugate-b={} alpha={:a},{:a} beta={:a},{:a}",
            job.transpose_a, job.transpose_b, job.node.conjugate_a, job.node.conjugate_b, job.node.alpha.real(),
            job.node.alpha.imag(), job.node.beta.real(), job.node.beta.imag()),
        fmt::format("cluster algorithm={} grid={} block={} scatter={} keep-parts={}", job.request.algorithm,
                    shape_text(job.request.grid, &ClusterGrid::pm, &ClusterGrid::pk, &ClusterGrid::pn),
                    shape_text(job.request.block, &BlockSize::x, &BlockSize::y, &BlockSize::z),
                    job.distribution.scatter, job.keep_parts),
        fmt::format("node device={} algorithm={} levels={} accuracy={} leaf={} mode={} threads={} memory={}",
                    options.device, options.algorithm, options.levels, static_cast<int>(options.accuracy), options.leaf,
                    options.mode, job.node.threads, job.memory_bytes ? std::to_string(*job.memory_bytes) : "auto"),
    };
}

std::vector<std::string> input_facts(Type stored, const std::vector<FileIdentity>& inputs) {
    constexpr std::array<const char*, 3> kLetters{"A", "B", "C0"};
    std::vector<std::string> facts{fmt::format("elements {}", type_name(stored))};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        facts.push_back(
            fmt::format("input {} {} {} {}", kLetters.at(i), inputs[i].bytes, inputs[i].changed_ns, inputs[i].samples));
    }
    return facts;
}

std::string product_fact(ProductPlan plan) {
    plan.predicted_s = 0;
    plan.error_bound = 0;
    plan.workspace_bytes = 0;
    return "multiplies by " + to_string(plan);
}

std::string shared_text(const JobRecord& record) {
    std::string text;
    for (const std::string& line : record.lines()) {
        text += line + "\n";
    }
    return text;
}

JobRecord parse_shared_text(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream = stream_of(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return record_of_lines(lines, "what the root sent");
}

JobRecord record_of_lines(const std::vector<std::string>& lines, const std::string& path) {
    fail_if(lines.size() < 2 || !lines[0].starts_with(kPlan) || !lines[1].starts_with(kMemory), ErrorCode::input,
            "'{}' does not begin with a plan; leave out --resume to start over", path);
    JobRecord record;
    try {
        record.plan = parse_plan(lines[0]);
        check_rank_cut(record.plan);
    } catch (const Error& error) {
        fail(ErrorCode::input,
             "'{}' begins with a plan that cannot be carried out ({}); leave out --resume to start over", path,
             error.what());
    }
    record.memory_bytes = std::stoll(lines[1].substr(std::string(kMemory).size()));
    record.facts.assign(lines.begin() + 2, lines.end());
    return record;
}

void require_same_job(const std::vector<std::string>& before, const std::vector<std::string>& now,
                      const std::string& path) {
    const auto [old_line, new_line] = std::mismatch(before.begin(), before.end(), now.begin(), now.end());
    fail_if(old_line != before.end() || new_line != now.end(), ErrorCode::input,
            "'{}' belongs to a job that differs from this one: there '{}', here '{}'; without --resume the product "
            "starts over",
            path, old_line == before.end() ? "nothing" : *old_line, new_line == now.end() ? "nothing" : *new_line);
}

}  // namespace heptad
