#include "product/request/whole_matrices.hpp"

#include <algorithm>
#include <utility>

#include "base/view.hpp"
#include "check/verify_bits.hpp"
#include "io/bit_file.hpp"
#include "io/matrix_read.hpp"
#include "io/matrix_write.hpp"
#include "product/device/bit_host_operands.hpp"
#include "product/device/device_product.hpp"
#include "product/device/host_operands.hpp"
#include "product/device/over_devices.hpp"
#include "run/bits/bit_product.hpp"

namespace heptad {
namespace {

ConstView oriented(const ConstView& view, bool transpose) {
    return transpose ? transposed(view) : view;
}

}  // namespace

Matrix Numbers::read(FileRole role, const FileHooks& hooks) const {
    switch (role) {
        case FileRole::a:
            return read_matrix(name_of(request_.a, request_, request_.raw_a), hooks);
        case FileRole::b:
            return read_matrix(name_of(request_.b, request_, request_.raw_b), hooks);
        default:
            return read_matrix(name_of(role == FileRole::c0 ? request_.add : request_.output, request_), hooks);
    }
}

Matrix Numbers::copy_of(const Matrix& matrix) {
    Matrix copy(matrix.type(), matrix.rows(), matrix.cols(), matrix.order());
    std::copy_n(static_cast<const std::byte*>(matrix.data()), matrix.size_bytes(),
                static_cast<std::byte*>(copy.data()));
    return copy;
}

RunReport Numbers::multiply(RequestPlan& plan, const Matrix& whole_a, const Matrix& whole_b, Matrix& whole_c,
                            const ProductContext& context) const {
    const ConstView a = oriented(whole_a, request_.transpose_a), b = oriented(whole_b, request_.transpose_b);
    const View c = whole_c.view();
    const double alpha = request_.alpha, beta = request_.beta;
    if (std::holds_alternative<HostPlan>(plan.decided)) {
        return multiply_over_devices(alpha, a, b, beta, c, plan.options, context);
    }
    if (const auto* divided = std::get_if<HostOperandPlan>(&plan.decided)) {
        return multiply_host_operands(alpha, a, b, beta, c, divided->schedule, divided->options, plan.device, context);
    }
    const ProductPlan& whole = std::get<ProductPlan>(plan.decided);
    if (plan.device >= 0) {
        return multiply_on_device(alpha, a, b, beta, c, whole, plan.device, context);
    }
    if (!request_.plan_file.empty()) {
        return multiply_in_memory(alpha, a, b, beta, c, whole, context);
    }
    ProductPlan carried_out;
    const RunReport report = multiply_in_memory(alpha, a, b, beta, c, plan.options, context, &carried_out);
    plan.decided = std::move(carried_out);
    return report;
}

VerifyResult Numbers::verify(const Matrix& a, const Matrix& b, const Matrix& c, const std::optional<Matrix>& c0,
                             VerifyOptions options) const {
    options.alpha = request_.alpha;
    options.beta = request_.beta;
    if (c0) {
        options.c0 = c0->view();
    }
    return heptad::verify(oriented(a, request_.transpose_a), oriented(b, request_.transpose_b), c, options);
}

void Numbers::write(const Matrix& c, const FileHooks& hooks) const {
    write_matrix(request_.output, c, hooks);
}

BitMatrix PackedBits::read(FileRole role, const FileHooks& hooks) const {
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

RunReport PackedBits::multiply(RequestPlan& plan, const BitMatrix& a, const BitMatrix& b, BitMatrix& c,
                               const ProductContext& context) {
    const bool adds = request_.beta != 0;
    const ProgressCallback progress = [&](const Progress& now) { context.hooks.progress({now.fraction, ""}); };
    const RunHooks hooks{progress, context.hooks.cancel};
    if (const auto* on_device = std::get_if<BitDevicePlan>(&plan.decided)) {
        if (request_.count) {
            counts_.emplace(Type::i32, facts_.size.m, facts_.size.n);
            count_host_bits_on_device(*on_device, a, b, static_cast<std::int32_t*>(counts_->data()), facts_.size.n,
                                      plan.device, hooks);
        } else {
            multiply_host_bits_on_device(*on_device, a, b, c.view(), adds, plan.device, hooks);
        }
    } else if (const auto* whole = std::get_if<bits::BitPlan>(&plan.decided)) {
        bits::multiply_bits(*whole, a, b, c.view(), adds, {hooks.cancel, progress});
    } else {
        bits::BitOptions options = bit_options(request_);
        options.host = plan.options.host;
        multiply_bits_over_devices(algebra_, a, b, c.view(), adds, options, context);
    }
    return {};
}

VerifyResult PackedBits::verify(const BitMatrix& a, const BitMatrix& b, const BitMatrix& c,
                                const std::optional<BitMatrix>& c0, const VerifyOptions& options) const {
    return verify_bits(algebra_, a, b, c, c0 ? std::optional<ConstBitView>(*c0) : std::nullopt, options);
}

void PackedBits::write(const BitMatrix& c, const FileHooks& hooks) const {
    if (counts_) {
        write_matrix(request_.output, *counts_, hooks);
    } else {
        write_bits(request_.output, c, request_.columns.has_value(), hooks);
    }
}

}  // namespace heptad
