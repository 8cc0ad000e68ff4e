// What `heptad` prints when it is started without words.
#pragma once

#include <string>

namespace heptad::cli {

std::string welcome_text();

}  // namespace heptad::cli
