// Packed bit matrices, with the algebra that @ and ** take place in.
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <heptad/bits.hpp>
#include <heptad/check.hpp>

#include "arrays.hpp"
#include "interruptible.hpp"
#include "module.hpp"
#include "python_options.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace heptad::python {
namespace {

Type algebra_of(const std::string& word) {
    if (word == "gf2") {
        return Type::gf2;
    }
    if (word == "bool") {
        return Type::boolean;
    }
    throw Error(ErrorCode::usage, "'" + word + "' is not an algebra of bits; use gf2 (XOR, AND) or bool (OR, AND)");
}

/// Matrices of Python, kept while work that may be left reads them.
class Kept {
public:
    explicit Kept(nb::handle matrix) : object_(nb::borrow(matrix)), matrix_(&nb::cast<const BitMatrix&>(matrix)) {}
    operator ConstBitView() const { return matrix_->view(); }

private:
    nb::object object_;
    const BitMatrix* matrix_;
};

/// Runs `compute` as long work and returns its result. It owns what it touches.
template <class Compute>
auto computed(Compute compute) {
    using Result = decltype(compute(Context()));
    const CancelToken cancel;
    const auto result = std::make_shared<Result>();
    run({.carry_out =
             [cancel, result, compute = std::move(compute)](const ProgressCallback& /*progress*/) {
                 Context context;
                 context.set_cancel(cancel);
                 *result = compute(context);
             },
         .cancel = cancel,
         .may_be_left = true});
    return std::move(*result);
}

std::int64_t row_bytes(std::int64_t cols) {
    return cols / 8 + (cols % 8 != 0 ? 1 : 0);
}

/// Rows of bytes, the lowest bit first, as numpy.packbits(..., bitorder="little") makes them. Words are little endian
/// on every machine that the library runs on.
BitMatrix from_packed(nb::handle bytes, std::int64_t cols) {
    const BufferArray packed(bytes, Type::boolean, false);
    const AnyView from = packed.matrix();
    if (cols < 0 || from.cols != row_bytes(cols) || (from.cols > 1 && from.col_stride != 1)) {
        throw nb::value_error("rows of packed bits are contiguous and have (columns + 7) // 8 bytes");
    }
    BitMatrix result(from.rows, cols);
    const BitView to = result.view();
    const int rest = static_cast<int>(cols % 8);
    for (std::int64_t i = 0; i < from.rows && cols > 0; ++i) {
        auto* row = reinterpret_cast<unsigned char*>(to.words + i * to.stride);
        std::memcpy(row, static_cast<const unsigned char*>(from.data) + i * from.row_stride,
                    static_cast<std::size_t>(from.cols));
        if (rest != 0) {
            row[from.cols - 1] = static_cast<unsigned char>(row[from.cols - 1] & ((1 << rest) - 1));
        }
    }
    return result;
}

void to_packed(const BitMatrix& matrix, nb::handle bytes) {
    const BufferArray packed(bytes, Type::boolean, true);
    const AnyView to = packed.matrix();
    const ConstBitView from = matrix.view();
    if (to.rows != from.rows || to.cols != row_bytes(from.cols) || (to.cols > 1 && to.col_stride != 1)) {
        throw nb::value_error("rows of packed bits are contiguous and have (columns + 7) // 8 bytes");
    }
    for (std::int64_t i = 0; i < to.rows && to.cols > 0; ++i) {
        std::memcpy(static_cast<unsigned char*>(to.data) + i * to.row_stride, from.words + i * from.stride,
                    static_cast<std::size_t>(to.cols));
    }
}

template <class Operation>
BitMatrix word_by_word(const BitMatrix& x, const BitMatrix& y, Operation operation) {
    if (x.rows() != y.rows() || x.cols() != y.cols()) {
        throw Error(ErrorCode::input, "the matrices are " + std::to_string(x.rows()) + " x " +
                                          std::to_string(x.cols()) + " and " + std::to_string(y.rows()) + " x " +
                                          std::to_string(y.cols()) + "; these operators need equal shapes");
    }
    const nb::gil_scoped_release release;
    BitMatrix result(x.rows(), x.cols());
    const BitView to = result.view();
    const ConstBitView left = x.view(), right = y.view();
    const std::int64_t words = (x.cols() + 63) / 64;
    for (std::int64_t i = 0; i < x.rows(); ++i) {
        for (std::int64_t j = 0; j < words; ++j) {
            to.words[i * to.stride + j] = operation(left.words[i * left.stride + j], right.words[i * right.stride + j]);
        }
    }
    return result;
}

ProductCheck check_bits(const std::string& algebra, nb::handle a, nb::handle b, nb::handle c, bool all_rows,
                        std::optional<std::uint64_t> seed) {
    const Type type = algebra_of(algebra);
    CheckOptions options;
    options.all_rows = all_rows;
    options.seed = seed;
    const auto told = std::make_shared<ProductCheck>();
    run({.carry_out = [told, type, options, a = Kept(a), b = Kept(b), c = Kept(c)](
                          const ProgressCallback& /*progress*/) { *told = check_product(type, a, b, c, options); },
         .cancel = options.cancel,
         .may_be_left = true});
    return *told;
}

}  // namespace

