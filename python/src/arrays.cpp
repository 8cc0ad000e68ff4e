#include "arrays.hpp"

#include <algorithm>

namespace nb = nanobind;

namespace heptad::python {

bool StridedArray::is_representable() const {
    if (reinterpret_cast<std::uintptr_t>(data_) % element_bytes(type_) != 0) {
        return false;
    }
    if (std::find(shape_, shape_ + dimensions_, 0) != shape_ + dimensions_) {
        return true;
    }
    for (int i = 0; i < dimensions_; ++i) {
        const bool in_matrix = i >= dimensions_ - 2;
        if (shape_[i] > 1 && (strides_[i] % stride_unit_ != 0 || (in_matrix && strides_[i] <= 0))) {
            return false;
        }
    }
    return true;
}

AnyView StridedArray::matrix() const {
    const int row = dimensions_ - 2, col = dimensions_ - 1;
    const std::int64_t rows = size(row), cols = size(col);
    // Of a single element, NumPy and others leave any number as the stride.
    std::int64_t row_stride = stride(row), col_stride = stride(col);
    if (cols <= 1) {
        col_stride = 1;
    }
    if (rows <= 1) {
        row_stride = cols <= 1 || col_stride == 1 ? std::max<std::int64_t>(cols, 1) : 1;
    }
    return {data_, type_, rows, cols, row_stride, col_stride};
}

BufferArray::BufferArray(nb::handle array, Type type, bool writable) : StridedArray(type) {
    if (PyObject_GetBuffer(array.ptr(), &buffer_, writable ? PyBUF_STRIDES | PyBUF_WRITABLE : PyBUF_STRIDES) != 0) {
        throw nb::python_error();
    }
    if (buffer_.ndim < 2 || buffer_.itemsize != static_cast<Py_ssize_t>(element_bytes(type))) {
        PyBuffer_Release(&buffer_);
        throw nb::type_error("an array of at least two dimensions and of the named type is needed here");
    }
    data_ = buffer_.buf;
    dimensions_ = buffer_.ndim;
    shape_ = buffer_.shape;
    strides_ = buffer_.strides;
    stride_unit_ = buffer_.itemsize;
}

AddressedArray::AddressedArray(const nb::tuple& told, Type type) : StridedArray(type) {
    const bool is_whole = told.size() == 3 || told.size() == 4;
    PyObject* const shape = is_whole ? PyTuple_GET_ITEM(told.ptr(), 1) : nullptr;
    PyObject* const strides = is_whole ? PyTuple_GET_ITEM(told.ptr(), 2) : nullptr;
    if (shape == nullptr || !PyTuple_Check(shape) || !PyTuple_Check(strides) || PyTuple_GET_SIZE(shape) < 2 ||
        PyTuple_GET_SIZE(shape) != PyTuple_GET_SIZE(strides)) {
        throw nb::type_error("an array needs an address, a shape and strides, and at least two dimensions");
    }
    data_ = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(told[0]));
    dimensions_ = static_cast<int>(PyTuple_GET_SIZE(shape));
    conjugate_ = told.size() == 4 && nb::cast<bool>(told[3]);
    numbers_.reserve(2 * static_cast<std::size_t>(dimensions_));
    for (PyObject* const list : {shape, strides}) {
        for (const nb::handle number : nb::borrow<nb::tuple>(list)) {
            numbers_.push_back(nb::cast<Py_ssize_t>(number));
        }
    }
    shape_ = numbers_.data();
    strides_ = shape_ + dimensions_;
}

}  // namespace heptad::python
