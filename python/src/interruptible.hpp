// Long work without the GIL that Ctrl-C ends.
//
// Python notes a signal and looks at it when its main thread runs Python again, which a product would keep it from.
// So where the main thread asks for a product that may take long, another thread carries it out, and the main one looks
// for signals meanwhile: a handler that raises cancels the product. Python calls signal handlers in its main thread
// only; in all others, and for short work, the product runs where it was asked for.
//
// The library notices a cancelled product between two leaves, and one call of a vendor's library may take seconds. Work
// whose result nobody else can see is then left to end by itself, and what it holds is freed when it has.
#pragma once

#include <functional>
#include <string>

#include <heptad/heptad.hpp>

#include "errors.hpp"

namespace heptad::python {

struct Work {
    /// Without the GIL, perhaps in another thread. May tell progress at any rate.
    std::function<void(const ProgressCallback& progress)> carry_out;
    CancelToken cancel;  ///< ends it
    bool may_take_long = true;
    /// `carry_out` owns all that it touches, and writes nothing that the caller has.
    bool may_be_left = false;
    /// Told (fraction, stage) with the GIL, from the thread that asked for the work. Empty: nobody listens.
    std::function<void(double fraction, const std::string& stage)> listener = {};
    Place place = Place::memory;
};

/// Once, with the GIL: work that ends after Python leaves it alone.
void let_go_when_python_ends();

/// Call with the GIL. Whatever a signal handler or the listener raises is raised here.
void run(Work work);

}  // namespace heptad::python
