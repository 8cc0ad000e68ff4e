#include "product/cluster/job_inputs.hpp"

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "io/matrix_market.hpp"
#include "product/memory/validate.hpp"

namespace heptad {

void check_request(const ClusterJob& job) {
    fail_if(job.distribution.scatter && job.scratch.empty(), ErrorCode::usage,
            "--scatter keeps the parts of A and B in files of each node; give --scratch DIR");
    fail_if(job.distribution.scatter && job.node.beta != 0.0, ErrorCode::usage,
            "--scatter hands out A and B only; leave out --add, or put the files where every "
            "node sees them and leave out --scatter");
    if (job.request.algorithm != cluster_algorithm_name(ClusterAlgorithm::caps)) {
        return;
    }
    fail_if(job.distribution.scatter || job.keep_parts || job.node.beta != 0.0, ErrorCode::usage,
            "caps makes C = alpha*A*B from files that every node sees to one file; leave out "
            "--scatter, --keep-parts and --add, or use --algorithm grid");
    fail_if(job.resume, ErrorCode::usage,
            "caps finishes all of C at the end, so there is nothing to resume; leave out --resume, or use "
            "--algorithm grid");
    fail_if(job.node.options.accuracy == Accuracy::strict, ErrorCode::usage,
            "caps is Strassen's algorithm, and --accuracy strict allows only classical products; leave "
            "one of the two out");
}

JobInputs::JobInputs(const ClusterJob& job, std::int64_t memory_bytes) : JobInputs(job, found(job, memory_bytes)) {}

JobInputs::JobInputs(const ClusterJob& job, const Found& known)
    : a(job.a, known.type, job.transpose_a, rounds_once(job)),
      b(job.b, known.type, job.transpose_b, rounds_once(job)),
      held_bytes(known.held_bytes) {
    validate_factors(job.node.alpha, job.node.beta, a.type());
    if (!job.c0.empty()) {
        c0.emplace(job.c0, known.type, false, rounds_once(job));
    }
    for (const MatrixWindows* other : all()) {
        fail_if(other->stored_type() != a.stored_type(), ErrorCode::input,
                "{} holds {} and another operand {}; all matrices of a product must have the same type", job.a,
                type_name(a.stored_type()), type_name(other->stored_type()));
    }
    fail_if(a.cols() != b.rows(), ErrorCode::input,
            "{} is {} x {} and {} is {} x {} (transposes applied), but the columns of the first must equal the "
            "rows of the second; check the files or --transpose-a and --transpose-b",
            job.a, a.rows(), a.cols(), job.b, b.rows(), b.cols());
    if (c0 && (c0->rows() != a.rows() || c0->cols() != b.cols())) {
        fail(ErrorCode::input, "{} is {} x {}, but the product it is added to is {} x {}", job.c0, c0->rows(),
             c0->cols(), a.rows(), b.cols());
    }
}

std::vector<const MatrixWindows*> JobInputs::all() const {
    std::vector<const MatrixWindows*> files{&a, &b};
    if (c0) {
        files.push_back(&*c0);
    }
    return files;
}

std::vector<FileIdentity> JobInputs::identities() const {
    std::vector<FileIdentity> identities;
    for (const MatrixWindows* file : all()) {
        identities.push_back(file->identity());
    }
    return identities;
}

JobInputs::Found JobInputs::found(const ClusterJob& job, std::int64_t memory_bytes) {
    std::vector<std::string> markets, others;
    for (const std::string& file : {job.a, job.b, job.c0}) {
        if (!file.empty()) {
            (is_matrix_market_name(file) ? markets : others).push_back(file);
        }
    }
    Found known{job.type, 0};
    if (!known.type && !markets.empty()) {
        known.type = others.empty() ? type_of_markets(markets) : read_npy_header(others.front()).type;
    }
    for (const std::string& file : markets) {
        known.held_bytes = checked_add(known.held_bytes, matrix_facts({file, known.type}).bytes);
    }
    fail_if(known.held_bytes > memory_bytes, ErrorCode::resource,
            "every rank reads a Matrix Market file whole, {} bytes in memory, and a rank has {}; give a larger "
            "--memory, start fewer ranks on a node, or save it as .npy",
            known.held_bytes, memory_bytes);
    return known;
}

}  // namespace heptad
