// What a rank has on disk for a job: its part of C, the parts of A and B that it was handed out, and the journal by
// which a later job goes on with them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/partial_file.hpp"
#include "product/cluster/cluster_job.hpp"
#include "product/cluster/job_inputs.hpp"

namespace heptad {

/// Functions are called by every rank, one after another. What they are given references to outlives them.
class JobParts {
public:
    JobParts(const ClusterJob& job, Communicator& ranks, ClusterOutcome& outcome,
             const std::optional<JobInputs>& inputs, const std::vector<FileIdentity>& identities, StageTrace& trace,
             StageFailure& failure)
        : job_(job),
          ranks_(ranks),
          outcome_(outcome),
          inputs_(inputs),
          identities_(identities),
          trace_(trace),
          failure_(failure) {}
    ~JobParts() {
        if (journal_ && !keeps_leftovers_ && !resumes) {
            journal_->remove();
        }
    }
    JobParts(const JobParts&) = delete;
    JobParts& operator=(const JobParts&) = delete;

    std::string journal_path() const { return part_base() + ".journal"; }
    bool resumes = false;                       // the root goes on with an earlier job
    std::optional<RankJournalContents> before;  // what this rank has of it

    /// `record`: the first lines of the journal.
    void make_result(const std::vector<std::string>& record);
    void distribute();
    /// What an earlier job has left is known to every rank; from now on, what this one leaves is worth keeping.
    void find_finished();
    /// After the last reading: parts of the product would be of the one file, others of the other.
    void require_unchanged_inputs();
    /// One complete file, or every rank's own; under their names when all are synced.
    void finish();

    /// By all ranks: where the step fails, what was computed is worth nothing, and nothing of it stays.
    template <class Step>
    void agree_or_discard(Step&& step) {
        try {
            ranks_.agree(step);
        } catch (const AgreedError& error) {
            if (result_) {
                result_->keep(false);
            }
            remove_leftovers();
            throw AgreedError(error.code(), fmt::format("{}; {} was not written", error.what(), job_.output));
        }
    }

    /// Do all ranks write their parts of C to the same file?
    bool is_one_file() const { return !job_.keep_parts && !job_.distribution.scatter; }
    /// Null: this rank has no part of C.
    const WindowWriter* result() const { return result_ ? &*result_ : nullptr; }
    const WindowSource& a() const { return *a_; }
    const WindowSource& b() const { return *b_; }
    const FinishedUnits& finished() const { return finished_; }
    bool keeps_leftovers() const { return keeps_leftovers_; }

private:
    bool is_root() const { return ranks_.rank() == 0; }
    bool has_own_file() const { return job_.keep_parts || (job_.distribution.scatter && !is_root()); }
    /// Where a rank keeps what is its own: beside the result, or on its scratch.
    std::string part_base(int rank) const;
    std::string part_base() const { return part_base(ranks_.rank()); }
    void make_file(const std::string& path, const WindowWriter::Shape& shape);
    void hand_out(const HeldWindows& held);
    bool find_scratch(const HeldWindows& held);
    void keep_leftovers(bool keeps);
    void remove_leftovers();

    const ClusterJob& job_;
    Communicator& ranks_;
    ClusterOutcome& outcome_;
    const std::optional<JobInputs>& inputs_;
    const std::vector<FileIdentity>& identities_;  // of the inputs when the job began
    StageTrace& trace_;
    StageFailure& failure_;
    // Locks of the file that this rank made and of its scratch; before those, which they outlive.
    std::optional<OutputLock> lock_, scratch_lock_;
    std::shared_ptr<ScratchSource> a_scratch_, b_scratch_;
    std::shared_ptr<WindowSource> a_, b_;
    std::optional<WindowWriter> result_;
    std::optional<RankJournal> journal_;
    FinishedUnits finished_;
    bool keeps_leftovers_ = false;  // where the job fails
};

}  // namespace heptad
