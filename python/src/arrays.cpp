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
    if (told.size() != 3 && told.size() != 4) {
        throw nb::type_error("an array needs an address, a shape and strides");
    }
    conjugate_ = told.size() == 4 && nb::cast<bool>(told[3]);
    take(nb::cast<std::uintptr_t>(told[0]), told[1], told[2]);
}

AddressedArray::AddressedArray(std::uintptr_t address, nb::handle shape, nb::handle strides, Type type, bool conjugate)
    : StridedArray(type) {
    conjugate_ = conjugate;
    take(address, shape, strides);
}

AddressedArray::AddressedArray(std::uintptr_t address, std::int64_t rows, std::int64_t cols, Type type)
    : StridedArray(type) {
    data_ = reinterpret_cast<void*>(address);
    dimensions_ = 2;
    numbers_[0] = rows;
    numbers_[1] = numbers_[2] = cols;
    numbers_[3] = 1;
    shape_ = numbers_.data();
    strides_ = shape_ + dimensions_;
}

void AddressedArray::take(std::uintptr_t address, nb::handle shape, nb::handle strides) {
    const bool are_tuples = PyTuple_Check(shape.ptr()) && PyTuple_Check(strides.ptr());
    const Py_ssize_t count = are_tuples ? PyTuple_GET_SIZE(shape.ptr()) : 0;
    if (count < 2 || count > kMostDimensions || PyTuple_GET_SIZE(strides.ptr()) != count) {
        throw nb::type_error("an array needs an address, a shape and strides, of two to 64 dimensions");
    }
    data_ = reinterpret_cast<void*>(address);
    dimensions_ = static_cast<int>(count);
    for (Py_ssize_t i = 0; i < count; ++i) {
        numbers_[i] = nb::cast<Py_ssize_t>(nb::handle(PyTuple_GET_ITEM(shape.ptr(), i)));
        numbers_[count + i] = nb::cast<Py_ssize_t>(nb::handle(PyTuple_GET_ITEM(strides.ptr(), i)));
    }
    shape_ = numbers_.data();
    strides_ = shape_ + dimensions_;
}

}  // namespace heptad::python
