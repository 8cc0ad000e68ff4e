// Copies between views of one type and size, whatever their strides.
#pragma once

#include "base/view.hpp"

namespace heptad {

void copy_view(const ConstView& from, const View& to);

}  // namespace heptad
