// The matrices of a request that is carried out in memory: what differs between numbers and packed bits.
#pragma once

#include <optional>

#include <heptad/bits.hpp>

#include "base/matrix.hpp"
#include "product/request/report.hpp"

namespace heptad {

enum class FileRole : std::uint8_t { a, b, c0, result };

class Numbers {
public:
    using Whole = Matrix;
    Numbers(const Request& request, const OperandFacts& facts) : request_(request), facts_(facts) {}

    Matrix read(FileRole role, const FileHooks& hooks) const;
    Matrix empty_result() const { return {facts_.type, facts_.size.m, facts_.size.n}; }
    static Matrix copy_of(const Matrix& matrix);
    /// c = alpha * op(a) * op(b) + beta * c. The plan becomes the one that was carried out: another one where memory
    /// ran short meanwhile.
    RunReport multiply(RequestPlan& plan, const Matrix& a, const Matrix& b, Matrix& c,
                       const ProductContext& context) const;
    VerifyResult verify(const Matrix& a, const Matrix& b, const Matrix& c, const std::optional<Matrix>& c0,
                        VerifyOptions options) const;
    void write(const Matrix& c, const FileHooks& hooks) const;

private:
    const Request& request_;
    const OperandFacts& facts_;
};

class PackedBits {
public:
    using Whole = BitMatrix;
    PackedBits(const Request& request, Type algebra, const BitFacts& facts)
        : request_(request), algebra_(algebra), facts_(facts) {}

    BitMatrix read(FileRole role, const FileHooks& hooks) const;
    /// None where ones are counted.
    BitMatrix empty_result() const { return request_.count ? BitMatrix() : BitMatrix(facts_.size.m, facts_.size.n); }
    static BitMatrix copy_of(const BitMatrix& matrix) { return matrix; }
    RunReport multiply(RequestPlan& plan, const BitMatrix& a, const BitMatrix& b, BitMatrix& c,
                       const ProductContext& context);
    VerifyResult verify(const BitMatrix& a, const BitMatrix& b, const BitMatrix& c, const std::optional<BitMatrix>& c0,
                        const VerifyOptions& options) const;
    void write(const BitMatrix& c, const FileHooks& hooks) const;

private:
    const Request& request_;
    const Type algebra_;
    const BitFacts& facts_;
    std::optional<Matrix> counts_;
};

}  // namespace heptad
