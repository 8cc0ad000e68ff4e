// Arrays of Python as views: nothing is copied, and no interface of the library that owns them is needed.
#pragma once

#include <cstdint>
#include <vector>

#include <nanobind/nanobind.h>

#include <heptad/heptad.hpp>

namespace heptad::python {

/// Where the elements of an array of any number of dimensions lie.
class StridedArray {
public:
    StridedArray(const StridedArray&) = delete;
    StridedArray& operator=(const StridedArray&) = delete;

    Type type() const { return type_; }
    void* data() const { return data_; }
    int dimensions() const { return dimensions_; }
    std::int64_t size(int dimension) const { return shape_[dimension]; }
    /// In elements; of a dimension of one element or none, anything.
    std::int64_t stride(int dimension) const { return strides_[dimension] / stride_unit_; }

    /// Every element lies at a multiple of its size, and those of a matrix follow one another upwards.
    bool is_representable() const;

    /// The matrix in the last two dimensions, of the first element of all others.
    AnyView matrix() const;
    /// The same as an operand, conjugated where the array is.
    ConstAnyView operand() const { return conjugate_ ? conjugated(matrix()) : matrix(); }

protected:
    explicit StridedArray(Type type) : type_(type) {}
    ~StridedArray() = default;

    void* data_ = nullptr;
    int dimensions_ = 0;
    const Py_ssize_t* shape_ = nullptr;
    const Py_ssize_t* strides_ = nullptr;
    Py_ssize_t stride_unit_ = 1;  // so many units of a stride are one element
    bool conjugate_ = false;      // of complex numbers: those that lie there are the conjugates of its elements

private:
    Type type_;
};

/// An array with the buffer protocol, whose buffer is held while this lives.
class BufferArray : public StridedArray {
public:
    /// Raises BufferError, or ValueError for a read-only array that is to be written.
    BufferArray(nanobind::handle array, Type type, bool writable);
    ~BufferArray() { PyBuffer_Release(&buffer_); }

private:
    Py_buffer buffer_{};
};

/// An array that is told by its address, shape and strides in elements, in host memory or on a device. Its owner keeps
/// it.
class AddressedArray : public StridedArray {
public:
    /// A tuple of these three, and perhaps of whether it is conjugated.
    AddressedArray(const nanobind::tuple& told, Type type);

private:
    std::vector<Py_ssize_t> numbers_;
};

}  // namespace heptad::python
