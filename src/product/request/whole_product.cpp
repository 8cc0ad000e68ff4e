// A request that is carried out in memory: read, multiply, verify, write. Numbers and packed bits differ in each of
// these, and not in their order.
#include "product/request/routes.hpp"

#include <algorithm>
#include <utility>

#include "base/complex_as_real.hpp"
#include "base/matrix.hpp"
#include "base/timing.hpp"
#include "base/view.hpp"
#include "check/verify_bits.hpp"
#include "io/bit_file.hpp"
#include "io/whole_matrix.hpp"
#include "plan/predict/error_bound.hpp"
#include "product/device/bit_host_operands.hpp"
#include "product/device/device_product.hpp"
#include "product/device/host_operands.hpp"
#include "product/device/over_devices.hpp"
#include "run/bits/bit_product.hpp"

namespace heptad {
namespace {

enum class FileRole : std::uint8_t { a, b, c0, result };

ConstView oriented(const ConstView& view, bool transpose, bool conjugate) {
    return conjugated(transpose ? transposed(view) : view, conjugate);
}

class Numbers {
public:
    using Whole = Matrix;
    Numbers(const Request& request, const OperandFacts& facts) : request_(request), facts_(facts) {}

    Matrix empty_result() const { return {facts_.type, facts_.size.m, facts_.size.n}; }

    Matrix read(FileRole role, const FileHooks& hooks) const {
        switch (role) {
            case FileRole::a:
                return read_matrix(name_of(request_.a, request_, request_.raw_a), hooks);
            case FileRole::b:
                return read_matrix(name_of(request_.b, request_, request_.raw_b), hooks);
            default:
                return read_matrix(name_of(role == FileRole::c0 ? request_.add : request_.output, request_), hooks);
        }
    }

    static Matrix copy_of(const Matrix& matrix) {
        Matrix copy(matrix.type(), matrix.rows(), matrix.cols(), matrix.order());
        std::copy_n(static_cast<const std::byte*>(matrix.data()), matrix.size_bytes(),
                    static_cast<std::byte*>(copy.data()));
        return copy;
    }

    /// The plan becomes the one that was carried out: another one where memory ran short meanwhile.
    RunReport multiply(RequestPlan& plan, const Matrix& whole_a, const Matrix& whole_b, Matrix& whole_c,
                       const ProductContext& context) const {
        const ConstView a = oriented(whole_a, request_.transpose_a, request_.conjugate_a);
        const ConstView b = oriented(whole_b, request_.transpose_b, request_.conjugate_b);
        const View c = whole_c.view();
        const Factor alpha = request_.alpha, beta = request_.beta;
        if (plan.over) {
            return multiply_over_devices(alpha, a, b, beta, c, plan.decided, context);
        }
        if (plan.divided) {
            return multiply_host_operands(alpha, a, b, beta, c, plan.divided->schedule, plan.divided->options,
                                          plan.device, context);
        }
        if (plan.device >= 0) {
            return multiply_on_device(alpha, a, b, beta, c, plan.decided, plan.device, context);
        }
        return request_.plan_file.empty()
                   ? multiply_in_memory(alpha, a, b, beta, c, plan.options, context, &plan.decided)
                   : multiply_in_memory(alpha, a, b, beta, c, plan.decided, context);
    }

    VerifyResult verify(const Matrix& a, const Matrix& b, const Matrix& c, const std::optional<Matrix>& c0,
                        VerifyOptions options) const {
        options.set_factors(request_.alpha, request_.beta);
        if (c0) {
            options.c0 = c0->view();
        }
        return heptad::verify(oriented(a, request_.transpose_a, request_.conjugate_a),
                              oriented(b, request_.transpose_b, request_.conjugate_b), c, options);
    }

    void write(const Matrix& c, const FileHooks& hooks) const { write_matrix(request_.output, c, hooks); }

private:
    const Request& request_;
    const OperandFacts& facts_;
};

class PackedBits {
public:
    using Whole = BitMatrix;
    PackedBits(const Request& request, const OperandFacts& facts) : request_(request), facts_(facts) {}

    /// None where ones are counted.
    BitMatrix empty_result() const { return request_.count ? BitMatrix() : BitMatrix(facts_.size.m, facts_.size.n); }
    static BitMatrix copy_of(const BitMatrix& matrix) { return matrix; }

    BitMatrix read(FileRole role, const FileHooks& hooks) const {
        const auto whole = [&](const std::string& path, std::optional<std::int64_t> columns, bool transpose) {
            BitMatrix matrix = read_bits(path, columns, hooks);
            return transpose ? matrix.transposed() : std::move(matrix);
        };
        switch (role) {
            case FileRole::a:
                return whole(request_.a, facts_.columns_a, request_.transpose_a);
            case FileRole::b:
                return whole(request_.b, facts_.columns_b, request_.transpose_b);
            default:
                return whole(role == FileRole::c0 ? request_.add : request_.output, facts_.columns_c, false);
        }
    }