void bind_bits(nb::module_& module) {
    nb::class_<BitMatrix>(module, "Bits")
        .def_static("zeros", [](std::int64_t rows, std::int64_t cols) { return BitMatrix(rows, cols); })
        .def_static("identity", &BitMatrix::identity, "size"_a)
        .def_static("random", &BitMatrix::random, "rows"_a, "cols"_a, "seed"_a, "density"_a,
                    nb::call_guard<nb::gil_scoped_release>())
        .def_static("from_packed", &from_packed, "bytes"_a, "cols"_a)
        .def("to_packed", &to_packed, "bytes"_a)
        .def_prop_ro("rows", &BitMatrix::rows)
        .def_prop_ro("cols", &BitMatrix::cols)
        .def("get", [](const BitMatrix& self, std::int64_t i, std::int64_t j) { return self(i, j); })
        .def("set", [](BitMatrix& self, std::int64_t i, std::int64_t j, bool value) { self.set(i, j, value); })
        .def("count", [](const BitMatrix& self) { return bits::count_ones(self); })
        .def("equals", [](const BitMatrix& self, const BitMatrix& other) { return self == other; })
        .def("transposed", &BitMatrix::transposed, nb::call_guard<nb::gil_scoped_release>())
        .def("xor", [](const BitMatrix& x, const BitMatrix& y) { return word_by_word(x, y, std::bit_xor<>()); })
        .def("or_", [](const BitMatrix& x, const BitMatrix& y) { return word_by_word(x, y, std::bit_or<>()); })
        .def("and_", [](const BitMatrix& x, const BitMatrix& y) { return word_by_word(x, y, std::bit_and<>()); })
        .def("triangles", [](nb::handle self) {
            return computed([graph = Kept(self)](const Context& context) { return count_triangles(graph, context); });
        });
    module.def(
        "multiply_bits",
        [](const std::string& algebra, nb::handle a, nb::handle b, nb::handle device) {
            return computed([type = algebra_of(algebra), a = Kept(a), b = Kept(b),
                             place = word_of(device, "device", "auto")](const Context& context) {
                return bits::product(type, a, b, {.device = place}, context);
            });
        },
        "algebra"_a, "a"_a, "b"_a, "device"_a.none());
    module.def(
        "power_of_bits",
        [](const std::string& algebra, nb::handle a, std::int64_t exponent) {
            return computed([type = algebra_of(algebra), a = Kept(a), exponent](const Context& context) {
                return bits::power(type, a, exponent, {}, context);
            });
        },
        "algebra"_a, "a"_a, "exponent"_a);
    module.def(
        "closure_of_bits",
        [](nb::handle graph, nb::handle device) {
            return computed([graph = Kept(graph), place = word_of(device, "device", "auto")](const Context& context) {
                return bits::transitive_closure(graph, {.device = place}, context);
            });
        },
        "graph"_a, "device"_a.none());
    module.def("verify_bits", &check_bits, "algebra"_a, "a"_a, "b"_a, "c"_a, "all_rows"_a, "seed"_a.none());
}

}  // namespace heptad::python
