#include "errors.hpp"

#include <string_view>

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace heptad::python {
namespace {

bool says(const Error& error, std::string_view words) {
    return std::string_view(error.what()).find(words) != std::string_view::npos;
}

/// What the system refused, not what a file holds.
bool is_about_a_file(const Error& error) {
    return says(error, "cannot be opened:") || says(error, "cannot be written:") || says(error, "cannot be read:");
}

/// One code stands for memory, disk and device: the sentence tells which.
PyObject* kind_of_resource(const Error& error, Place place) {
    if (says(error, "no CUDA device")) {
        return PyExc_RuntimeError;
    }
    const bool is_memory = says(error, "memory") || says(error, "workspace") || says(error, "bytes beside");
    return place == Place::memory || is_memory ? PyExc_MemoryError : PyExc_OSError;
}

PyObject* kind_of(const Error& error, Place place) {
    switch (error.code()) {
        case ErrorCode::usage:
            return PyExc_ValueError;
        case ErrorCode::input:
            return place == Place::files && is_about_a_file(error) ? PyExc_OSError : PyExc_ValueError;
        case ErrorCode::resource:
            return kind_of_resource(error, place);
        case ErrorCode::cancelled:
            return PyExc_KeyboardInterrupt;
        default:
            return PyExc_RuntimeError;
    }
}

}  // namespace

void set_exception(const Error& error, Place place) {
    const std::string_view sentence = error.what();  // it may name a file, which need not be UTF-8
    PyObject* const text =
        PyUnicode_DecodeUTF8(sentence.data(), static_cast<Py_ssize_t>(sentence.size()), "backslashreplace");
    if (text != nullptr) {
        PyErr_SetObject(kind_of(error, place), text);
        Py_DECREF(text);
    }
}

void register_errors() {
    nb::register_exception_translator([](const std::exception_ptr& thrown, void* /*payload*/) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Error& error) {
            set_exception(error, Place::memory);
        }
    });
}

}  // namespace heptad::python
