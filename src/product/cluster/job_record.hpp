// What must be the same for parts that an earlier job left to be parts of this one, with the same bits: the plan, the
// words that matter, the identity of the inputs, and how each rank multiplies. The first lines of its journals.
#pragma once

#include <string>
#include <vector>

#include "plan/model/plan.hpp"
#include "product/cluster/job_inputs.hpp"

namespace heptad {

struct JobRecord {
    ProductPlan plan;
    std::int64_t memory_bytes = 0;
    std::vector<std::string> facts;  // that all ranks share
    std::vector<std::string> own;    // of one rank

    std::vector<std::string> lines() const;
};

/// What was asked. Threads and memory as given, not as found.
std::vector<std::string> request_facts(const ClusterJob& job);
/// The files of A, B and, if there is one, C0, and what their elements are.
std::vector<std::string> input_facts(Type stored, const std::vector<FileIdentity>& inputs);

/// How a rank multiplies, as far as it decides bits: not how long that is thought to take, nor in how much memory.
std::string product_fact(ProductPlan plan);

/// What all ranks share, from one to the others.
std::string shared_text(const JobRecord& record);
JobRecord parse_shared_text(const std::string& text);
/// The same of lines of an earlier job; `facts` are all that follow. Throws Error(input) naming `path`, the journal.
JobRecord record_of_lines(const std::vector<std::string>& lines, const std::string& path);

/// Throws Error(input) that names the first line of the journal that differs.
void require_same_job(const std::vector<std::string>& before, const std::vector<std::string>& now,
                      const std::string& path);

}  // namespace heptad
