// The operands of a job as a rank sees them, and what of a request can be refused before anything is opened.
#pragma once

#include <optional>

#include "place/cluster/cluster_job.hpp"
#include "place/cluster/window_source.hpp"

namespace heptad {

/// Throws Error(usage) for words that do not go together.
void check_request(const ClusterJob& job);

/// Open files that make a product.
struct JobInputs {
    /// Throws Error(input) for files that are missing, malformed or do not fit each other.
    explicit JobInputs(const ClusterJob& job);

    NpyWindows a, b;
    std::optional<NpyWindows> c0;

    Type type() const { return a.type(); }
    ProblemSize size() const { return {a.rows(), a.cols(), b.cols()}; }
    /// Throws Error(input) where the root has made its plan for other files.
    void require_sizes_of(const ClusterPlan& plan) const;

private:
    const ClusterJob& job_;
};

}  // namespace heptad
