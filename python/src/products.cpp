// C = A * B of arrays, one product or a stack of them.
#include <chrono>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "interruptible.hpp"
#include "module.hpp"
#include "products.hpp"
#include "python_options.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace heptad::python {
namespace {

/// The dimensions before a matrix, those that are walked through alike by A, B and C as one.
struct Stack {
    struct Dimension {
        std::int64_t count = 1, a = 0, b = 0, c = 0;  // and strides, in elements
    };
    std::vector<Dimension> dimensions;  // the innermost last; may be empty
    std::int64_t count = 1;

    Stack(const StridedArray& a, const StridedArray& b, const StridedArray& c) {
        for (int i = 0; i < c.dimensions() - 2; ++i) {
            const Dimension next{c.size(i), a.stride(i), b.stride(i), c.stride(i)};
            count *= next.count;
            if (next.count == 1) {
                continue;
            }
            if (!dimensions.empty()) {
                Dimension& outer = dimensions.back();
                if (outer.a == next.a * next.count && outer.b == next.b * next.count &&
                    outer.c == next.c * next.count) {
                    outer = {outer.count * next.count, next.a, next.b, next.c};
                    continue;
                }
            }
            dimensions.push_back(next);
        }
    }
};

template <class View>
View shifted(const View& view, std::int64_t elements) {
    View result = view;
    using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(view.data)>>, const char, char>;
    result.data = static_cast<Byte*>(view.data) + elements * static_cast<std::int64_t>(element_bytes(view.type));
    return result;
}

void multiply_stack(const Stack& stack, std::size_t dimension, const Scales& scales, const ConstAnyView& a,
                    const ConstAnyView& b, const AnyView& c, const Options& options, const Context& context) {
    if (dimension == stack.dimensions.size()) {
        if (a.conjugate || b.conjugate) {
            multiply(std::complex(scales.alpha), a, b, std::complex(scales.beta), c, options, context);
        } else {
            multiply(scales.alpha, a, b, scales.beta, c, options, context);
        }
        return;
    }
    const Stack::Dimension& walk = stack.dimensions[dimension];
    if (dimension + 1 == stack.dimensions.size()) {
        multiply_strided_batch(scales.alpha, a, walk.a, b, walk.b, scales.beta, c, walk.c, walk.count, options,
                               context);
        return;
    }
    for (std::int64_t i = 0; i < walk.count; ++i) {
        multiply_stack(stack, dimension + 1, scales, shifted(a, i * walk.a), shifted(b, i * walk.b),
                       shifted(c, i * walk.c), options, context);
    }
}

/// Products below this many multiplications take tens of milliseconds: too short for Ctrl-C to matter. Others can spare
/// the 50 us of another thread. The reference and residues are slower by far.
bool may_take_long(std::int64_t multiplications, const Options& options) {
    const bool slow = options.device == "reference" || options.accuracy == Accuracy::exact;
    return multiplications > (slow ? std::int64_t{1} << 20 : std::int64_t{1} << 29);
}

/// A product under way, with the arrays that it reads and writes. They have as many dimensions each, and the same sizes
/// before the last two.
template <class Array>
struct ArrayProduct {
    Array a, b, c;
    Options options;
    Scales scales = {};
    Context context = {};

