// What leaves a public function is an Error, also where no memory is left to make its sentence:
//   Result function(...) try {
//       ...
//   } catch (...) {
//       rethrow_as_error();
//   }
#pragma once

#include <heptad/heptad.hpp>

namespace heptad {

/// Error(resource): memory ran out. Made when the library is loaded; a copy of it asks for no memory.
const Error& out_of_memory() noexcept;

/// In a handler: where memory or threads ran out, an Error(resource) that says so. Anything else, such as an exception
/// of the caller's own hook, goes on unchanged.
[[noreturn]] void rethrow_as_error();

}  // namespace heptad