    RunReport multiply(RequestPlan& plan, const BitMatrix& a, const BitMatrix& b, BitMatrix& c,
                       const ProductContext& context) {
        const bool adds = request_.beta != 0.0;
        const ProgressCallback progress = [&](const Progress& now) { context.hooks.progress({now.fraction, ""}); };
        const RunHooks hooks{context.hooks.cancel, progress};
        if (plan.over) {
            multiply_bits_over_devices(plan.decided, a, b, c.view(), adds, context);
        } else if (plan.device < 0) {
            bits::multiply_bits(plan.decided, a, b, c.view(), adds, hooks);
        } else if (request_.count) {
            counts_.emplace(Type::i32, facts_.size.m, facts_.size.n);
            count_host_bits_on_device(plan.decided, a, b, static_cast<std::int32_t*>(counts_->data()), facts_.size.n,
                                      plan.device, hooks);
        } else {
            multiply_host_bits_on_device(plan.decided, a, b, c.view(), adds, plan.device, hooks);
        }
        return {};
    }

    VerifyResult verify(const BitMatrix& a, const BitMatrix& b, const BitMatrix& c, const std::optional<BitMatrix>& c0,
                        const VerifyOptions& options) const {
        return verify_bits(facts_.type, a, b, c, c0 ? std::optional<ConstBitView>(*c0) : std::nullopt, options);
    }

    void write(const BitMatrix& c, const FileHooks& hooks) const {
        if (counts_) {
            write_matrix(request_.output, *counts_, hooks);
        } else {
            write_bits(request_.output, c, request_.columns.has_value(), hooks);
        }
    }

private:
    const Request& request_;
    const OperandFacts& facts_;
    std::optional<Matrix> counts_;
};

/// A plan from a file does not say what it was made for: one that grows errors by more than `balanced` allows is fast.
/// Growth is measured on even data; others may need what the built-in figure allows.
check::JudgedBy judged_by(const Request& request, const RequestPlan& plan) {
    const double measured = plan.growth();
    const double growth = measured > 0 ? std::max(measured, expected_growth(plan.decided.levels)) : measured;
    return {!request.plan_file.empty() && growth > check::kBalancedGrowth ? Accuracy::fast : request.options.accuracy,
            growth};
}

template <class Matrices>
Report multiply_matrices(Matrices matrices, const Request& request, RequestPlan plan, const RequestHooks& hooks) {
    const auto stage = [&](const char* name) { return stage_hooks(hooks, name, request.threads); };
    stop_if_cancelled(hooks);
    const auto a = matrices.read(FileRole::a, stage("read A"));
    const auto b = matrices.read(FileRole::b, stage("read B"));
    const bool adds = request.beta != 0.0;
    auto c = adds ? matrices.read(FileRole::c0, stage("read C0")) : matrices.empty_result();
    std::optional<typename Matrices::Whole> c0;
    if (adds && request.verify) {
        c0 = Matrices::copy_of(c);
    }
    stop_if_cancelled(hooks);
    Report report;
    hooks.begin("multiply", operation_count(plan.size, plan.type), plan.type);
    const auto start = Clock::now();
    report.products = matrices.multiply(plan, a, b, c, stage_context(hooks, request.threads));
    report.multiply_s = seconds_since(start);
    if (request.verify) {
        hooks.begin("verify");
        VerifyOptions options;
        options.by = judged_by(request, plan);
        options.threads = request.threads;
        options.cancel = hooks.cancel;
        report.verified = matrices.verify(a, b, c, c0, options);
        hooks.end();
        require_passed(*report.verified, "the result", "; " + request.output + " was not written");
    }
    stop_if_cancelled(hooks);
    matrices.write(c, stage("write C"));
    hooks.end();
    report.plan = std::move(plan);
    return report;
}

template <class Matrices>
VerifyResult verify_matrices(const Matrices& matrices, const Request& request, VerifyOptions options,
                             const RequestHooks& hooks) {
    const auto stage = [&](const char* name) { return stage_hooks(hooks, name, request.threads); };
    const auto a = matrices.read(FileRole::a, stage("read A"));
    const auto b = matrices.read(FileRole::b, stage("read B"));
    const auto c = matrices.read(FileRole::result, stage("read C"));
    std::optional<typename Matrices::Whole> c0;
    if (request.beta != 0.0) {
        c0 = matrices.read(FileRole::c0, stage("read C0"));
    }
    hooks.begin("verify");
    options.threads = request.threads;
    options.cancel = hooks.cancel;
    VerifyResult result = matrices.verify(a, b, c, c0, options);
    hooks.end();
    return result;
}

}  // namespace

void require_passed(const VerifyResult& result, const std::string& subject, const std::string& consequence) {
    if (result.passed()) {
        return;
    }
    std::string sentence =
        fmt::format("{} {}", subject, result.verdict == Verdict::failed ? "is not the product" : "cannot be verified");
    if (!result.explanation.empty()) {
        sentence += ": " + result.explanation;
    }
    while (!sentence.empty() && sentence.back() == '.') {
        sentence.pop_back();
    }
    throw NotVerified(sentence + consequence, result);
}

Report multiply_whole(const Request& request, const OperandFacts& facts, RequestPlan plan, const RequestHooks& hooks) {
    return facts.packed ? multiply_matrices(PackedBits(request, facts), request, std::move(plan), hooks)
                        : multiply_matrices(Numbers(request, facts), request, std::move(plan), hooks);
}

VerifyResult verify_whole(const Request& request, const OperandFacts& facts, const VerifyOptions& options,
                          const RequestHooks& hooks) {
    return facts.packed ? verify_matrices(PackedBits(request, facts), request, options, hooks)
                        : verify_matrices(Numbers(request, facts), request, options, hooks);
}

}  // namespace heptad