    /// False: an array has to be copied first.
    bool is_representable() const {
        return a.is_representable() && b.is_representable() && c.is_representable() && takes_result();
    }
    /// The library rounds complex numbers once only in contiguous rows or columns.
    bool takes_result() const {
        const AnyView first = c.matrix();
        const bool is_complex = first.type == Type::c64 || first.type == Type::c128;
        return options.accuracy != Accuracy::exact || !is_complex || first.row_stride == 1 || first.col_stride == 1;
    }
    void carry_out() const {
        const Stack stack(a, b, c);
        if (stack.count > 0) {
            multiply_stack(stack, 0, scales, a.operand(), b.operand(), c.matrix(), options, context);
        }
    }
    /// Saturating: sizes whose product overflows take long in any case.
    std::int64_t multiplications() const {
        const AnyView left = a.matrix(), right = b.matrix();
        std::int64_t result = Stack(a, b, c).count;
        for (const std::int64_t size : {left.rows, left.cols, right.cols}) {
            if (__builtin_mul_overflow(result, size, &result)) {
                return std::numeric_limits<std::int64_t>::max();
            }
        }
        return result;
    }
};

void require_same_stacks(const StridedArray& a, const StridedArray& b, const StridedArray& c) {
    bool same = a.dimensions() == c.dimensions() && b.dimensions() == c.dimensions();
    for (int i = 0; same && i < c.dimensions() - 2; ++i) {
        same = a.size(i) == c.size(i) && b.size(i) == c.size(i);
    }
    if (!same) {
        throw nb::value_error("the arrays are stacks of different shapes; broadcast them first");
    }
}

/// False, and nothing is done, where an array has to be copied first. `c_is_new`: nobody else has C yet.
bool multiply_arrays(const std::string& type_name, nb::handle a, nb::handle b, const std::string& c_type, nb::handle c,
                     bool c_is_new, nb::handle accuracy, nb::handle algorithm, int levels, nb::handle device,
                     std::int64_t workspace_limit) {
    using Product = ArrayProduct<BufferArray>;
    const Type type = type_from_name(type_name);
    const auto product =
        std::shared_ptr<Product>(new Product{{a, type, false},
                                             {b, type, false},
                                             {c, type_from_name(c_type), true},
                                             options_of(accuracy, algorithm, levels, device, workspace_limit)});
    require_same_stacks(product->a, product->b, product->c);
    if (!product->is_representable()) {
        return false;
    }
    if (!may_take_long(product->multiplications(), product->options)) {
        run({.carry_out = [&](const ProgressCallback& /*progress*/) { product->carry_out(); },
             .cancel = {},
             .may_take_long = false});
        return true;
    }
    const CancelToken cancel;
    product->context.set_cancel(cancel);
    run({.carry_out = [product](const ProgressCallback& /*progress*/) { product->carry_out(); },
         .cancel = cancel,
         .may_be_left = c_is_new});
    return true;
}

/// The same of arrays that are told by (address, shape, strides in elements).
bool multiply_at(const std::string& type_name, const nb::tuple& a, const nb::tuple& b, const std::string& c_type,
                 const nb::tuple& c, double alpha, double beta, std::uintptr_t stream, std::uintptr_t workspace,
                 std::int64_t workspace_bytes, int threads, nb::handle accuracy, nb::handle algorithm, int levels,
                 nb::handle device, std::int64_t workspace_limit) {
    const Type type = type_from_name(type_name);
    return multiply_addressed(AddressedArray(a, type), AddressedArray(b, type),
                              AddressedArray(c, type_from_name(c_type)), {alpha, beta},
                              options_of(accuracy, algorithm, levels, device, workspace_limit),
                              {stream, workspace, workspace_bytes, threads});
}

/// Seconds of the calling thread for one product of many in a row, with no Python between them: what heptad.matmul is
/// compared with.
double seconds_of_multiply_at(const std::string& type_name, const nb::tuple& a, const nb::tuple& b, const nb::tuple& c,
                              std::uintptr_t stream, int threads, const std::string& device, int calls) {
    const Type type = type_from_name(type_name);
    const AddressedArray left(a, type), right(b, type), result(c, type);
    Options options;
    options.device = device;
    Context context;
    context.set_stream(reinterpret_cast<void*>(stream)).set_threads(threads);
    const nb::gil_scoped_release release;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) {
        multiply(1.0, left.operand(), right.operand(), 0.0, result.matrix(), options, context);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls;
}

}  // namespace

bool multiply_addressed(const StridedArray& a, const StridedArray& b, const StridedArray& c, const Scales& scales,
                        const Options& options, const Caller& caller) {
    ArrayProduct<const StridedArray&> product{a, b, c, options, scales};
    require_same_stacks(a, b, c);
    if (!product.is_representable()) {
        return false;
    }
    const bool on_device = options.device.starts_with("cuda");
    if (on_device) {
        product.context.set_stream(reinterpret_cast<void*>(caller.stream));
    }
    if (caller.workspace_bytes >= 0) {
        product.context.set_workspace(reinterpret_cast<void*>(caller.workspace), caller.workspace_bytes);
    }
    if (caller.threads > 0) {
        product.context.set_threads(caller.threads);
    }
    const CancelToken cancel;
    const bool takes_long = !on_device && may_take_long(product.multiplications(), product.options);
    if (takes_long) {
        product.context.set_cancel(cancel);
    }
    run({.carry_out = [&](const ProgressCallback& /*progress*/) { product.carry_out(); },
         .cancel = cancel,
         .may_take_long = takes_long});
    return true;
}

void bind_products(nb::module_& module) {
    module.def("multiply", &multiply_arrays, "type"_a, "a"_a, "b"_a, "c_type"_a, "c"_a, "c_is_new"_a,
               "accuracy"_a.none(), "algorithm"_a.none(), "levels"_a, "device"_a.none(), "workspace_limit"_a);
    module.def(
        "is_representable",
        [](const std::string& type, nb::handle array) {
            return BufferArray(array, type_from_name(type), false).is_representable();
        },
        "type"_a, "array"_a);
    module.def("multiply_at", &multiply_at, "type"_a, "a"_a, "b"_a, "c_type"_a, "c"_a, "alpha"_a, "beta"_a, "stream"_a,
               "workspace"_a, "workspace_bytes"_a, "threads"_a, "accuracy"_a.none(), "algorithm"_a.none(), "levels"_a,
               "device"_a.none(), "workspace_limit"_a);
    module.def("seconds_of_multiply_at", &seconds_of_multiply_at, "type"_a, "a"_a, "b"_a, "c"_a, "stream"_a,
               "threads"_a, "device"_a, "calls"_a);
}

}  // namespace heptad::python
