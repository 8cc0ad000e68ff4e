// Copies between views of one type and size, transposing where their strides differ.
#pragma once

#include "base/view.hpp"

namespace heptad {

/// to = from. Parts: copy blocks of both views.
void copy_view(const ConstView& from, const View& to);

}  // namespace heptad
