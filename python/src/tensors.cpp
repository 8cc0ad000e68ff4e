// Two plain matrices of PyTorch in as few steps as possible: what Python would look up attribute by attribute, in 0.1
// us each, a library with DLPack's C exchange interface (PyTorch from 2.10 on) tells in one call.
#include <dlfcn.h>

#include <cstdint>
#include <map>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "module.hpp"
#include "products.hpp"
#include "python_options.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace heptad::python {
namespace {

/// DLPackExchangeAPI of DLPack 1: the functions that are not called here are names only.
struct ExchangeInterface {
    std::uint32_t major, minor;
    const ExchangeInterface* previous;
    void (*allocate)();
    void (*managed_from_object)();
    void (*managed_to_object)();
    int (*tensor_from_object)(void* object, nb::dlpack::dltensor* told);  // may be null
    int (*current_stream)(std::int32_t device_kind, std::int32_t device, void** stream);
};
constexpr std::int32_t kHost = 1, kCuda = 2;

/// Asks the driver that the tensors' library has loaded; PyTorch's own function takes Python 0.3 us.
bool may_be_captured(void* stream) {
    using IsCapturing = int (*)(void* stream, int* status);
    static const auto is_capturing = [] {
        void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        return driver != nullptr ? reinterpret_cast<IsCapturing>(dlsym(driver, "cuStreamIsCapturing")) : nullptr;
    }();
    int status = 0;
    return is_capturing == nullptr || is_capturing(stream, &status) != 0 || status != 0;
}

/// Null: the type has none that we know.
const ExchangeInterface* exchange_interface_of(nb::handle type) {
    const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
    const char* const name = "dlpack_exchange_api";
    const auto* found = PyCapsule_IsValid(capsule.ptr(), name) != 0
                            ? static_cast<const ExchangeInterface*>(PyCapsule_GetPointer(capsule.ptr(), name))
                            : nullptr;
    while (found != nullptr && found->major > 1) {
        found = found->previous;
    }
    return found != nullptr && found->tensor_from_object != nullptr && found->current_stream != nullptr ? found
                                                                                                        : nullptr;
}

/// Not a tensor that is as simple as it must be here; the general way says what is wrong, or copies.
struct NotPlain {};

void require(bool condition) {
    if (!condition) {
        throw NotPlain();
    }
}

/// An exception of Python is NotPlain, unless it is one that ends the program.
void require_success(bool succeeded) {
    if (!succeeded) {
        if (PyErr_ExceptionMatches(PyExc_Exception) == 0) {
            throw nb::python_error();
        }
        PyErr_Clear();
        throw NotPlain();
    }
}

nb::object taken(PyObject* result) {
    require_success(result != nullptr);
    return nb::steal(result);
}

/// A name of an attribute or method, made once.
class Name {
public:
    explicit Name(const char* text) : object_(nb::steal(PyUnicode_InternFromString(text))) {}
    nb::object of(nb::handle owner) const { return taken(PyObject_GetAttr(owner.ptr(), object_.ptr())); }
    nb::object called_on(nb::handle owner) const {
        return taken(PyObject_CallMethodNoArgs(owner.ptr(), object_.ptr()));
    }
    nb::object called_on(nb::handle owner, std::int64_t first, std::int64_t second) const {
        const nb::object numbers[] = {nb::cast(first), nb::cast(second)};
        PyObject* const arguments[] = {owner.ptr(), numbers[0].ptr(), numbers[1].ptr()};
        return taken(PyObject_VectorcallMethod(object_.ptr(), arguments, 3, nullptr));
    }

private:
    nb::object object_;
};

Type type_of(const nb::dlpack::dtype& dtype) {
    using Code = nb::dlpack::dtype_code;
    struct Known {
        Code code;
        std::uint8_t bits;
        Type type;
    };
    constexpr Known kTypes[] = {
        {Code::Float, 32, Type::f32},   {Code::Float, 64, Type::f64},   {Code::Float, 16, Type::f16},
        {Code::Bfloat, 16, Type::bf16}, {Code::Complex, 64, Type::c64}, {Code::Complex, 128, Type::c128},
        {Code::Int, 32, Type::i32},     {Code::Int, 64, Type::i64},     {Code::Bool, 8, Type::boolean}};
    for (const Known& known : kTypes) {
        if (dtype.code == static_cast<std::uint8_t>(known.code) && dtype.bits == known.bits && dtype.lanes == 1) {
            return known.type;
        }
    }
    throw NotPlain();
}

nb::dlpack::dltensor told_by(const ExchangeInterface& library, nb::handle tensor) {
    nb::dlpack::dltensor told{};
    require_success(library.tensor_from_object(tensor.ptr(), &told) == 0);
    require(told.ndim == 2 && told.strides != nullptr);
    return told;
}

/// A matrix as DLPack tells it. Its owner keeps it, shape and strides included.
class ToldArray : public StridedArray {
public:
    bool is_conjugated() const { return conjugate_; }
    const char* begin() const { return static_cast<const char*>(data_); }
    /// Precondition: is_representable().
    const char* end() const {
        const std::int64_t last = (size(0) - 1) * stride(0) + (size(1) - 1) * stride(1);
        return begin() + (last + 1) * static_cast<std::int64_t>(element_bytes(type()));
    }
    ToldArray(const nb::dlpack::dltensor& told, bool conjugate) : StridedArray(type_of(told.dtype)) {
        data_ = static_cast<char*>(told.data) + told.byte_offset;
        dimensions_ = told.ndim;
        shape_ = told.shape;
        strides_ = told.strides;
        conjugate_ = conjugate;
    }
};

bool may_overlap(const ToldArray& x, const ToldArray& y) {
    return x.begin() < y.end() && y.begin() < x.end();
}

class TensorProducts {
public:
    /// names: of the types, by PyTorch's. allocators: by DLPack's kinds of devices, functions of sizes, strides and a
    /// type that make a tensor on the current device of that kind, in half the time of new_empty(); may be empty.
    /// least_with_scratch: products of as many multiplications may need scratch memory of PyTorch's.
    TensorProducts(nb::object tensor, const nb::dict& names, const nb::dict& allocators, nb::object thread_count,
                   std::int64_t least_with_scratch)
        : tensor_(std::move(tensor)),
          library_(exchange_interface_of(tensor_)),
          thread_count_(std::move(thread_count)),
          least_with_scratch_(least_with_scratch) {
        for (const auto [type, name] : names) {
            types_[type_from_name(nb::cast<std::string>(name))] = nb::borrow(type);
        }
        for (const auto [kind, allocate] : allocators) {
            allocators_[nb::cast<std::int32_t>(kind)] = nb::borrow(allocate);
        }
    }

