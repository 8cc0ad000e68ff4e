// Arrays of Python as views, through the buffer protocol: nothing is copied and NumPy's own interface is not needed.
#pragma once

#include <cstdint>

#include <nanobind/nanobind.h>

#include <heptad/heptad.hpp>

namespace heptad::python {

/// Holds the buffer of an array while it lives.
class Array {
public:
    /// Raises BufferError, or ValueError for a read-only array that is to be written.
    Array(nanobind::handle array, Type type, bool writable);
    ~Array() { PyBuffer_Release(&buffer_); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    Type type() const { return type_; }
    void* data() const { return buffer_.buf; }
    int dimensions() const { return buffer_.ndim; }
    std::int64_t size(int dimension) const { return buffer_.shape[dimension]; }
    /// In elements; of a dimension of one element or none, anything.
    std::int64_t stride(int dimension) const { return buffer_.strides[dimension] / buffer_.itemsize; }

    /// Every element lies at a multiple of its size, and those of a matrix follow one another upwards.
    bool is_representable() const;

    /// The matrix in the last two dimensions, of the first element of all others.
    AnyView matrix() const;

private:
    Py_buffer buffer_{};
    Type type_;
};

}  // namespace heptad::python
