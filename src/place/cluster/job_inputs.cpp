#include "place/cluster/job_inputs.hpp"

#include "base/error.hpp"
#include "base/types.hpp"
#include "place/cluster/partial_sum.hpp"

namespace heptad {

void check_request(const ClusterJob& job) {
    if (job.distribution.scatter && job.scratch.empty()) {
        fail(ErrorCode::usage, "--scatter keeps the parts of A and B in files of each node; give --scratch DIR");
    }
    if (job.distribution.scatter && job.node.beta != 0) {
        fail(ErrorCode::usage,
             "--scatter hands out A and B only; leave out --add, or put the files where every "
             "node sees them and leave out --scatter");
    }
    if (job.request.algorithm != cluster_algorithm_name(ClusterAlgorithm::caps)) {
        return;
    }
    if (job.distribution.scatter || job.keep_parts || job.node.beta != 0) {
        fail(ErrorCode::usage,
             "caps makes C = alpha*A*B from files that every node sees to one file; leave out "
             "--scatter, --keep-parts and --add, or use --algorithm grid");
    }
    if (job.resume) {
        fail(ErrorCode::usage,
             "caps finishes all of C at the end, so there is nothing to resume; leave out --resume, or use "
             "--algorithm grid");
    }
    if (job.node.options.accuracy == Accuracy::strict) {
        fail(ErrorCode::usage, "caps is Strassen's algorithm, and --accuracy strict allows classical products only");
    }
}

JobInputs::JobInputs(const ClusterJob& job)
    : a(job.a, job.type, job.transpose_a), b(job.b, job.type, job.transpose_b), job_(job) {
    if (!job.c0.empty()) {
        c0.emplace(job.c0, job.type, false);
    }
    for (const NpyWindows* other : {&b, c0 ? &*c0 : &b}) {
        if (other->type() != a.type()) {
            fail(ErrorCode::input, "{} holds {} and another operand {}; all matrices of a product must have one type",
                 job.a, type_name(a.type()), type_name(other->type()));
        }
    }
    if (!has_partial_sums(a.type())) {
        fail(ErrorCode::input,
             "heptad-mpi multiplies f64, f32, tf32, i32, gf2 and bool, not {}, whose partial sums would be rounded; "
             "save the matrices as f32",
             type_name(a.type()));
    }
    if (a.cols() != b.rows()) {
        fail(ErrorCode::input,
             "{} is {} x {} and {} is {} x {} (transposes applied), but the columns of the first must equal the "
             "rows of the second; check the files or --transpose-a and --transpose-b",
             job.a, a.rows(), a.cols(), job.b, b.rows(), b.cols());
    }
    if (c0 && (c0->rows() != a.rows() || c0->cols() != b.cols())) {
        fail(ErrorCode::input, "{} is {} x {}, but the product it is added to is {} x {}", job.c0, c0->rows(),
             c0->cols(), a.rows(), b.cols());
    }
}

void JobInputs::require_sizes_of(const ClusterPlan& plan) const {
    if (type() != plan.type || a.rows() != plan.m || a.cols() != plan.k || b.cols() != plan.n) {
        fail(ErrorCode::input,
             "{} and {} make a product of {} x {} x {} here, but the root sees one of {} x {} x {};"
             " put the files where every node sees the same, or use --scatter",
             job_.a, job_.b, a.rows(), a.cols(), b.cols(), plan.m, plan.k, plan.n);
    }
}

}  // namespace heptad