    /// The product, in `out` unless that is None; or None: take the general way.
    nb::object multiply(nb::handle a, nb::handle b, nb::handle out, nb::handle accuracy, nb::handle algorithm,
                        int levels, nb::handle device, std::int64_t workspace_limit) const {
        if (library_ == nullptr || !a.type().is(tensor_) || !b.type().is(tensor_) ||
            !(out.is_none() || out.type().is(tensor_))) {
            return nb::none();
        }
        try {
            return multiply_plain(a, b, out, options_of(accuracy, algorithm, levels, device, workspace_limit));
        } catch (const NotPlain&) {
            return nb::none();
        }
    }

private:
    nb::object multiply_plain(nb::handle a, nb::handle b, nb::handle out, Options options) const {
        const nb::dlpack::dltensor told_a = told_by(*library_, a), told_b = told_by(*library_, b);
        const nb::dlpack::device place = told_a.device;
        require(told_b.device.device_type == place.device_type && told_b.device.device_id == place.device_id);
        const ToldArray left(told_a, is_conjugated(a, told_a)), right(told_b, is_conjugated(b, told_b));
        const std::int64_t m = left.size(0), k = left.size(1), n = right.size(1);
        require(right.type() == left.type() && right.size(0) == k && m > 0 && k > 0 && n > 0);
        require(left.is_representable() && right.is_representable());
        Caller caller;
        if (place.device_type == kCuda) {
            const double work = static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
            require(work < static_cast<double>(least_with_scratch_) && options.device.find(',') == std::string::npos);
            void* stream = nullptr;
            require_success(library_->current_stream(kCuda, place.device_id, &stream) == 0);
            require(!may_be_captured(stream));
            caller.stream = reinterpret_cast<std::uintptr_t>(stream);
            if (options.device == "auto") {
                options.device = "cuda:" + std::to_string(place.device_id);
            }
        } else {
            require(place.device_type == kHost);
            caller.threads = nb::cast<int>(taken(PyObject_CallNoArgs(thread_count_.ptr())));
        }
        const bool is_new = out.is_none();
        nb::object c = is_new ? new_result(a, left.type(), place, m, n) : nb::borrow(out);
        const nb::dlpack::dltensor told_c = told_by(*library_, c);
        const ToldArray result(told_c, !is_new && is_conjugated(c, told_c));
        require(told_c.device.device_type == place.device_type && told_c.device.device_id == place.device_id);
        if (!is_new) {
            require(result.type() == left.type() && result.size(0) == m && result.size(1) == n);
            require(!result.is_conjugated() && result.is_representable());
            require(!may_overlap(result, left) && !may_overlap(result, right));
        }
        require(multiply_addressed(left, right, result, {}, options, caller));
        return c;
    }

