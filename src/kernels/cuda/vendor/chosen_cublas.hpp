// Which cuBLAS the leaves call, where not the one that the loader finds: the drop-in's must be the program's own.
#pragma once

#include <string>

namespace heptad::cuda {

/// From the first product on, this one or none. Nothing changes once a cuBLAS was opened.
void use_cublas(const std::string& path);

/// Empty: none was chosen.
std::string chosen_cublas();

}  // namespace heptad::cuda
