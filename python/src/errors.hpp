// Errors of the library as exceptions of Python's own kinds, with the library's sentence.
#pragma once

#include <heptad/heptad.hpp>

namespace heptad::python {

/// Where an Error came from: a full disk is another kind of exception than missing memory.
enum class Place { memory, files };

/// Sets the Python exception that belongs to the error. Call with the GIL.
void set_exception(const Error& error, Place place);

/// Every Error that leaves a function of the module becomes such an exception.
void register_errors();

}  // namespace heptad::python