    /// On the device of `like`, or on the current one if that is another.
    nb::object new_result(nb::handle like, Type type, const nb::dlpack::device& place, std::int64_t m,
                          std::int64_t n) const {
        const auto allocate = allocators_.find(place.device_type);
        if (allocate == allocators_.end()) {
            return new_empty_.called_on(like, m, n);  // two numbers: it takes 0.7 us longer to look at a tuple
        }
        const nb::tuple sizes = nb::make_tuple(m, n), strides = nb::make_tuple(n, 1);
        PyObject* const arguments[] = {sizes.ptr(), strides.ptr(), types_.at(type).ptr()};
        return taken(PyObject_Vectorcall(allocate->second.ptr(), arguments, 3, nullptr));
    }

    /// Refuses those that need gradients, and negated ones. Sparse tensors have no address, which is an exception.
    bool is_conjugated(nb::handle tensor, const nb::dlpack::dltensor& told) const {
        require(requires_grad_.of(tensor).is(Py_False) && is_neg_.called_on(tensor).is(Py_False));
        const bool is_complex = told.dtype.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Complex);
        return is_complex && is_conj_.called_on(tensor).is(Py_True);
    }

    nb::object tensor_;
    const ExchangeInterface* library_;
    nb::object thread_count_;
    std::map<Type, nb::object> types_;
    std::map<std::int32_t, nb::object> allocators_;
    std::int64_t least_with_scratch_;
    Name is_neg_{"is_neg"}, is_conj_{"is_conj"}, requires_grad_{"requires_grad"}, new_empty_{"new_empty"};
};

}  // namespace

void bind_tensors(nb::module_& module) {
    nb::class_<TensorProducts>(module, "TensorProducts")
        .def(nb::init<nb::object, const nb::dict&, const nb::dict&, nb::object, std::int64_t>(), "tensor"_a, "names"_a,
             "allocators"_a, "thread_count"_a, "least_with_scratch"_a)
        .def("multiply", &TensorProducts::multiply, "a"_a, "b"_a, "out"_a.none(), "accuracy"_a.none(),
             "algorithm"_a.none(), "levels"_a, "device"_a.none(), "workspace_limit"_a);
}

}  // namespace heptad::python
