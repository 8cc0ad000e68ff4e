// The operands of a job as a rank sees them, and what of a request can be refused before anything is opened.
#pragma once

#include <optional>
#include <vector>

#include "move/ranks/window_source.hpp"
#include "product/cluster/cluster_job.hpp"

namespace heptad {

/// Throws Error(usage) for words that do not go together.
void check_request(const ClusterJob& job);
/// Of floats; others are never rounded.
inline bool rounds_once(const ClusterJob& job) {
    return job.node.options.accuracy == Accuracy::exact;
}

/// Open files that make a product.
struct JobInputs {
    /// Throws Error(input) for files that are missing, malformed or do not fit each other, Error(resource) where those
    /// that are read whole take more than `memory_bytes`.
    JobInputs(const ClusterJob& job, std::int64_t memory_bytes);

    MatrixWindows a, b;
    std::optional<MatrixWindows> c0;
    std::int64_t held_bytes = 0;  // of files that are read whole

    std::vector<const MatrixWindows*> all() const;
    /// Of the files as they are now, in that order. Throws Error(input).
    std::vector<FileIdentity> identities() const;
    Type type() const { return a.type(); }
    Type stored_type() const { return a.stored_type(); }
    ProblemSize size() const { return {a.rows(), a.cols(), b.cols()}; }

private:
    /// What headers tell before anything is read.
    struct Found {
        std::optional<Type> type;  // that the files are taken for
        std::int64_t held_bytes = 0;
    };
    static Found found(const ClusterJob& job, std::int64_t memory_bytes);
    JobInputs(const ClusterJob& job, const Found& known);
};

}  // namespace heptad
