// Long work without the GIL that Ctrl-C ends.
//
// Python notes a signal and looks at it when its main thread runs Python again, which a product would keep it from.
// So where the main thread asks for a product that may take long, another thread carries it out, and the main one looks
// for signals meanwhile: a handler that raises cancels the product. Python calls signal handlers in its main thread
// only; in all others, and for short work, the product runs where it was asked for.
#pragma once

#include <functional>

#include <heptad/heptad.hpp>

#include "errors.hpp"

namespace heptad::python {

/// A Python callable that is told (fraction, stage), from the thread that asked for the work. Null: none.
using Listener = std::function<void(double fraction, const std::string& stage)>;

struct Work {
    /// Without the GIL, perhaps in another thread. `progress` may be called at any rate.
    std::function<void(const ProgressCallback& progress)> carry_out;
    CancelToken cancel;  ///< ends it
    bool may_take_long = true;
    Listener listener = {};
    Place place = Place::memory;
};

/// Call with the GIL. Whatever a signal handler or the listener raises is raised here, once the work has ended.
void run(const Work& work);

}  // namespace heptad::python
