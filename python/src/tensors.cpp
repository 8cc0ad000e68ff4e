// Two plain matrices of PyTorch in as few steps as possible: what Python would look up attribute by attribute, in 0.1
// us each and more, is asked here by the C interface of Python, with names that are made once.
#include <cstdint>
#include <optional>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "module.hpp"
#include "products.hpp"
#include "python_options.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace heptad::python {
namespace {

/// Not a tensor that is as simple as it must be here; the general way says what is wrong, or copies.
struct NotPlain {};

/// A new reference, or NotPlain for whatever exception.
nb::object taken(PyObject* result) {
    if (result == nullptr) {
        if (PyErr_ExceptionMatches(PyExc_Exception) == 0) {
            throw nb::python_error();
        }
        PyErr_Clear();
        throw NotPlain();
    }
    return nb::steal(result);
}

/// A name of an attribute or method.
class Name {
public:
    explicit Name(const char* text) : object_(nb::steal(PyUnicode_InternFromString(text))) {}
    nb::object of(nb::handle owner) const { return taken(PyObject_GetAttr(owner.ptr(), object_.ptr())); }
    nb::object called_on(nb::handle owner) const {
        return taken(PyObject_CallMethodNoArgs(owner.ptr(), object_.ptr()));
    }
    nb::object called_on(nb::handle owner, nb::handle argument) const {
        return taken(PyObject_CallMethodOneArg(owner.ptr(), object_.ptr(), argument.ptr()));
    }

private:
    nb::object object_;
};

void require(bool condition) {
    if (!condition) {
        throw NotPlain();
    }
}

class TensorProducts {
public:
    /// raw_stream, is_capturing: None where PyTorch knows no CUDA. least_with_scratch: products of as many
    /// multiplications may need scratch memory of PyTorch's.
    TensorProducts(nb::object tensor, nb::dict names, nb::object raw_stream, nb::object is_capturing,
                   nb::object thread_count, std::int64_t least_with_scratch)
        : tensor_(std::move(tensor)),
          names_(std::move(names)),
          raw_stream_(std::move(raw_stream)),
          is_capturing_(std::move(is_capturing)),
          thread_count_(std::move(thread_count)),
          least_with_scratch_(least_with_scratch) {}

    /// The product, or None: take the general way.
    nb::object multiply(nb::handle a, nb::handle b, const std::string& accuracy, const std::string& algorithm,
                        int levels, const std::string& device, std::int64_t workspace_limit) const {
        try {
            return multiply_plain(a, b, options_of(accuracy, algorithm, levels, device, workspace_limit));
        } catch (const NotPlain&) {
            return nb::none();
        }
    }

private:
    nb::object multiply_plain(nb::handle a, nb::handle b, Options options) const {
        require(a.type().is(tensor_) && b.type().is(tensor_));
        const nb::object dtype = dtype_name_.of(a);
        PyObject* const name = PyDict_GetItemWithError(names_.ptr(), dtype.ptr());
        require(name != nullptr && dtype_name_.of(b).is(dtype));
        const Type type = type_from_name(PyUnicode_AsUTF8(name));
        const AddressedArray left = plain_matrix(a, type), right = plain_matrix(b, type);
        const std::int64_t m = left.size(0), k = left.size(1), n = right.size(1);
        require(right.size(0) == k && m > 0 && k > 0 && n > 0 && left.is_representable() && right.is_representable());
        const long index = nb::cast<long>(get_device_.called_on(a));
        require(nb::cast<long>(get_device_.called_on(b)) == index);
        Caller caller;
        if (is_cuda_.of(a).is(Py_True)) {
            const double work = static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
            require(work < static_cast<double>(least_with_scratch_) && options.device.find(',') == std::string::npos);
            require(taken(PyObject_CallNoArgs(is_capturing_.ptr())).is(Py_False));
            caller.stream =
                nb::cast<std::uintptr_t>(taken(PyObject_CallOneArg(raw_stream_.ptr(), nb::int_(index).ptr())));
            if (options.device == "auto") {
                options.device = "cuda:" + std::to_string(index);
            }
        } else {
            require(is_cpu_.of(a).is(Py_True));
            caller.threads = nb::cast<int>(taken(PyObject_CallNoArgs(thread_count_.ptr())));
        }
        nb::object c = new_empty_.called_on(a, nb::make_tuple(m, n));
        const AddressedArray result(address_of(c), m, n, type);
        require(multiply_addressed(left, right, result, {}, options, caller));
        return c;
    }

    /// Sparse tensors, and those that stand for others, have no strides or no address, which is an exception.
    AddressedArray plain_matrix(nb::handle tensor, Type type) const {
        require(requires_grad_.of(tensor).is(Py_False) && is_neg_.called_on(tensor).is(Py_False));
        const nb::object shape = shape_.of(tensor), strides = stride_.called_on(tensor);
        require(PyTuple_Check(shape.ptr()) && PyTuple_GET_SIZE(shape.ptr()) == 2);
        const bool is_complex = type == Type::c64 || type == Type::c128;
        return AddressedArray(address_of(tensor), shape, strides, type,
                              is_complex && is_conj_.called_on(tensor).is(Py_True));
    }

    std::uintptr_t address_of(nb::handle tensor) const { return nb::cast<std::uintptr_t>(data_ptr_.called_on(tensor)); }

    nb::object tensor_;
    nb::dict names_;
    nb::object raw_stream_, is_capturing_, thread_count_;
    std::int64_t least_with_scratch_;
    Name dtype_name_{"dtype"}, shape_{"shape"}, stride_{"stride"}, data_ptr_{"data_ptr"}, is_cuda_{"is_cuda"},
        is_cpu_{"is_cpu"}, is_neg_{"is_neg"}, is_conj_{"is_conj"}, requires_grad_{"requires_grad"},
        get_device_{"get_device"}, new_empty_{"new_empty"};
};

}  // namespace

void bind_tensors(nb::module_& module) {
    nb::class_<TensorProducts>(module, "TensorProducts")
        .def(nb::init<nb::object, nb::dict, nb::object, nb::object, nb::object, std::int64_t>(), "tensor"_a, "names"_a,
             "raw_stream"_a.none(), "is_capturing"_a.none(), "thread_count"_a, "least_with_scratch"_a)
        .def("multiply", &TensorProducts::multiply, "a"_a, "b"_a, "accuracy"_a, "algorithm"_a, "levels"_a, "device"_a,
             "workspace_limit"_a);
}

}  // namespace heptad::python
