#include "arrays.hpp"

namespace nb = nanobind;

namespace heptad::python {

Array::Array(nb::handle array, Type type, bool writable) : type_(type) {
    if (PyObject_GetBuffer(array.ptr(), &buffer_, writable ? PyBUF_STRIDES | PyBUF_WRITABLE : PyBUF_STRIDES) != 0) {
        throw nb::python_error();
    }
    if (buffer_.ndim < 2 || buffer_.itemsize != static_cast<Py_ssize_t>(element_bytes(type))) {
        PyBuffer_Release(&buffer_);
        throw nb::type_error("an array of at least two dimensions and of the named type is needed here");
    }
}

bool Array::is_representable() const {
    if (reinterpret_cast<std::uintptr_t>(buffer_.buf) % static_cast<std::uintptr_t>(buffer_.itemsize) != 0) {
        return false;
    }
    for (int i = 0; i < buffer_.ndim; ++i) {
        if (buffer_.shape[i] == 0) {
            return true;
        }
    }
    for (int i = 0; i < buffer_.ndim; ++i) {
        const bool in_matrix = i >= buffer_.ndim - 2;
        if (buffer_.shape[i] > 1 &&
            (buffer_.strides[i] % buffer_.itemsize != 0 || (in_matrix && buffer_.strides[i] <= 0))) {
            return false;
        }
    }
    return true;
}

AnyView Array::matrix() const {
    const int row = buffer_.ndim - 2, col = buffer_.ndim - 1;
    const std::int64_t rows = size(row), cols = size(col);
    // NumPy leaves any number as the stride of a single element.
    std::int64_t row_stride = stride(row), col_stride = stride(col);
    if (cols <= 1) {
        col_stride = 1;
    }
    if (rows <= 1) {
        row_stride = cols <= 1 || col_stride == 1 ? std::max<std::int64_t>(cols, 1) : 1;
    }
    return {buffer_.buf, type_, rows, cols, row_stride, col_stride};
}

}  // namespace heptad::python
