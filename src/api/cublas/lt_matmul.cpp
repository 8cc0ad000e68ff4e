// cublasLtMatmul: D = alpha * op(A) op(B) + beta * C, and with a bias, which is what PyTorch's nn.Linear asks for. What
// is asked stands in descriptors; those that say anything that we do not know are for the library.
#include "api/cublas/cublas_takeover.hpp"
#include "api/cublas/device_gemm.hpp"
#include "base/types.hpp"

namespace heptad::cublas {
namespace {

/// An attribute, or `otherwise` where the library has none of that name or size.
template <class T>
T attribute(GetAttribute get, const void* described, int which, T otherwise) {
    T value{};
    std::size_t written = 0;
    return get(described, which, &value, sizeof(value), &written) == kSuccess && written == sizeof(value) ? value
                                                                                                          : otherwise;
}

struct Layout {
    int type = -1;
    std::int32_t order = -1;
    std::int64_t rows = 0, cols = 0, leading = 0, distance = 0;
    std::int32_t count = 0;
};

struct LayoutReader {
    GetAttribute get;

    std::int64_t rows(const void* layout) const {
        return static_cast<std::int64_t>(attribute<std::uint64_t>(get, layout, kLayoutRows, 0));
    }
    std::int64_t cols(const void* layout) const {
        return static_cast<std::int64_t>(attribute<std::uint64_t>(get, layout, kLayoutCols, 0));
    }
    Layout all(const void* layout) const {
        return {attribute(get, layout, kLayoutType, -1),
                attribute<std::int32_t>(get, layout, kLayoutOrder, -1),
                rows(layout),
                cols(layout),
                attribute<std::int64_t>(get, layout, kLayoutLeading, 0),
                attribute<std::int64_t>(get, layout, kLayoutBatchOffset, 0),
                attribute<std::int32_t>(get, layout, kLayoutBatchCount, 0)};
    }
};

int scale_type(Type type) {
    return type == Type::f64 ? kR64F : type == Type::c64 ? kC32F : type == Type::c128 ? kC64F : kR32F;
}

/// The arguments of cublasLtMatmul that describe the product.
struct LtCall {
    const void* described;
    const void* alpha;
    const void *a, *a_layout, *b, *b_layout;
    const void* beta;
    const void *c, *c_layout;
    void* d;
    const void* d_layout;
};

/// Nothing: it is for the library.
std::optional<GemmCall> gemm_of(const LtCall& call, GetAttribute get_of_product, const LayoutReader& reader) {
    const auto number = [&](int which, std::int32_t otherwise) {
        return attribute(get_of_product, call.described, which, otherwise);
    };
    const Layout a = reader.all(call.a_layout), b = reader.all(call.b_layout), d = reader.all(call.d_layout);
    const std::optional<Type> type = product_type(a.type, b.type, d.type, number(kDescComputeType, -1));
    const bool is_usual = number(kDescPointerMode, -1) == kPointersToHost && number(kDescTransC, kOpN) == kOpN &&
                          number(kDescSmCountTarget, 0) == 0 && a.order == kOrderColumns && b.order == kOrderColumns &&
                          d.order == kOrderColumns && a.count == d.count && b.count == d.count;
    if (!type || !is_usual || number(kDescScaleType, -1) != scale_type(*type)) {
        return std::nullopt;
    }
    GemmCall gemm;
    gemm.entry = Function::cublasLtMatmul;
    gemm.type = *type;
    gemm.op_a = number(kDescTransA, kOpN);
    gemm.op_b = number(kDescTransB, kOpN);
    gemm.m = d.rows;
    gemm.n = d.cols;
    gemm.k = gemm.op_a == kOpN ? a.cols : a.rows;
    gemm.alpha = call.alpha;
    gemm.beta = call.beta;
    gemm.a = {call.a, a.leading, a.distance};
    gemm.b = {call.b, b.leading, b.distance};
    gemm.c = {call.d, d.leading, d.distance};
    gemm.count = d.count;
    const bool fits = (gemm.op_a == kOpN ? a.rows : a.cols) == gemm.m &&
                      (gemm.op_b == kOpN ? b.rows : b.cols) == gemm.k &&
                      (gemm.op_b == kOpN ? b.cols : b.rows) == gemm.n;
    if (!fits) {
        return std::nullopt;
    }
    if (scalar_of(call.beta, gemm.type) != 0.0) {  // C counts: it must be D
        const Layout c = reader.all(call.c_layout);
        if (call.c != call.d || c.type != d.type || c.order != d.order || c.leading != d.leading ||
            c.distance != d.distance || c.count != d.count) {
            return std::nullopt;
        }
    }
    const auto epilogue = attribute<std::uint32_t>(get_of_product, call.described, kDescEpilogue, 0);
    if (epilogue == kEpilogueBias && gemm.count == 1 && !is_complex(gemm.type)) {
        gemm.bias = attribute<const void*>(get_of_product, call.described, kDescBiasPointer, nullptr);
        const std::int32_t bias_type = number(kDescBiasDataType, -1);  // -1: that of D
        if (gemm.bias == nullptr || (bias_type != -1 && bias_type != d.type)) {
            return std::nullopt;
        }
    } else if (epilogue != kEpilogueNone) {
        return std::nullopt;
    }
    return gemm;
}

std::optional<Status> take_over(CallingObject& caller, const LtCall& call, void* stream) {
    if (drop_in::PassOn::is_on() || caller.is_cublas() || call.a_layout == nullptr || call.d_layout == nullptr) {
        return std::nullopt;
    }
    const LayoutReader reader{caller.function<GetAttribute>(Function::cublasLtMatrixLayoutGetAttribute)};
    const auto get_of_product = caller.function<GetAttribute>(Function::cublasLtMatmulDescGetAttribute);
    if (reader.get == nullptr || get_of_product == nullptr) {
        return std::nullopt;
    }
    const std::int64_t m = reader.rows(call.d_layout), n = reader.cols(call.d_layout);
    const std::int64_t in_a = reader.rows(call.a_layout) * reader.cols(call.a_layout);
    if (m <= 0 || is_small_in_all_types(m, n, in_a / m)) {
        return std::nullopt;
    }
    const std::optional<GemmCall> gemm = gemm_of(call, get_of_product, reader);
    return gemm && !is_small(gemm->type, gemm->m, gemm->n, gemm->k) ? multiply_fast(caller, *gemm, stream)
                                                                    : std::nullopt;
}

}  // namespace

extern "C" HEPTAD_API Status cublasLtMatmul(Handle handle, const void* described, const void* alpha, const void* a,
                                            const void* a_layout, const void* b, const void* b_layout, const void* beta,
                                            const void* c, const void* c_layout, void* d, const void* d_layout,
                                            const void* algorithm, void* workspace, std::size_t workspace_bytes,
                                            void* stream) {
    CallingObject& caller = calling_object(__builtin_return_address(0));
    const std::optional<Status> status =
        take_over(caller, {described, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout}, stream);
    return status ? *status
                  : caller.pass_on(Function::cublasLtMatmul, handle, described, alpha, a, a_layout, b, b_layout, beta,
                                   c, c_layout, d, d_layout, algorithm, workspace, workspace_bytes, stream);
}

}  // namespace heptad::cublas
