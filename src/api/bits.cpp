// The C++ interface of packed bit matrices: thin shells over src/run/bits.
#include <heptad/bits.hpp>

#include "api/context.hpp"
#include "base/error.hpp"
#include "base/errors_only.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/bit_cuda_product.hpp"
#include "product/device/device_choice.hpp"
#include "product/device/device_list.hpp"
#include "product/device/over_devices.hpp"
#include "run/bits/bit_chain.hpp"
#include "run/bits/bit_graph.hpp"

namespace heptad {
namespace {

bits::BitContext bit_context(const Context& context) {
    const ProductContext given = product_context(context);
    return {effective_threads(given), given.hooks, given.workspace, given.workspace_bytes};
}

NamedMatrix named(const char* name, const ConstBitView& view) {
    return {name, view.words, view.rows == 0 || view.cols == 0};
}

/// With the device that the matrices lie on, where it was left open.
bits::BitOptions placed(const bits::BitOptions& given, const Context& context,
                        std::initializer_list<NamedMatrix> matrices) {
    bits::BitOptions options = with_device(given, context);
    if (const auto device = device_of_matrices(options.device, matrices)) {
        options.device = *device;
    }
    return options;
}

/// What has no way over several devices, and names that are none.
void require_processor(const bits::BitOptions& options) {
    if (options.device != "auto" && options.device != "cpu") {
        fail(ErrorCode::usage, "this runs on the processor, not on '{}'; set the device to auto", options.device);
    }
}

void multiply_anywhere(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitView& c, bool accumulate,
                       const bits::BitOptions& given, const Context& context) try {
    const bits::BitOptions options = placed(given, context, {named("A", a), named("B", b), named("C", c)});
    if (is_device_list(options.device)) {
        multiply_bits_over_devices(algebra, a, b, c, accumulate, options, product_context(context));
        return;
    }
    if (cuda::is_device_name(options.device)) {
        multiply_bits_on_cuda(algebra, a, b, c, accumulate, options, product_context(context));
        return;
    }
    require_processor(options);
    bits::multiply_bits(algebra, a, b, c, accumulate, options, bit_context(context));
} catch (...) {
    rethrow_as_error();
}

}  // namespace

namespace bits {

void multiply(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitView& c, const BitOptions& options,
              const Context& context) {
    multiply_anywhere(algebra, a, b, c, false, options, context);
}

void multiply_add(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitView& c,
                  const BitOptions& options, const Context& context) {
    multiply_anywhere(algebra, a, b, c, true, options, context);
}

BitMatrix product(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitOptions& options,
                  const Context& context) try {
    BitMatrix c(a.rows, b.cols);
    multiply(algebra, a, b, c.view(), options, context);
    return c;
} catch (...) {
    rethrow_as_error();
}

BitMatrix chain_product(Type algebra, const std::vector<ConstBitView>& factors, const BitOptions& options,
                        const Context& context) try {
    require_processor(with_device(options, context));
    for (const ConstBitView& factor : factors) {
        require_processor(placed(options, context, {named("a factor", factor)}));
    }
    return multiply_chain(algebra, factors, options, bit_context(context));
} catch (...) {
    rethrow_as_error();
}

BitMatrix power(Type algebra, const ConstBitView& a, std::int64_t exponent, const BitOptions& options,
                const Context& context) try {
    require_processor(placed(options, context, {named("A", a)}));
    return raise(algebra, a, exponent, options, bit_context(context));
} catch (...) {
    rethrow_as_error();
}

BitMatrix transitive_closure(const ConstBitView& graph, const Context& context) {
    return transitive_closure(graph, {}, context);
}

BitMatrix transitive_closure(const ConstBitView& graph, const BitOptions& given, const Context& context) try {
    const BitOptions options = placed(given, context, {named("the graph", graph)});
    if (cuda::is_device_name(options.device)) {
        return close_on_cuda(graph, options, product_context(context));
    }
    require_processor(options);
    require_view(graph, "the graph");
    BitMatrix result = BitMatrix::copy_of(graph);
    close_transitively(result.view(), bit_context(context), options.leaf);
    return result;
} catch (...) {
    rethrow_as_error();
}

Plan plan(Type algebra, ProblemSize size, const BitOptions& given, const Context& context) try {
    const BitOptions options = with_device(given, context);
    if (is_device_list(options.device)) {
        return make_plan_handle(
            make_bit_plan_over_devices(algebra, size, false, options, product_context(context)).plan);
    }
    if (cuda::is_device_name(options.device)) {
        return make_plan_handle(plan_bits_on_cuda(algebra, size, options, product_context(context)),
                                cuda::device_index(options.device));
    }
    require_processor(options);
    return make_plan_handle(make_bit_plan(algebra, size, options, bit_context(context)));
} catch (...) {
    rethrow_as_error();
}

}  // namespace bits

std::int64_t count_triangles(const ConstBitView& graph, const Context& context) try {
    require_processor(placed({}, context, {named("the graph", graph)}));
    return bits::triangles(graph, bit_context(context));
} catch (...) {
    rethrow_as_error();
}

}  // namespace heptad
